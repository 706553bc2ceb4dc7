/** Student's t correction for intervals whose error is estimated from few values. */

/**
 * Converts a quantile of the normal distribution to that of Student's t with `freedom` (above 0) degrees of freedom.
 * Uses the first correction term of the expansion of the quantile (Fisher 1925).
 */
export const studentQuantile = (normal: number, freedom: number): number =>
  normal + (normal ** 3 + normal) / (4 * freedom);
