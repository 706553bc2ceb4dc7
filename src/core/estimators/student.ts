/** Student's t: how much farther an interval reaches whose error is itself measured, from few values. */

/** The quantile of Student's t that stands for one of the normal law, with so many degrees of freedom, above 0 (first term of its expansion, Fisher 1925). */
export const studentOf = (normal: number, freedom: number): number => normal + (normal ** 3 + normal) / (4 * freedom);
