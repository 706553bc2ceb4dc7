/** Student's t correction for intervals whose error is estimated from few values. */

/**
 * Returns the quantile of Student's t that corresponds to a normal quantile, with `freedom` degrees of freedom, above
 * 0. Uses the first term of the expansion of the quantile (Fisher 1925).
 */
export const studentQuantile = (normal: number, freedom: number): number =>
  normal + (normal ** 3 + normal) / (4 * freedom);
