/**
 * Pruning rule: a trial stops if its best value so far is below the median of the other trials' averages up to the same
 * step. Higher values are better, as in `Search`.
 */

/** Values of a trial after each of its steps, such as replayed pieces of a tape. The first value is after one step. */
export type Course = readonly number[];

export type MedianStopOptions = {
  /**
   * Minimum number of other trials that must have completed as many steps before a trial may be stopped. Default: 5.
   */
  readonly trialsMin?: number;
  /** Minimum number of steps before a trial may be stopped. Default: 1. */
  readonly stepsMin?: number;
};

/**
 * Returns the value that a trial must have reached after `step` steps; `null` if no trial is stopped after that step.
 */
export function medianAfter(
  step: number,
  others: readonly Course[],
  { trialsMin = 5, stepsMin = 1 }: MedianStopOptions = {},
): number | null {
  const reached = others.filter(course => course.length >= step);
  if (step < stepsMin || step === 0 || reached.length < Math.max(1, trialsMin)) return null;
  const averages = reached.map(course => course.slice(0, step).reduce((sum, x) => sum + x, 0) / step);
  averages.sort((a, b) => a - b);
  const half = averages.length / 2;
  return (averages[Math.ceil(half) - 1]! + averages[Math.floor(half)]!) / 2;
}
