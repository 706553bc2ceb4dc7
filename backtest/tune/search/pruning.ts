/** Which trials are hopeless: stopped below the median of the others, or not among the best of their rung. Values seen on the way are those of `tell`, higher is better. */

/** What a trial had come to after each of its steps, such as tapes or hours replayed; the first is after one step. */
export type Course = readonly number[];

export type MedianStopOptions = {
  /** Finished trials that it takes before any is stopped; 5 without it. */
  readonly trialsMin?: number;
  /** Steps that every trial gets; 1 without it. */
  readonly stepsMin?: number;
};

/** What a trial must have come to after so many steps; null where none is stopped there. */
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
