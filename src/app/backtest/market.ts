/** A recorded market, ready for replays: its rows, where they begin and end, and their hash. */
import { createHash } from 'node:crypto';
import type { Instrument } from '../../core/index.ts';
import { KIND, loadStoredTape } from '../../tape/index.ts';
import type { StoredTape, StoredTapeOptions, Tape } from '../../tape/index.ts';
import { rowsInMemory } from './backtestModel.ts';
import type { Latencies, RowSource } from './backtestModel.ts';
import { UsageError } from '../wiring/usageError.ts';

/** A stored tape, and what it was opened with: threads open it again. */
export type OpenedTape = { readonly tape: StoredTape; readonly options: StoredTapeOptions };

export type RecordedMarket = {
  readonly instrument: Instrument;
  readonly rows: RowSource;
  /** Price of the first level. */
  readonly firstTicks: number;
  readonly span: { readonly from: number; readonly to: number };
  readonly hash: string;
};

/** A stored tape of levels slides past; anything else is read into memory. Throws `UsageError` for what a recording cannot give. */
export function marketOf(
  given: Tape | OpenedTape,
  how: { readonly latencies: Latencies; readonly seed: number; readonly from?: 'levels' | 'orders' },
): RecordedMarket {
  const stored = 'options' in given ? given : null;
  const { instrument, source } = stored?.tape ?? (given as Tape);
  return told(() => {
    if (stored !== null && how.from !== 'orders' && stored.tape.kinds.has(KIND.level)) {
      const { dir, from, to } = stored.tape;
      const rows: RowSource = { kind: 'stored', dir, options: stored.options };
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
    if (market.length === 0) throw new Error(`${source}: has no rows of a book`);
    const { at, length } = tape.columns;
    return {
      instrument,
      rows: { kind: 'memory', rows: market },
      firstTicks: market.base + market.place[0]!,
      span: { from: at[0]!, to: at[length - 1]! },
      hash: hashOf(tape),
    };
  });
}

function firstTicksOf(tape: StoredTape): number {
  for (const { columns } of tape.chunks()) {
    const row = columns.kind.subarray(0, columns.length).indexOf(KIND.level);
    if (row >= 0) return columns.price[row]!;
  }
  throw new Error(`${tape.dir}: has no levels`);
}

function hashOf({ columns }: Tape): string {
  const hash = createHash('sha256');
  const { kind, side, at, local, price, amount, id } = columns;
  for (const { buffer, byteOffset, byteLength } of [kind, side, at, local, price, amount, id])
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  return hash.digest('hex');
}

/** What a tape cannot give is a person's to change. */
function told<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
