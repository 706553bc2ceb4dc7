/**
 * Confidence intervals of market statistics by resampling time blocks. Neighboring values are dependent, but blocks are
 * nearly independent.
 */
import type { Random } from '../ports/port.ts';

/** Confidence level of the intervals. Reports and pages print the level as 95%. */
export const CONFIDENCE_LEVEL = 0.95;

/** Value of a statistic with its confidence interval; `error` is the standard error of the value. */
export type BootstrapInterval = {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly error: number;
};

export type BootstrapOptions = {
  readonly random: Random;
  /** Number of bootstrap samples. Default: 1,000. */
  readonly samples?: number;
  /**
   * Mean number of consecutive blocks that are sampled together. The last block is followed by the first (stationary
   * bootstrap, Politis, Romano 1994). Default: blocks are sampled individually.
   */
  readonly meanRun?: number;
};

/**
 * Computes a statistic of all blocks and its percentile interval (block bootstrap, Kuensch 1989). Each sample draws as
 * many blocks as are given, with replacement. Deviations are scaled by sqrt(n / (n - 1)), because the samples of few
 * blocks underestimate the variance.
 *
 * Blocks must hold sums, not means, so that the statistic can add them up. Samples with a non-finite statistic are
 * skipped. Returns `null` with fewer than two blocks, without a finite value, or if over half of the samples were
 * skipped.
 */
export function blockBootstrap<Block>(
  blocks: readonly Block[],
  statistic: (of: readonly Block[]) => number,
  { random, samples = 1_000, meanRun = 1 }: BootstrapOptions,
): BootstrapInterval | null {
  const n = blocks.length;
  const value = statistic(blocks);
  if (n < 2 || !Number.isFinite(value)) return null;
  const stretch = Math.sqrt(n / (n - 1));
  const drawn: number[] = [];
  const sample = new Array<Block>(n);
  for (let i = 0; i < samples; i++) {
    let at = 0;
    for (let j = 0; j < n; j++) {
      const goesOn = meanRun > 1 && j > 0 && random.next() >= 1 / meanRun;
      at = goesOn ? (at + 1) % n : random.integer(0, n - 1);
      sample[j] = blocks[at]!;
    }
    const found = statistic(sample);
    if (Number.isFinite(found)) drawn.push(value + stretch * (found - value));
  }
  if (drawn.length < samples / 2) return null;
  drawn.sort((a, b) => a - b);
  const mean = drawn.reduce((sum, x) => sum + x, 0) / drawn.length;
  const variance = drawn.reduce((sum, x) => sum + (x - mean) ** 2, 0) / Math.max(1, drawn.length - 1);
  return {
    value,
    low: quantile(drawn, (1 - CONFIDENCE_LEVEL) / 2),
    high: quantile(drawn, (1 + CONFIDENCE_LEVEL) / 2),
    error: Math.sqrt(variance),
  };
}

/** Returns the `share` quantile of values in ascending order, by linear interpolation. */
function quantile(ascending: readonly number[], share: number): number {
  const at = share * (ascending.length - 1);
  const low = Math.floor(at);
  const below = ascending[low] ?? Number.NaN;
  return below + (at - low) * ((ascending[low + 1] ?? below) - below);
}
