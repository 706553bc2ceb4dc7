/**
 * Standard errors from estimates that omit one time block at a time. Trades cluster, so a standard error cannot treat
 * trades as independent.
 */

/** Number of equally long time blocks into which a recording is divided. */
export const STRETCHES = 10;

/** Value and its standard error. */
export type Estimate = { readonly value: number; readonly error: number };

/**
 * Returns an estimate from all time blocks, with its jackknife standard error; `null` if the estimate is not finite.
 */
export function estimateOf<T>(stretches: readonly T[], estimate: (of: readonly T[]) => number): Estimate | null {
  const value = estimate(stretches);
  if (!Number.isFinite(value)) return null;
  return { value, error: spreadOf(stretches.map((_, out) => estimate(stretches.filter((_one, i) => i !== out)))) };
}

/**
 * Returns the standard error from estimates that each omit one time block. NaN if there is no estimate, or if an
 * estimate is NaN.
 */
export function spreadOf(without: readonly number[]): number {
  const n = without.length;
  const mean = without.reduce((sum, x) => sum + x, 0) / n;
  return Math.sqrt((without.reduce((sum, x) => sum + (x - mean) ** 2, 0) * (n - 1)) / n);
}
