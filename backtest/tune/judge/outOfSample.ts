/**
 * Out-of-sample results of a choice. In each split, the best configuration on the training spans is evaluated on the
 * test spans.
 */
import type { CombinatorialSplits, TimeSplit } from './timeSplits.ts';

/** Results with one row per configuration, and one value per span. */
export type Results = readonly (readonly number[])[];

/** Function that scores a configuration by its values on some spans. A higher score is better; NaN is never best. */
export type Measure = (values: readonly number[]) => number;

/** Returns the arithmetic mean. */
export const meanOf: Measure = values => values.reduce((sum, x) => sum + x, 0) / values.length;

/** Choice of a configuration and its result. */
export type JudgedChoice = {
  /** Index of the chosen configuration. */
  readonly chosen: number;
  readonly inSample: number;
  readonly outOfSample: number;
  /** Values of the chosen configuration on the test spans. */
  readonly values: readonly number[];
};

/**
 * Returns the index of the configuration with the highest score on `spans`, the first if several are equal. Returns -1
 * if all scores are NaN.
 */
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
 * Chooses a configuration on the training spans of a split and evaluates it on the test spans. Returns `null` if there
 * are no training spans or no test spans, or if all scores are NaN.
 */
export function chooseAndJudge(results: Results, { train, test }: TimeSplit, measure: Measure): JudgedChoice | null {
  const chosen = train.length > 0 && test.length > 0 ? bestOn(results, train, measure) : -1;
  if (chosen < 0) return null;
  const row = results[chosen]!;
  const values = test.map(span => row[span]!);
  return { chosen, inSample: measure(train.map(span => row[span]!)), outOfSample: measure(values), values };
}

/**
 * Result of one path through all groups of spans, evaluated with the configurations that the splits of the path chose.
 */
export type PathResult = {
  readonly value: number;
  readonly values: readonly number[];
  readonly chosen: readonly number[];
};

/**
 * Returns the result of each path of combinatorial cross-validation. Each group of a path is evaluated with the
 * configuration that one split chose. A path is dropped if one of its splits has no choice.
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
