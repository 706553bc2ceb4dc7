/**
 * Covariance of two prices that are read at different times, by Hayashi and Yoshida (formulas-desk E13): the sum of the
 * products of all changes whose intervals overlap.
 */
import type { Millis } from '../model/units.ts';

/** Reads of a price, in order of time; `log` is the logarithm of the price. */
export type PriceReads = { readonly at: ArrayLike<Millis>; readonly log: ArrayLike<number> };

/** Longest time between two reads, in ms. The change over a longer time does not count. */
const READS_APART_MAX_MS = 600_000;

/**
 * Calls `add` with the product of each overlapping pair of changes, and with the later end of their two intervals.
 * These ends never decrease from call to call. With a lag, each read of `y` counts as that much earlier, so the sum of
 * the products is largest at the lag by which `x` leads `y`. The sum is unbiased for independent times of reads and
 * independent noise.
 */
export function overlappingChanges(
  x: PriceReads,
  y: PriceReads,
  lagMs: Millis,
  add: (product: number, end: Millis) => void,
): void {
  const [n, m] = [x.at.length, y.at.length];
  let [i, j] = [1, 1];
  while (i < n && j < m) {
    const toX = x.at[i]!;
    const toY = y.at[j]! - lagMs;
    if (Math.max(x.at[i - 1]!, y.at[j - 1]! - lagMs) < Math.min(toX, toY)) {
      const product = changeAt(x, i) * changeAt(y, j);
      if (product !== 0) add(product, Math.max(toX, toY));
    }
    if (toX <= toY) i++;
    if (toY <= toX) j++;
  }
}

/** Returns the change up to read `i`; 0 if the read before is more than ten minutes older. */
export const changeAt = ({ at, log }: PriceReads, i: number): number =>
  at[i]! - at[i - 1]! <= READS_APART_MAX_MS ? log[i]! - log[i - 1]! : 0;
