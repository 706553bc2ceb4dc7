/** Mid prices and best prices of a recorded book over time. */
import type { Instrument } from '../../core/index.ts';
import type { Gap, Tape } from './tape.ts';
import { walk } from './walk.ts';

/**
 * Mid prices, each valid from its time on, in units of the quote currency. In shared memory, so that threads need no
 * copies. Prices are unknown in gaps and after `to`.
 */
export type RecordedMids = {
  readonly book: string;
  readonly source: string;
  readonly at: Float64Array;
  readonly mid: Float64Array;
  readonly gaps: readonly Gap[];
  readonly to: number;
};

/** Best prices, each valid from its time on, in ticks; otherwise as `RecordedMids`. */
export type RecordedBests = Omit<RecordedMids, 'book' | 'mid'> & {
  readonly instrument: Instrument;
  readonly bid: Float64Array;
  readonly ask: Float64Array;
};

/** Returns mid prices by exchange time, as the exchange would report them at that time. */
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
  return { book: instrument.symbol, source, at: shared(at), mid: shared(mid), gaps, to: endOf(columns) };
}

/** Returns the best bid and the best ask by exchange time, in ticks. */
export function bestsOf(tape: Tape): RecordedBests {
  const { columns, instrument, source, gaps } = tape;
  const [at, bids, asks]: [number[], number[], number[]] = [[], [], []];
  walk(tape, {
    touch: (time, { bid, ask }) => {
      if (bid === bids.at(-1) && ask === asks.at(-1)) return;
      at.push(time);
      bids.push(bid);
      asks.push(ask);
    },
    trade: () => undefined,
  });
  return { instrument, source, at: shared(at), bid: shared(bids), ask: shared(asks), gaps, to: endOf(columns) };
}

const endOf = ({ at, length }: Tape['columns']): number => (length === 0 ? -Infinity : at[length - 1]!);

function shared(values: readonly number[]): Float64Array {
  const out = new Float64Array(new SharedArrayBuffer(8 * values.length));
  out.set(values);
  return out;
}
