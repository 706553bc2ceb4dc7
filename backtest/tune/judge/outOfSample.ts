/** What choosing brings where it was not chosen: in each split the best configuration of one part, judged by the other. */
import type { CombinatorialSplits, TimeSplit } from './timeSplits.ts';

/** Results of configurations: a row each, in it a value for each span. */
export type Results = readonly (readonly number[])[];

/** What makes one configuration better than another, of its values on some spans. Higher is better; NaN never wins. */
export type Measure = (values: readonly number[]) => number;

/** The plain mean. */
export const meanOf: Measure = values => values.reduce((sum, x) => sum + x, 0) / values.length;

/** One choice and what became of it. */
export type JudgedChoice = {
  /** The configuration. */
  readonly chosen: number;
  readonly inSample: number;
  readonly outOfSample: number;
  /** Its values where it was judged, by span. */
  readonly values: readonly number[];
};

/** The number of the configuration that is best on some spans, the first of several; -1 when none has a number. */
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

/** Chooses on the one part of a split and judges on the other. Null where nothing is left to choose on or to judge by. */
export function chooseAndJudge(results: Results, { train, test }: TimeSplit, measure: Measure): JudgedChoice | null {
  const chosen = train.length > 0 && test.length > 0 ? bestOn(results, train, measure) : -1;
  if (chosen < 0) return null;
  const row = results[chosen]!;
  const values = test.map(span => row[span]!);
  return { chosen, inSample: measure(train.map(span => row[span]!)), outOfSample: measure(values), values };
}

/** What choosing would have brought along one path through all groups. */
export type PathResult = {
  readonly value: number;
  readonly values: readonly number[];
  readonly chosen: readonly number[];
};

/** Each path of combinatorial cross-validation, its groups judged by the choice of the split that it takes them from. A path with a split that cannot choose is left out. */
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
