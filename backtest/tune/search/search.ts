/** Interface of searches, which propose points and receive their values. */
import { mixed, randomOf, type Random } from '../../../src/core/index.ts';
import type { Point } from './space.ts';

/**
 * Search for the point with the highest value. Its proposals depend only on its seed, the values received in order, and
 * the number of proposals without a value. Therefore, repeating all earlier values in order restores the search.
 * Parallel trials are requested in batches of equal size, and their values are passed in the order of the requests.
 */
export interface Search {
  /** Returns the next point to try. */
  ask(): Point;
  /**
   * Receives the value of a point, even if the point was not requested. The value is a statistic, not money; `null` if
   * the trial failed or was pruned.
   */
  tell(point: Point, value: number | null): void;
}

/**
 * Name of a search: uniform sampling, a low-discrepancy sequence, tree-structured Parzen estimators, or an evolution
 * strategy with covariance adaptation.
 */
export type SearchName = 'random' | 'sobol' | 'tpe' | 'cmaEs';

export type SearchOptions = {
  readonly seed: number;
  /** Number of points that are requested before the first value of a batch arrives. Default: 1. */
  readonly batch?: number;
};

/**
 * Returns the random generator for the draw that `numbers` identify. Each draw has its own generator, so no draw
 * depends on another draw.
 */
export function drawOf(seed: number, ...numbers: readonly number[]): Random {
  let hash = 0x9e3779b9 ^ (seed | 0);
  for (const number of [seed / 2 ** 32, ...numbers]) hash = mixed(hash ^ (number | 0)) + 0x9e3779b9;
  return randomOf(mixed(hash));
}
