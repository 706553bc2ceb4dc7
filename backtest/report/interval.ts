/** What is known of what a run brought: 95 % around it, from drawing equal stretches of its time again. */
import { blockBootstrap, randomOf } from '../../src/core/index.ts';
import { short } from '../../src/pages/index.ts';

/** Approximate, in the minor currency. */
export type Interval = { readonly low: number; readonly high: number };

/** The run cut into equal stretches of `seconds`: what each brought, and the same with its fills marked after 60 s. Equal runs in time have equal stretches. */
export type Stretches = {
  readonly seconds: number;
  readonly net: readonly number[];
  readonly after60: readonly number[];
};

/** Each of at least a minute; fewer tell no interval. */
export const STRETCHES_LEAST = 20;
const STRETCHES_MOST = 40;
const STRETCH_S = 60;
const SEED = 1;

/** How many stretches a run of this length is cut into; 0 of one that is shorter than a minute. */
export const stretchesIn = (seconds: number): number => Math.min(STRETCHES_MOST, Math.floor(seconds / STRETCH_S));

/** Of values at the end of equal steps that add up (`sum`) or are so far (`last`, NaN: as before): what came in each of `count` equal parts. */
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
 * 95 % around the sum of what equal stretches of time brought: what another time like this one could have brought, if stretches are alike and know little of each
 * other. Null with fewer than `least`, or where all of them are alike.
 */
export function intervalOf(gains: readonly number[], least = STRETCHES_LEAST): Interval | null {
  if (gains.length < least) return null;
  const found = blockBootstrap(gains, of => of.reduce((sum, gain) => sum + gain, 0), { random: randomOf(SEED) });
  return found === null || found.low === found.high ? null : { low: short(found.low), high: short(found.high) };
}

/** Zero lies outside. */
export const excludesZero = (interval: Interval | null): boolean =>
  interval !== null && (interval.low > 0 || interval.high < 0);

/**
 * Around a sum of independent parts, from their own intervals: distances to each end are added as squares (Zou, Donner 2008, Statistics in Medicine 27). A part without an
 * interval counts as certain.
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
