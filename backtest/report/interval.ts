/** Confidence interval of a run's result, from resampling equal time blocks. */
import { blockBootstrap, randomOf } from '../../src/core/index.ts';
import { short } from '../../src/pages/index.ts';

/** Approximate confidence interval of a result, in the quote currency. */
export type Interval = { readonly low: number; readonly high: number };

/**
 * Results of equal time blocks of `seconds`: net, and net with fills valued after 60 s. Runs over the same time have
 * the same blocks.
 */
export type Stretches = {
  readonly seconds: number;
  readonly net: readonly number[];
  readonly after60: readonly number[];
};

/** Minimum number of time blocks, each at least a minute long, for a confidence interval. */
export const STRETCHES_MIN = 20;
const STRETCHES_MAX = 40;
const STRETCH_S = 60;
const SEED = 1;

/** Returns the number of time blocks for a run of `seconds`; 0 below one minute. */
export const stretchesIn = (seconds: number): number => Math.min(STRETCHES_MAX, Math.floor(seconds / STRETCH_S));

/**
 * Splits values at equal time steps into `count` equal parts and returns the increase in each. With `sum`, values are
 * increments. With `last`, values are cumulative, and NaN if unchanged.
 */
export function cutUp(values: ArrayLike<number>, keep: 'sum' | 'last', count: number): number[] {
  const parts = new Array<number>(count).fill(0);
  let known = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    const part = Math.min(count - 1, Math.floor((i * count) / values.length));
    if (count > 0) parts[part]! += keep === 'sum' ? value : value - known;
    known = value;
  }
  return parts;
}

/**
 * Returns the 95% interval of the sum of equal time blocks: the range of results that similar blocks could have given.
 * Blocks count as nearly independent of each other. Returns `null` for fewer than `least` blocks, or if all blocks are
 * equal.
 */
export function intervalOf(gains: readonly number[], least = STRETCHES_MIN): Interval | null {
  if (gains.length < least) return null;
  const found = blockBootstrap(gains, of => of.reduce((sum, gain) => sum + gain, 0), { random: randomOf(SEED) });
  return found === null || found.low === found.high ? null : { low: short(found.low), high: short(found.high) };
}

/** Whether zero is outside the interval. */
export const excludesZero = (interval: Interval | null): boolean =>
  interval !== null && (interval.low > 0 || interval.high < 0);

/**
 * Returns the interval of a sum of independent parts. The distances from each value to its bounds are added as squares
 * (Zou, Donner 2008, Statistics in Medicine 27). The value of a part without an interval counts as exact.
 */
export function intervalTogether(
  parts: readonly { readonly value: number; readonly interval: Interval | null }[],
): Interval {
  let [total, down, up] = [0, 0, 0];
  for (const { value, interval } of parts) {
    total += value;
    if (interval === null) continue;
    down += (value - interval.low) ** 2;
    up += (interval.high - value) ** 2;
  }
  return { low: short(total - Math.sqrt(down)), high: short(total + Math.sqrt(up)) };
}
