/**
 * Pruning rules: stop trials below the median of the others, or not among the best of their rung. Intermediate values
 * are like those of `tell`, higher is better.
 */

/** Values of a trial after each of its steps, such as tapes or hours replayed; the first is after one step. */
export type Course = readonly number[];

export type MedianStopOptions = {
  /** Minimum number of finished trials before any is stopped. Default: 5. */
  readonly trialsMin?: number;
  /** Minimum number of steps of every trial. Default: 1. */
  readonly stepsMin?: number;
};

/**
 * Median stopping rule (Golovin et al. 2017): whether the trial's best value is below the median of earlier trials'
 * averages up to the same step. For equal results on any number of machines, `others` must be the trials of earlier
 * batches.
 */
export function isBelowMedian(own: Course, others: readonly Course[], options: MedianStopOptions = {}): boolean {
  const median = medianAfter(own.length, others, options);
  // A trial with a NaN value is stopped.
  return median !== null && !(Math.max(...own) >= median);
}

/** Returns the minimum value after this number of steps; `null` if none is stopped there. */
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

export type HalvingOptions = {
  /** Divisor of the number of trials per rung. Default: 3. */
  readonly reduction?: number;
};

/**
 * Successive halving (Jamieson, Talwalkar 2016): returns the indices of the trials that advance to the next rung, best
 * first; at least one, the earlier of equals. A failed trial (`null`) never advances.
 */
export function promoted(values: readonly (number | null)[], options: HalvingOptions = {}): readonly number[] {
  const { reduction = 3 } = options;
  const count = Math.max(1, Math.floor(values.length / reduction));
  return values
    .flatMap((value, number) => (value === null || Number.isNaN(value) ? [] : [{ value, number }]))
    .sort((a, b) => b.value - a.value || a.number - b.number)
    .slice(0, count)
    .map(({ number }) => number);
}

/**
 * Returns the steps at which trials are compared: from `first` on, multiplied by `reduction` each time, up to the
 * length of a complete trial.
 */
export function rungsOf(first: number, whole: number, { reduction = 3 }: HalvingOptions = {}): readonly number[] {
  if (!(first >= 1 && reduction > 1))
    throw new RangeError(`first ${first}, reduction ${reduction}; expected at least 1, above 1`);
  const steps: number[] = [];
  for (let rung = first; rung < whole; rung *= reduction) steps.push(Math.round(rung));
  return [...new Set([...steps, whole])];
}
