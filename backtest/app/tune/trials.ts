/**
 * Trials of a study in order. Trials are requested in batches of equal size, read from the registry if present, and
 * reported in the order of the requests.
 */
import { newSearch, paretoRanks, textOfPoint, type Point } from '../../index.ts';
import type { Config } from '../../../src/config.ts';
import type { Progress } from '../../../src/messages/progress.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { requireTuningAllowed, type StudyHours } from './holdoutRule.ts';
import { MEASURES } from './measures.ts';
import { configAt } from './parameters.ts';
import { pruningBounds } from './pruner.ts';
import { trialsOf, type Registry, type TrialRecord } from './registry.ts';
import { digestOfData, type Study } from './study.ts';
import { bestTrial, isFeasible, objectivesOf } from './trialRanking.ts';
import type { TrialExecutor, TrialSetting } from './trialExecutor.ts';
import { notRunReason, type AskedTrial, type TrialOutcome } from './trialRuns.ts';

export type StudyRun = {
  readonly study: Study;
  readonly hours: StudyHours;
  readonly registry: Registry;
  readonly terms: TrialSetting;
  readonly executor: TrialExecutor;
  /** Returns the fields of a new record: study, current time, operator and version. */
  readonly signed: () => Pick<TrialRecord, 'study' | 'at' | 'by' | 'version'>;
  readonly progress: Progress;
  /** Quote currency, for display. */
  readonly unit: string;
};

/**
 * Returns the trials by number, from 0. Each trial is in the registry before the next batch is requested. Rejects with
 * `UsageError` if the holdout rule forbids trials.
 */
export async function runTrials(run: StudyRun): Promise<readonly TrialRecord[]> {
  const { study, registry, hours, progress } = run;
  const { trials, batch } = study.keys.search;
  const made: TrialRecord[] = [];
  const known = trialsOf(registry.records(), hours.study);
  const missing = Array.from({ length: trials }, (_, i) => i).filter(number => !known.has(number)).length;
  progress.begin(1_000 * missing, '');
  let fresh = 0;
  try {
    for (let first = 0; first < trials; first += batch) {
      const numbers = Array.from({ length: Math.min(batch, trials - first) }, (_, i) => first + i);
      const points = askedAfter(made, study);
      const recorded = trialsOf(registry.records(), hours.study);
      const left = numbers.filter(number => !recorded.has(number));
      if (left.length > 0) {
        requireTuningAllowed(registry.records(), hours);
        await runLeft(
          left.map(number => ({ number, point: points[number - first]! })),
          made,
          run,
          share => progress.at(1_000 * (fresh + share * left.length), bestText(made, run)),
        );
        fresh += left.length;
      }
      const now = trialsOf(registry.records(), hours.study);
      for (const number of numbers) made.push(same(now.get(number), points[number - first]!, run));
    }
  } finally {
    progress.end();
  }
  return made;
}

/**
 * Returns the registered trial `record` if it has the requested point. Otherwise throws, because another program
 * version wrote the trial.
 */
function same(record: TrialRecord | undefined, point: Point, { registry }: StudyRun): TrialRecord {
  if (record === undefined) throw new Error(`${registry.file}: a finished trial is missing`);
  if (textOfPoint(record.point) !== textOfPoint(point))
    throw new UsageError(
      `${registry.file}: trial ${record.number} of study ${record.study.slice(0, 12)} has other parameter values than this version of Puntas requests; use another folder with --registry`,
    );
  return record;
}

/** Returns the next batch of points, after the search has received the results of all previous trials in order. */
function askedAfter(made: readonly TrialRecord[], { keys, space }: Study): readonly Point[] {
  const { algorithm, seed, batch } = keys.search;
  const search = newSearch(algorithm, space, { seed, batch });
  const values = valuesOf(made, keys);
  for (const [i, { point }] of made.entries()) search.tell(point, values[i] ?? null);
  return Array.from({ length: batch }, () => search.ask());
}

