/** Logarithms of a recorded price at the end of each second, for computing price moves. */
import type { Tape } from '../model/tape.ts';
import { walk } from '../model/walk.ts';

/**
 * Logarithms of prices. `values[i]` is the logarithm at the end of the second `from + i` since 1970; NaN in gaps, and
 * before the first price.
 */
export type LogSeconds = { readonly from: number; readonly values: Float64Array };

/**
 * Samples the mid price at the end of each second, or the last trade price if the recording has no book.
 */
export function logSecondsOf(tape: Tape): LogSeconds {
  const { columns, gaps } = tape;
  const from = Math.floor((columns.at[0] ?? 0) / 1_000);
  const length = Math.floor((columns.at[columns.length - 1] ?? 0) / 1_000) - from + 1;
  const values = new Float64Array(length).fill(Number.NaN);
  let second = from;
  let price = Number.NaN;
  let hasBook = false;
  const passTo = (at: number): void => {
    for (; second * 1_000 + 1_000 <= at; second++) values[second - from] = Math.log(price);
  };
  walk(tape, {
    time: passTo,
    touch: (_at, { bid, ask }) => {
      hasBook = true;
      price = (bid + ask) / 2;
    },
    trade: (_at, traded) => {
      if (!hasBook) price = traded;
    },
  });
  passTo((from + length) * 1_000);
  for (const gap of gaps) {
    const [a, b] = [Math.floor(gap.from / 1_000) - from, Math.ceil(gap.to / 1_000) - from];
    values.fill(Number.NaN, Math.max(0, a), Math.max(0, b));
  }
  return { from, values };
}
