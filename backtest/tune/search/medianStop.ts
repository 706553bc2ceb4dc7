/**
 * Pruning rule: trials stop if they are below the median of other trials after the same number of steps. As for
 * `tell`, higher values are better.
 */

/** Values of a trial after each of its steps, such as tapes or hours replayed; the first is after one step. */
export type Course = readonly number[];

export type MedianStopOptions = {
  /** Minimum number of finished trials before any is stopped. Default: 5. */
  readonly trialsMin?: number;
  /** Minimum number of steps of every trial. Default: 1. */
  readonly stepsMin?: number;
};

/** Returns the value that a trial needs after this number of steps; `null` if no trial is stopped there. */
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
