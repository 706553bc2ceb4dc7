/**
 * Ranking of the trials of a study: constraints that exclude a trial, order by the first objective, and the best trial.
 */
import { MEASURES, upwards } from './measures.ts';
import type { TrialRecord } from './registry.ts';
import type { Study } from './study.ts';

/**
 * Returns the feasible trial with the best first objective, and the earliest of several such trials; `null` if no trial
 * is feasible.
 */
export function bestTrial(
  made: readonly TrialRecord[],
  { objectives, constraints }: Study['keys'],
): TrialRecord | null {
  let best: TrialRecord | null = null;
  for (const trial of made)
    if (
      isFeasible(trial, constraints) &&
      (best === null || objectivesOf(trial, objectives)[0]! > objectivesOf(best, objectives)[0]!)
    )
      best = trial;
  return best;
}

/** Returns the feasible trials, best first by the first objective; trials with equal values by number. */
export const rankedTrials = (
  made: readonly TrialRecord[],
  { objectives, constraints }: Study['keys'],
): readonly TrialRecord[] =>
  made
    .filter(trial => isFeasible(trial, constraints))
    .sort((a, b) => objectivesOf(b, objectives)[0]! - objectivesOf(a, objectives)[0]! || a.number - b.number);

/** Returns the objectives of a trial, each with a sign such that more is better. */
export const objectivesOf = (
  { measures }: Pick<TrialRecord, 'measures'>,
  objectives: Study['keys']['objectives'],
): readonly number[] => objectives.map(name => (measures === null ? -Infinity : upwards(name, measures[name])));

/** Returns the names of the constraints that a trial violates. */
export const brokenConstraints = (
  { measures }: Pick<TrialRecord, 'measures'>,
  constraints: Study['keys']['constraints'],
): readonly string[] =>
  (Object.keys(MEASURES) as (keyof typeof MEASURES)[]).filter(name => {
    const { min = -Infinity, max = Infinity } = constraints[name] ?? {};
    const value = measures?.[name] ?? Number.NaN;
    return constraints[name] !== undefined && !(value >= min && value <= max);
  });

/** Whether the trial finished and satisfies every constraint. */
export const isFeasible = (trial: TrialRecord, constraints: Study['keys']['constraints']): boolean =>
  trial.state === 'done' && brokenConstraints(trial, constraints).length === 0;
