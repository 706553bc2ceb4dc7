/** Recorded market that is ready for replays: its rows, their time span and their hash. */
import { createHash } from 'node:crypto';
import { textOfError, type Instrument } from '../../../src/core/index.ts';
import {
  KIND,
  loadStoredTape,
  openStoredTape,
  type Gap,
  type StoredTape,
  type StoredTapeOptions,
  type Tape,
} from '../../../src/tape/index.ts';
import { rowsInMemory, type Latencies, type RowSource } from './backtestModel.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';

/** Stored tape with its options, so that threads can open it again. */
export type OpenedTape = { readonly tape: StoredTape; readonly options: StoredTapeOptions };

/** Trading time within a recording, in epoch ms; an omitted bound is the start or the end of the recording. */
export type TradedTime = { readonly since?: number; readonly until?: number };

export type RecordedMarket = {
  readonly instrument: Instrument;
  readonly rows: RowSource;
  /** Price of the first level of the recording, in ticks. */
  readonly firstTicks: number;
  readonly span: { readonly from: number; readonly to: number };
  readonly hash: string;
};

/**
 * Prepares a market. A stored tape of levels is read in a sliding window; any other recording is loaded into memory.
 * Throws `UsageError` if the recording has no order book or cannot be replayed.
 */
export function marketOf(
  given: Tape | OpenedTape,
  how: { readonly latencies: Latencies; readonly seed: number; readonly from?: 'levels' | 'orders' },
): RecordedMarket {
  const stored = 'options' in given ? given : null;
  const { instrument, source } = stored?.tape ?? (given as Tape);
  return asUsageError(() => {
    if (stored !== null && how.from !== 'orders' && stored.tape.kinds.has(KIND.level)) {
      const { dir, scans, from, to, rows: count } = stored.tape;
      const rows: RowSource = { kind: 'stored', dir, options: stored.options, scans, count };
      return {
        instrument,
        rows,
        firstTicks: firstTicksOf(stored.tape),
        span: { from, to },
        hash: stored.tape.hash(),
      };
    }
    const tape = stored === null ? (given as Tape) : loadStoredTape(stored.tape);
    const market = rowsInMemory(tape, how, how.from);
    if (market.length === 0) throw new Error(`${source}: the recording contains no order book`);
    const { at, length } = tape.columns;
    return {
      instrument,
      rows: { kind: 'memory', rows: market },
      firstTicks: market.base + market.place[0]!,
      span: { from: at[0]!, to: at[length - 1]! },
      hash: digestOfTape(tape),
    };
  });
}

/** Returns the gaps of the recording, in order. */
export const gapsOf = (given: Tape | OpenedTape): readonly Gap[] => ('options' in given ? given.tape.gaps : given.gaps);

/** Returns the times of the first and the last row. */
export const spanOf = (given: Tape | OpenedTape): RecordedMarket['span'] =>
  'options' in given
    ? given.tape
    : { from: given.columns.at[0] ?? Infinity, to: given.columns.at[given.columns.length - 1] ?? -Infinity };

/** Returns the recording as if it had ended at `until`: later rows are invisible. */
export function cutAt(given: Tape | OpenedTape, until: number | undefined): Tape | OpenedTape {
  if (until === undefined || until >= spanOf(given).to) return given;
  if ('options' in given) {
    const options = { ...given.options, to: until };
    return { tape: openStoredTape(given.tape.dir, options, given.tape.scans), options };
  }
  const { at, length } = given.columns;
  let rows = 0;
  while (rows < length && at[rows]! <= until) rows++;
  const { kind, side, local, price, amount, id } = given.columns;
  const columns = {
    length: rows,
    kind: kind.subarray(0, rows),
    side: side.subarray(0, rows),
    at: at.subarray(0, rows),
    local: local.subarray(0, rows),
    price: price.subarray(0, rows),
    amount: amount.subarray(0, rows),
    id: id.subarray(0, rows),
  };
  return { ...given, columns, gaps: given.gaps.filter(gap => gap.from < until) };
}

/** Returns why the recording does not overlap the requested time; `null` if it does. */
export function noOverlapReason(
  { from, to }: { readonly from: number; readonly to: number },
  { since, until }: TradedTime,
  covered = 'the complete recording',
): string | null {
  if (since === undefined && until === undefined) return null;
  const text = (at: number): string => new Date(at).toISOString();
  if (since !== undefined && until !== undefined && !(since < until))
    return `expected --since to be earlier than --until, found --since ${text(since)} and --until ${text(until)}`;
  if ((since ?? from) < to && (until ?? to) > from) return null;
  return `--since and --until exclude ${covered}; choose times from ${text(from)} to ${text(to)}`;
}

function firstTicksOf(tape: StoredTape): number {
  for (const { columns } of tape.chunks()) {
    const row = columns.kind.subarray(0, columns.length).indexOf(KIND.level);
    if (row >= 0) return columns.price[row]!;
  }
  throw new Error(`${tape.dir}: has no levels`);
}

/** Computes the hash of a tape's rows. */
export function digestOfTape({ columns }: Tape): string {
  const hash = createHash('sha256');
  const { kind, side, at, local, price, amount, id } = columns;
  for (const { buffer, byteOffset, byteLength } of [kind, side, at, local, price, amount, id])
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  return hash.digest('hex');
}

/** Converts errors to `UsageError`, because the operator can fix them. */
function asUsageError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new UsageError(textOfError(error));
  }
}
