/** Whether a figure grows: its slope over time by least squares, with an interval that neighbouring samples do not make too narrow. */
import { randomOf } from '../../src/core/index.ts';

export type Trend = {
  readonly mean: number;
  /** Per hour. */
  readonly slope: number;
  /** The middle 95 % of the slopes of resampled series. */
  readonly low: number;
  readonly high: number;
};

const RESAMPLES = 2_000;

/** `load`: what goes up and down with it is no growth. */
type Point = readonly [hours: number, value: number, load?: number];

/**
 * What is left of each sample beside the line is drawn anew in runs of `block` neighbours (moving-block bootstrap), so that
 * a figure that rises and falls over that many samples proves nothing by it. Throws without twice as many points as a block has.
 */
export function trendOf(points: readonly Point[], block: number, seed = 1): Trend {
  const n = points.length;
  if (n < 2 * block) throw new Error(`a trend needs ${2 * block} samples, found ${n}`);
  const hours = centred(points.map(([at]) => at));
  const values = points.map(([, value]) => value);
  const load = centred(points.map(([, , of = 0]) => of));
  // Regression on both, one after the other (Frisch, Waugh, Lovell).
  const time = apart(hours, load);
  const rest = apart(apart(centred(values), load), time);
  const slopeOf = (of: readonly number[]): number => dot(of, time) / dot(time, time);
  const slope = slopeOf(values);
  const random = randomOf(seed);
  const slopes: number[] = [];
  for (let round = 0; round < RESAMPLES; round++) {
    const drawn: number[] = [];
    while (drawn.length < n) {
      const from = Math.floor(random.next() * (n - block + 1));
      drawn.push(...rest.slice(from, from + block));
    }
    slopes.push(slope + slopeOf(drawn.slice(0, n)));
  }
  slopes.sort((a, b) => a - b);
  return {
    mean: meanOf(values),
    slope,
    low: slopes[Math.floor(RESAMPLES * 0.025)]!,
    high: slopes[Math.ceil(RESAMPLES * 0.975) - 1]!,
  };
}

const dot = (one: readonly number[], other: readonly number[]): number =>
  one.reduce((sum, value, i) => sum + value * other[i]!, 0);

const meanOf = (all: readonly number[]): number => all.reduce((sum, value) => sum + value, 0) / all.length;

function centred(all: readonly number[]): readonly number[] {
  const mean = meanOf(all);
  return all.map(value => value - mean);
}

/** What of one series does not go with the other; both around zero. */
function apart(one: readonly number[], other: readonly number[]): readonly number[] {
  const square = dot(other, other);
  const share = square === 0 ? 0 : dot(one, other) / square;
  return one.map((value, i) => value - share * other[i]!);
}