/**
 * Returns the values for the search. With one objective, they are the values of that objective, with a sign such that
 * more is better. With several objectives, the values are the negative Pareto ranks. `null` for trials that were
 * pruned, refused, or violate a constraint.
 */
function valuesOf(made: readonly TrialRecord[], keys: Study['keys']): readonly (number | null)[] {
  const { objectives, constraints } = keys;
  const counted = made.map(trial => (isFeasible(trial, constraints) ? objectivesOf(trial, objectives) : null));
  if (objectives.length === 1) return counted.map(values => values?.[0] ?? null);
  const feasible = counted.flatMap((values, i) => (values === null ? [] : [{ values, i }]));
  const ranks = paretoRanks(feasible.map(({ values }) => values));
  const behind = new Map(feasible.map(({ i }, at) => [i, 0 - (ranks[at] ?? Infinity)]));
  return counted.map((_, i) => behind.get(i) ?? null);
}

/**
 * Runs the trials of a batch that are not in the registry. If a configuration was already tried in this study, its
 * outcome is copied.
 */
async function runLeft(
  left: readonly { readonly number: number; readonly point: Point }[],
  made: readonly TrialRecord[],
  run: StudyRun,
  onShare: (share: number) => void,
): Promise<void> {
  const { study, registry, terms, hours, executor } = run;
  const before = new Map(made.flatMap(trial => (trial.config === null ? [] : [[trial.config, trial] as const])));
  const add = (of: { number: number; point: Point; config: string | null }, outcome: TrialOutcome): void =>
    registry.append({
      ...{ kind: 'trial', ...run.signed(), ...of, seed: study.keys.search.seed, tapes: hours.tapes },
      ...outcome,
    });
  const batch: AskedTrial[] = [];
  for (const { number, point } of left) {
    const prepared = preparedAt(point, run);
    if (prepared.why !== null) {
      add({ number, point, config: prepared.digest }, { ...NOT_RUN, why: prepared.why });
      continue;
    }
    const { digest, config } = prepared;
    const same = before.get(digest);
    if (same !== undefined) add({ number, point, config: digest }, outcomeOf(same));
    else batch.push({ number, point, digest, config });
  }
  if (batch.length === 0) return;
  await executor.run(
    batch,
    terms,
    pruningBounds(study.keys, made),
    ({ number, point, digest }, outcome) => add({ number, point, config: digest }, outcome),
    onShare,
  );
}

/** Returns the configuration of a point with its digest, or the reason why the configuration is not run. */
export function preparedAt(
  point: Point,
  { study, terms }: StudyRun,
):
  | { readonly why: null; readonly config: Config; readonly digest: string }
  | { readonly why: string; readonly digest: string | null } {
  const config = configAt(point, study.keys.parameters, study.base);
  if (typeof config === 'string') return { why: config, digest: null };
  const why = notRunReason(config, terms);
  return why === null ? { why, config, digest: digestOfData(config) } : { why, digest: digestOfData(config) };
}

const NOT_RUN = { state: 'refused', measures: null, soFar: [], blocks: [] } as const;

/** Describes the current batch and the best finished trial, for the progress. */
function bestText(made: readonly TrialRecord[], { study, unit }: StudyRun): string {
  const [objective] = study.keys.objectives;
  const { trials, batch } = study.keys.search;
  const best = bestTrial(made, study.keys);
  const [first, last] = [made.length + 1, Math.min(made.length + batch, trials)];
  const where = `${first === last ? `trial ${first}` : `trials ${first} to ${last}`} of ${trials}`;
  if (best === null || objective === undefined) return where;
  const value = best.measures?.[objective] ?? 0;
  return `${where}, best ${Number(value.toPrecision(4))}${MEASURES[objective].unit === 'minor' ? ` ${unit}` : ` (${objective})`}`;
}

const outcomeOf = ({ state, why, measures, soFar, blocks }: TrialRecord): TrialOutcome => ({
  state,
  why,
  measures,
  soFar,
  blocks,
});
