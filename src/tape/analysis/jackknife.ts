/** Standard errors by leaving out one stretch of time after the other, because trades cluster. */

/** Stretches of equal time that a recording is cut into. */
export const STRETCHES = 10;

/** A value and its standard error. */
export type Estimate = { readonly value: number; readonly error: number };

/** The estimate from all stretches; its error from leaving out each (the jackknife). Null when there is no number. */
export function estimateOf<T>(stretches: readonly T[], estimate: (of: readonly T[]) => number): Estimate | null {
  const value = estimate(stretches);
  if (!Number.isFinite(value)) return null;
  return { value, error: spreadOf(stretches.map((_, out) => estimate(stretches.filter((_one, i) => i !== out)))) };
}

/** Standard error, from the estimates that each leave one stretch out; NaN of none, and when one of them is no number. */
export function spreadOf(without: readonly number[]): number {
  const n = without.length;
  const mean = without.reduce((sum, x) => sum + x, 0) / n;
  return Math.sqrt((without.reduce((sum, x) => sum + (x - mean) ** 2, 0) * (n - 1)) / n);
}
