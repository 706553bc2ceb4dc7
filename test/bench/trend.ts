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

/**
 * `points`: hours and values. What is left of each sample beside the line is drawn anew in runs of `block` neighbours (moving-block bootstrap), so that
 * a figure that rises and falls over that many samples proves nothing by it. Throws without twice as many points as a block has.
 */
export function trendOf(points: readonly (readonly [hours: number, value: number])[], block: number, seed = 1): Trend {
  const n = points.length;
  if (n < 2 * block) throw new Error(`a trend needs ${2 * block} samples, found ${n}`);
  const mean = (all: readonly number[]): number => all.reduce((sum, value) => sum + value, 0) / all.length;
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const sxx = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  const slopeOf = (values: readonly number[]): number =>
    points.reduce((sum, [at], i) => sum + (at - x) * values[i]!, 0) / sxx;
  const slope = slopeOf(points.map(([, value]) => value));
  const rest = points.map(([at, value]) => value - y - slope * (at - x));
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
    mean: y,
    slope,
    low: slopes[Math.floor(RESAMPLES * 0.025)]!,
    high: slopes[Math.ceil(RESAMPLES * 0.975) - 1]!,
  };
}
