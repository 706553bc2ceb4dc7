/**
 * Covariance and correlation of prices that change at different times, from their last values at each step of a common
 * clock (formulas-desk E13). A horizon of many steps avoids the short intervals in which prices look unrelated.
 */
import { CONFIDENCE_LEVEL } from './blockBootstrap.ts';
import { symmetricEigenvalues } from './linear.ts';
import { normalQuantile } from './normalDistribution.ts';

/** Correlation with its 95% interval, and the number of independent intervals that would give this interval. */
export type Correlation = {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly intervals: number;
};

/** Joint moves of two prices. Variances and covariance are in squared units of the prices, per step. */
export type Comovement = {
  readonly varianceX: number;
  readonly varianceY: number;
  readonly covariance: number;
  readonly correlation: Correlation;
};

/** Minimum number of intervals of one horizon in the data. With fewer, the correlation is unknown. */
export const INTERVALS_MIN = 30;

/** Half the width of the 95% interval, in standard errors. */
const ERRORS = normalQuantile((1 + CONFIDENCE_LEVEL) / 2);

/**
 * Computes the joint moves over `horizon` steps, as averages over all intervals of that length. Both prices are
 * logarithms at the same steps. The noise that is measured over single steps is removed, so the variances equal those
 * of `twoScaleVariance` with `horizon` subgrids.
 *
 * The interval counts one interval per horizon, and fewer if products of moves vary more than those of normal moves, as
 * they do when volatility changes. Returns `null` with fewer than `INTERVALS_MIN` horizons, if a price shows only noise,
 * and if too few independent intervals remain.
 */
export function comovementOf(x: ArrayLike<number>, y: ArrayLike<number>, horizon: number): Comovement | null {
  const n = Math.min(x.length, y.length) - 1;
  if (!(Number.isSafeInteger(horizon) && horizon >= 2 && n >= INTERVALS_MIN * horizon)) return null;
  const dense = productSums(x, y, n, 1);
  const sparse = productSums(x, y, n, horizon);
  const moves = n - horizon + 1;
  const share = moves / horizon / n;
  const perStep = (of: 'xx' | 'yy' | 'xy'): number => (sparse[of] / horizon - share * dense[of]) / (1 - share) / n;
  const [varianceX, varianceY, covariance] = [perStep('xx'), perStep('yy'), perStep('xy')];
  if (!(varianceX > 0 && varianceY > 0)) return null;
  const [xx, yy, xy] = [sparse.xx / moves, sparse.yy / moves, sparse.xy / moves];
  // The variance of the products, divided by that of the products of normal moves.
  const excess = (sparse.fourth / moves - xy * xy) / (xx * yy + xy * xy);
  const value = Math.max(-1, Math.min(1, covariance / Math.sqrt(varianceX * varianceY)));
  const correlation = correlationOf(value, n / horizon / Math.max(1, excess));
  return correlation && { varianceX, varianceY, covariance, correlation };
}

/** Returns sums of the products of all moves over `lag` steps; `fourth` is the sum of the squared products. */
function productSums(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  n: number,
  lag: number,
): { readonly xx: number; readonly yy: number; readonly xy: number; readonly fourth: number } {
  let [xx, yy, xy, fourth] = [0, 0, 0, 0];
  for (let i = lag; i <= n; i++) {
    const a = x[i]! - x[i - lag]!;
    const b = y[i]! - y[i - lag]!;
    xx += a * a;
    yy += b * b;
    xy += a * b;
    fourth += a * b * (a * b);
  }
  return { xx, yy, xy, fourth };
}

/** Adds the interval to a correlation (Fisher 1921); `null` with three or fewer independent intervals. */
export function correlationOf(value: number, intervals: number): Correlation | null {
  if (!(intervals > 3)) return null;
  const width = ERRORS / Math.sqrt(intervals - 3);
  const at = Math.atanh(value);
  return { value, low: Math.tanh(at - width), high: Math.tanh(at + width), intervals };
}

/** Whether the interval of a correlation excludes zero. */
export const isKnown = ({ low, high }: Correlation): boolean => low > 0 || high < 0;

/** Returns the number of independent intervals after which the interval of `value` excludes zero. */
export const intervalsToKnow = (value: number): number => 3 + (ERRORS / Math.atanh(Math.abs(value))) ** 2;

/**
 * Returns the time by which reads at random times shorten the moves that two prices have in common, for reads with the
 * mean distances `a` and `b`. Over a horizon h, the covariance is too small by the factor 1 - result / h.
 */
export const asynchrony = (a: number, b: number): number => a + b - (2 * a * b) / (a + b);

/**
 * Returns a valid correlation matrix for sums over several books. Unknown correlations, and those whose interval
 * contains zero, become zero. The others are shrunk towards zero by their errors, and then by as much as the matrix
 * needs to have no negative eigenvalue. `between` returns the correlation of two of `count` books, or `null` if it is
 * unknown.
 */
export function usableCorrelations(
  count: number,
  between: (i: number, j: number) => Correlation | null,
): readonly (readonly number[])[] {
  const matrix = Array.from({ length: count }, (_, i) => {
    const row = new Array<number>(count).fill(0);
    row[i] = 1;
    return row;
  });
  const known: { readonly value: number; readonly variance: number }[] = [];
  for (let i = 0; i < count; i++)
    for (let j = i + 1; j < count; j++) {
      const found = between(i, j);
      if (found === null || !isKnown(found)) continue;
      matrix[i]![j] = matrix[j]![i] = found.value;
      known.push({ value: found.value, variance: (1 + found.value ** 2) / found.intervals });
    }
  const shrunk = shrunkTowardsIdentity(matrix, shrinkageOf(known));
  return shrunkTowardsIdentity(shrunk, repairOf(shrunk, 0));
}

/**
 * Returns the weight of zero in estimates of the off-diagonal entries of a matrix, from 0 to 1: the sum of their
 * variances divided by the sum of their squares (Ledoit, Wolf 2004; Schaefer, Strimmer 2005).
 */
export function shrinkageOf(entries: readonly { readonly value: number; readonly variance: number }[]): number {
  const squares = entries.reduce((sum, { value }) => sum + value ** 2, 0);
  const variances = entries.reduce((sum, { variance }) => sum + variance, 0);
  return squares > 0 ? Math.min(1, variances / squares) : 0;
}

/**
 * Returns the smallest weight of the identity with which no eigenvalue of a correlation matrix is below `eigenvalueMin`;
 * 0 if none is.
 */
export function repairOf(matrix: readonly (readonly number[])[], eigenvalueMin: number): number {
  const smallest = Math.min(1, ...symmetricEigenvalues(matrix));
  return smallest >= eigenvalueMin ? 0 : (eigenvalueMin - smallest) / (1 - smallest);
}

const shrunkTowardsIdentity = (matrix: readonly (readonly number[])[], weight: number): number[][] =>
  matrix.map((row, i) => row.map((value, j) => (i === j ? value : (1 - weight) * value)));
