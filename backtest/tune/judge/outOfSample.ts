/** Out-of-sample results of a choice: in each split, the best configuration of one part is evaluated on the other. */
import type { CombinatorialSplits, TimeSplit } from './timeSplits.ts';

/** Results: one row per configuration, with one value per span. */
export type Results = readonly (readonly number[])[];

/** Score of a configuration from its values on some spans. Higher is better; NaN never wins. */
export type Measure = (values: readonly number[]) => number;

/** Returns the arithmetic mean. */
export const meanOf: Measure = values => values.reduce((sum, x) => sum + x, 0) / values.length;

/** One choice and its result. */
export type JudgedChoice = {
  /** Index of the configuration. */
  readonly chosen: number;
  readonly inSample: number;
  readonly outOfSample: number;
  /** Values of the configuration on the test spans. */
  readonly values: readonly number[];
};

/** Returns the index of the best configuration on some spans, the first of equals; -1 if all scores are NaN. */
export function bestOn(results: Results, spans: readonly number[], measure: Measure): number {
  let best = -1;
  let most = -Infinity;
  results.forEach((row, configuration) => {
    const value = measure(spans.map(span => row[span]!));
    if (value > most) {
      best = configuration;
      most = value;
    }
  });
  return best;
}

/**
 * Chooses on the training part of a split and evaluates on the test part. `null` if either is empty, or if nothing can
 * be chosen.
 */
export function chooseAndJudge(results: Results, { train, test }: TimeSplit, measure: Measure): JudgedChoice | null {
  const chosen = train.length > 0 && test.length > 0 ? bestOn(results, train, measure) : -1;
  if (chosen < 0) return null;
  const row = results[chosen]!;
  const values = test.map(span => row[span]!);
  return { chosen, inSample: measure(train.map(span => row[span]!)), outOfSample: measure(values), values };
}

/** Result of choosing along one path through all groups. */
export type PathResult = {
  readonly value: number;
  readonly values: readonly number[];
  readonly chosen: readonly number[];
};

/**
 * Returns each path of combinatorial cross-validation, with its groups evaluated by the choices of their splits. Drops
 * paths with a split that cannot choose.
 */
export function pathResults(results: Results, cross: CombinatorialSplits, measure: Measure): readonly PathResult[] {
  const choices = cross.splits.map(split => chooseAndJudge(results, split, measure));
  return cross.paths.flatMap(path => {
    const made = path.map(split => choices[split]);
    if (made.some(choice => choice === null || choice === undefined)) return [];
    const chosen = made.map(choice => choice!.chosen);
    const values = chosen.flatMap((configuration, group) =>
      cross.groups[group]!.map(span => results[configuration]![span]!),
    );
    return [{ value: measure(values), values, chosen }];
  });
}
