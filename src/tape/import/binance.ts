/** Reads Binance spot streams: depth diffs over a REST snapshot, and trades, one JSON message a line. */
import type { DecimalText } from '../../core/index.ts';
import { SIDE } from '../model/tape.ts';
import type { SideCode } from '../model/tape.ts';
import { tapeRules } from '../model/tapeRules.ts';
import { lotsOf, ticksOf } from './digits.ts';
import { WrongFile } from './findings.ts';
import { rowsOfLines } from './lines.ts';
import type { ImportReading } from './lines.ts';
import type { Recording } from './recording.ts';
import type { Chunk, RowBuffer } from './rows.ts';

const TICK: DecimalText = '0.01';
/** Diffs kept while no snapshot has come: ten minutes of them. */
const WAITING_MAX = 6_000;

type Levels = readonly (readonly [string, string])[];
type Depth = {
  readonly e: 'depthUpdate';
  readonly E: number;
  readonly U: number;
  readonly u: number;
  readonly b: Levels;
  readonly a: Levels;
};
type Trade = {
  readonly e: 'trade';
  readonly T: number;
  readonly t: number;
  readonly p: string;
  readonly q: string;
  readonly m: boolean;
};
type Snapshot = { readonly lastUpdateId: number; readonly bids: Levels; readonly asks: Levels };
type Message = { readonly data: Depth | Trade | { readonly e?: undefined } } | Snapshot;

/**
 * A diff may be written before the snapshot whose id it straddles. All diffs are kept until the snapshot is there, and those that
 * end after its id are applied to it; dropping them leaves levels behind that cross the book.
 */
export function binance(files: { stream: string; book: string }): Recording {
  return {
    source: files.stream,
    format: 'binance',
    files: [files.stream],
    passes: 2,
    instrument: tapeRules(files.book, TICK).instrument,
    fromOrders: false,
    depth: Infinity,
    quotesOnly: false,
    notes: [],
    streams: reading => [books(files.stream, reading), trades(files.stream, reading)],
  };
}

function books(path: string, { instrument, findings, ...reading }: ImportReading): AsyncGenerator<Chunk> {
  let waiting: { readonly depth: Depth; readonly local: number }[] = [];
  let synced = false;
  let lastId = 0;
  let lastAt = 0;
  const put = (rows: RowBuffer, at: number, local: number, side: SideCode, levels: Levels) => {
    for (const [price, size] of levels)
      rows.level(at, local, side, ticksOf(instrument, price), lotsOf(instrument, size));
  };
  const onDepth = (rows: RowBuffer, depth: Depth, local: number) => {
    if (!synced) {
      if (waiting.length >= WAITING_MAX) throw new WrongFile(`${WAITING_MAX} diffs and no snapshot`);
      waiting.push({ depth, local });
      return;
    }
    if (depth.u <= lastId) {
      findings.found('diffs older than the snapshot', 'dropped', rows.place);
      return;
    }
    if (depth.U > lastId + 1)
      reading.gap({ from: lastAt, to: depth.E, why: `diffs ${lastId + 1} to ${depth.U - 1} are missing` });
    put(rows, depth.E, local, SIDE.buy, depth.b);
    put(rows, depth.E, local, SIDE.sell, depth.a);
    lastId = depth.u;
    lastAt = depth.E;
  };
  const onSnapshot = (rows: RowBuffer, snapshot: Snapshot, local: number) => {
    // It has no exchange time: it stands before the first diff that goes on from it.
    const kept = waiting;
    const next = kept.find(entry => entry.depth.u > snapshot.lastUpdateId) ?? kept.at(-1);
    const at = next?.depth.E ?? (lastAt > 0 ? lastAt : local);
    rows.clear(at, local);
    put(rows, at, local, SIDE.buy, snapshot.bids);
    put(rows, at, local, SIDE.sell, snapshot.asks);
    synced = true;
    lastId = snapshot.lastUpdateId;
    lastAt = at;
    waiting = [];
    const early = kept.filter(entry => entry.depth.u > snapshot.lastUpdateId).length;
    const what = 'diffs written before the snapshot they go on from';
    findings.found(what, 'kept and applied after it', rows.place, early);
    for (const entry of kept) onDepth(rows, entry.depth, entry.local);
  };
  return rowsOfLines([path], { findings, ...reading }, (line, _number, rows) => {
    const local = localOf(line);
    if (line.includes('@trade"')) return;
    if (line.includes('@bookTicker"')) {
      findings.found('tickers', 'left out; the diffs say the same', rows.place);
      return;
    }
    const message = messageOf(line);
    if ('lastUpdateId' in message) onSnapshot(rows, message, local);
    else if (message.data.e === 'depthUpdate') onDepth(rows, message.data, local);
    else throw new RangeError('unknown message');
  });
}

/** The second pass; the first has told of every line that cannot be read, unless it is one of a trade. */
function trades(path: string, { instrument, findings, ...reading }: ImportReading): AsyncGenerator<Chunk> {
  return rowsOfLines([path], { findings, ...reading }, (line, _number, rows) => {
    if (!line.includes('@trade"')) return;
    const message = messageOf(line);
    if (!('data' in message) || message.data.e !== 'trade') throw new RangeError('expected a trade');
    const { T, t, p, q, m } = message.data;
    rows.trade(T, localOf(line), m ? SIDE.sell : SIDE.buy, ticksOf(instrument, p), lotsOf(instrument, q), t);
  });
}

function localOf(line: string): number {
  const space = line.indexOf(' ');
  if (space < 0) throw new RangeError(`expected "local_ns json"`);
  return Number(line.slice(0, space)) / 1e6;
}

const messageOf = (line: string): Message => JSON.parse(line.slice(line.indexOf(' ') + 1)) as Message;
