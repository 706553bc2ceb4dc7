/** Standard error of a ratio of sums over time blocks that may depend on each other, with its degrees of freedom. */
import { DAY_MS, type Millis } from '../../src/core/index.ts';

/** Sums of one ratio by time block, in order of time. */
export type RatioBlocks = {
  /** Start of each block, in epoch ms. */
  readonly at: readonly Millis[];
  /** Numerator of each block minus the ratio times its denominator, divided by the total denominator. The sum is 0. */
  readonly deviations: readonly number[];
  /** Denominator of each block, at least 0. */
  readonly weights: readonly number[];
};

export type BlockError = {
  /** Standard error of the ratio if all blocks are independent. */
  readonly independent: number;
  /**
   * Standard error of the ratio with the dependence of adjacent blocks and the differences between days; at least
   * `independent`.
   */
  readonly error: number;
  /** Degrees of freedom of `error`, at least 1. */
  readonly freedom: number;
};

/**
 * Minimum equivalent number of equal days for an estimate of the differences between days. Two days give only one
 * difference, which is too little. Three days are also too few if one of them has nearly all of the weight.
 */
const DAYS_MIN = 2.5;

/**
 * Computes the error in three steps, each of which can only raise it:
 * 1. Blocks are independent. The degrees of freedom are the equivalent number of equal blocks minus one (Kish, "Survey
 *    Sampling", 1965). Blocks with weight 0 contain no information.
 * 2. Adjacent blocks depend on each other (Newey and West, Econometrica 55(3), 1987).
 * 3. Days, counted from the first block, differ: the variance between days replaces the variance of step 2 if it is
 *    larger. It is estimated only from the sums of days. Its degrees of freedom are therefore the equivalent number of
 *    equal days minus one, however many blocks a day has.
 */
export function blockError({ at, deviations, weights }: RatioBlocks): BlockError {
  const total = blockSum(weights);
  const count = weights.filter(weight => weight > 0).length;
  const scale = count / (count - 1);
  const squares = scale * blockSum(deviations.map(x => x * x));
  const inBlocks = Math.max(1, total ** 2 / blockSum(weights.map(weight => weight * weight)) - 1);
  const within = Math.max(squares, squares + 2 * scale * neighbours(deviations));
  const days = new Map<number, { deviation: number; weight: number }>();
  at.forEach((start, b) => {
    const number = Math.floor((start - at[0]!) / DAY_MS);
    const day = days.get(number) ?? { deviation: 0, weight: 0 };
    day.deviation += deviations[b]!;
    day.weight += weights[b]!;
    days.set(number, day);
  });
  const known = [...days.values()].filter(({ weight }) => weight > 0);
  const inDays = total ** 2 / blockSum(known.map(({ weight }) => weight ** 2));
  const between =
    inDays >= DAYS_MIN ? (inDays / (inDays - 1)) * blockSum(known.map(({ deviation }) => deviation ** 2)) : 0;
  return {
    independent: Math.sqrt(squares),
    error: Math.sqrt(Math.max(within, between)),
    freedom: between > within ? inDays - 1 : inBlocks,
  };
}

/**
 * Returns the weighted sum of the products of deviations at each lag, with Bartlett's weights. The maximum lag is the
 * cube root of the number of deviations.
 */
function neighbours(deviations: readonly number[]): number {
  const reach = Math.floor(Math.cbrt(deviations.length));
  let all = 0;
  for (let lag = 1; lag <= reach; lag++) {
    let products = 0;
    for (let b = lag; b < deviations.length; b++) products += deviations[b]! * deviations[b - lag]!;
    all += (1 - lag / (reach + 1)) * products;
  }
  return all;
}

/** Returns the sum of one value per block. */
export const blockSum = (of: readonly number[]): number => of.reduce((all, x) => all + x, 0);
