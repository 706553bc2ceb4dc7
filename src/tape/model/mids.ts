/** The middles of a recorded book over time, for who only wants to know what it was worth. */
import type { Gap, Tape } from './tape.ts';
import { walk } from './walk.ts';

/** From each time on the middle, in units of the minor currency; shared memory, so that threads need no copies. Nothing is known in the gaps and after `to`. */
export type RecordedMids = {
  readonly book: string;
  readonly source: string;
  readonly at: Float64Array;
  readonly mid: Float64Array;
  readonly gaps: readonly Gap[];
  readonly to: number;
};

/** Times are the exchange's own, as it would answer then. */
export function midsOf(tape: Tape): RecordedMids {
  const { columns, instrument, source, gaps } = tape;
  const tick = Number(instrument.tick);
  const at: number[] = [];
  const mid: number[] = [];
  let last = Number.NaN;
  walk(tape, {
    touch: (time, { bid, ask }) => {
      const now = ((bid + ask) / 2) * tick;
      if (now === last) return;
      last = now;
      at.push(time);
      mid.push(now);
    },
    trade: () => undefined,
  });
  const to = columns.length === 0 ? -Infinity : columns.at[columns.length - 1]!;
  return { book: instrument.symbol, source, at: shared(at), mid: shared(mid), gaps, to };
}

function shared(values: readonly number[]): Float64Array {
  const out = new Float64Array(new SharedArrayBuffer(8 * values.length));
  out.set(values);
  return out;
}
