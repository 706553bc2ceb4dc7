/** Which trials are hopeless: stopped below the median of the others, or not among the best of their rung. Values seen on the way are those of `tell`, higher is better. */

/** What a trial had come to after each of its steps, such as tapes or hours replayed; the first is after one step. */
export type Course = readonly number[];

export type MedianStopOptions = {
  /** Finished trials that it takes before any is stopped; 5 without it. */
  readonly trialsMin?: number;
  /** Steps that every trial gets; 1 without it. */
  readonly stepsMin?: number;
};

/**
 * Median stop (Golovin et al. 2017): the best that the trial has seen is below the median of what earlier trials averaged up to the same step. For the same answer on any number of machines
 * `others` are the trials of earlier batches.
 */
export function isBelowMedian(own: Course, others: readonly Course[], options: MedianStopOptions = {}): boolean {
  const median = medianAfter(own.length, others, options);
  // A value that is no number is no reason to go on.
  return median !== null && !(Math.max(...own) >= median);
}

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

export type HalvingOptions = {
  /** Of so many trials one goes on; 3 without it. */
  readonly reduction?: number;
};

/**
 * Successive halving (Jamieson, Talwalkar 2016): of trials that came to the same rung, the numbers of those that go on to the next, best first; at least one, the earlier one of equals. A trial that
 * failed (null) never does.
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

/** The steps at which trials are compared: from `first` on, each `reduction` times as far, up to what a whole trial has. */
export function rungsOf(first: number, whole: number, { reduction = 3 }: HalvingOptions = {}): readonly number[] {
  if (!(first >= 1 && reduction > 1))
    throw new RangeError(`first ${first}, reduction ${reduction}; expected at least 1, above 1`);
  const steps: number[] = [];
  for (let rung = first; rung < whole; rung *= reduction) steps.push(Math.round(rung));
  return [...new Set([...steps, whole])];
}
