/** What every search is: it is asked for points to try and told what came of them. */
import { randomOf } from '../../../src/core/index.ts';
import type { Random } from '../../../src/core/index.ts';
import type { Point } from './space.ts';

/**
 * Looks for the point with the highest value. What it asks for follows from its seed, the points told so far in their order, and how many were asked for and not yet told: whoever tells
 * all earlier points again, in the same order, has the same search. Trials that run side by side are asked for in batches of one size, and told in the order in which they were asked.
 */
export interface Search {
  /** The next point to try. */
  ask(): Point;
  /** What came of a point, asked for or not: a statistic, no money. Null when it failed or was stopped early. */
  tell(point: Point, value: number | null): void;
}

/** The searches by name: even draws, a low-discrepancy sequence, tree-structured Parzen estimators, evolution with an adapted covariance. */
export type SearchName = 'random' | 'sobol' | 'tpe' | 'cmaEs';

export type SearchOptions = {
  readonly seed: number;
  /** How many points are asked for before any of them is told; 1 without it. */
  readonly batch?: number;
};

/** The randomness of one draw of many that are told apart by numbers: no draw depends on how much another one took. */
export function drawOf(seed: number, ...numbers: readonly number[]): Random {
  let hash = 0x9e3779b9 ^ (seed | 0);
  for (const number of [seed / 2 ** 32, ...numbers]) hash = mixed(hash ^ (number | 0)) + 0x9e3779b9;
  return randomOf(mixed(hash));
}

/** A bijection of 32-bit numbers that spreads every bit over all (finalizer of MurmurHash3, Appleby 2011). */
function mixed(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}
