/** Reader of the frames of Kraken's version 2 stream. Source: docs.kraken.com/api/docs/websocket-v2. */
import type { Millis, Side } from '../../../core/index.ts';
import { parsedFrame } from '../../wire/frames.ts';
import {
  count,
  fault,
  filled,
  flag,
  integer,
  list,
  oneOf,
  optional,
  row,
  text,
  time,
  WireFault,
  type Row,
} from '../../wire/wire.ts';
import { currencyOfAltname } from '../wire/names.ts';
import { krakenDecimal } from '../wire/numbers.ts';
import { changedLevels, type StreamLevel, type Precision } from './levelBook.ts';

/** Pair in the stream's list of instruments. */
export type InstrumentPair = {
  readonly symbol: string;
  readonly book: string;
  readonly status: string;
  readonly precision: Precision;
};

export type KrakenFrame =
  | { readonly kind: 'heartbeat' }
  /** Answer to a ping, with its send time. */
  | { readonly kind: 'pong'; readonly at?: Millis }
  | { readonly kind: 'status'; readonly system: string }
  /** Answer to a subscription; `error` is undefined if the exchange accepted it. */
  | { readonly kind: 'answer'; readonly method: string; readonly channel?: string; readonly error?: string }
  | { readonly kind: 'instruments'; readonly pairs: readonly InstrumentPair[] }
  | {
      readonly kind: 'levels';
      readonly symbol: string;
      readonly isSnapshot: boolean;
      readonly bids: readonly StreamLevel[];
      readonly asks: readonly StreamLevel[];
      readonly checksum: number;
      /** Time of the change; in some versions of the stream, snapshots have none. */
      readonly at?: Millis;
    }
  | { readonly kind: 'trades'; readonly trades: readonly SymbolTrade[] }
  /** Frame of a channel that Puntas does not use. */
  | { readonly kind: 'other' };

export type SymbolTrade = {
  readonly symbol: string;
  readonly tid: string;
  readonly createdAt: Millis;
  readonly price: string;
  readonly amount: string;
  readonly makerSide: Side;
};

/**
 * Maximum number of JSON parts (objects, lists, members and elements) in a frame. The list of instruments has about 30
 * parts for each of 2,000 pairs.
 */
const PARTS_MAX = 500_000;

/** Reads a frame. Throws a WireFault if the text is not JSON, or not in the shape of its channel. */
export function krakenFrame(frame: string): KrakenFrame {
  const of = row(parsedFrame(frame, PARTS_MAX), 'frame');
  const method = optional(of, 'method', text);
  if (method === 'pong') {
    // The answer to a ping changes no book, so a time that cannot be read does no more harm than none.
    const at = pongTime(of);
    return { kind: 'pong', ...(at === undefined ? {} : { at }) };
  }
  if (method !== undefined || of['error'] !== undefined) return answerFrame(method ?? '', of);
  switch (of['channel']) {
    case 'heartbeat':
      return { kind: 'heartbeat' };
    case 'status':
      return { kind: 'status', system: filled(soleRow(of), 'system') };
    case 'instrument':
      return {
        kind: 'instruments',
        pairs: list(row(of['data'], 'data')['pairs'] ?? absent(of['type'] === 'snapshot'), instrumentPair, 'pairs'),
      };
    case 'book':
      return levelsFrame(of);
    case 'trade':
      return { kind: 'trades', trades: list(of['data'], symbolTrade, 'data') };
    default:
      return { kind: 'other' };
  }
}

function answerFrame(method: string, of: Row): KrakenFrame {
  if (optional(of, 'success', flag) !== true)
    return { kind: 'answer', method, error: optional(of, 'error', text) ?? 'rejected without a reason' };
  const result = optional(of, 'result', (from, field) => row(from[field], field)) ?? {};
  const channel = optional(result, 'channel', text);
  return { kind: 'answer', method, ...(channel === undefined ? {} : { channel }) };
}

/** Returns the only element of `data`. */
function soleRow(of: Row): Row {
  const rows = list(of['data'], element => row(element, 'data'), 'data');
  if (rows.length !== 1) throw fault('data', 'one element', rows.length);
  return rows[0]!;
}

function instrumentPair(element: unknown): InstrumentPair {
  const of = row(element, 'pairs');
  const [base, quote] = [filled(of, 'base'), filled(of, 'quote')].map(currencyOfAltname);
  return {
    symbol: filled(of, 'symbol'),
    book: `${base}_${quote}`,
    status: filled(of, 'status'),
    precision: { price: count(of, 'price_precision'), amount: count(of, 'qty_precision') },
  };
}

function levelsFrame(of: Row): KrakenFrame {
  const isSnapshot = oneOf(of, 'type', ['snapshot', 'update']) === 'snapshot';
  const data = soleRow(of);
  const at = optional(data, 'timestamp', time);
  return {
    kind: 'levels',
    symbol: filled(data, 'symbol'),
    isSnapshot,
    // An update can omit a side that has not changed; a snapshot must have both sides.
    bids: changedLevels(data['bids'] ?? absent(isSnapshot), 'bids'),
    asks: changedLevels(data['asks'] ?? absent(isSnapshot), 'asks'),
    checksum: count(data, 'checksum'),
    ...(at === undefined ? {} : { at }),
  };
}

/**
 * Returns the value for an absent list: an empty list in an update, `undefined` in a snapshot, which must have the
 * list.
 */
const absent = (isSnapshot: boolean): readonly never[] | undefined => (isSnapshot ? undefined : []);

/** Reads a trade. Its field `side` is the side of the aggressor. */
function symbolTrade(element: unknown): SymbolTrade {
  const of = row(element, 'data');
  return {
    symbol: filled(of, 'symbol'),
    tid: integer(of, 'trade_id').toString(),
    createdAt: time(of, 'timestamp'),
    price: krakenDecimal(of, 'price'),
    amount: krakenDecimal(of, 'qty'),
    makerSide: oneOf(of, 'side', ['buy', 'sell']) === 'buy' ? 'sell' : 'buy',
  };
}

function pongTime(of: Row): Millis | undefined {
  try {
    return optional(of, 'time_out', time);
  } catch (error) {
    if (error instanceof WireFault) return undefined;
    throw error;
  }
}
