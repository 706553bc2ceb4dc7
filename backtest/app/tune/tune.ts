/** `puntas tune`: runs a study from its YAML to its result, and opens its holdout once. */
import { textOfError } from '../../../src/core/index.ts';
import { paretoFront, verdictOn, hedgeTapeReport, type HedgeTape, type HeldOut, type Tuning } from '../../index.ts';
import { withVenueFees, type VenueFees } from '../backtest/backtest.ts';
import type { Latencies } from '../backtest/backtestModel.ts';
import { latenciesOf } from '../backtest/latencyFlags.ts';
import type { ReferenceTapes } from '../backtest/hedgeRoutes.ts';
import { hedgeTapeProblem, refuseHedgeTape } from '../backtest/hedgedElsewhere.ts';
import { notSimulated } from '../backtest/notSimulated.ts';
import type { Progress } from '../../../src/messages/progress.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { bestConfig } from './bestConfig.ts';
import { evidenceOf, intervalOfSum } from './evidence.ts';
import { requireOpeningAllowed, requireTuningAllowed, openedBy, type StudyHours } from './holdoutRule.ts';
import { configAt } from './parameters.ts';
import { NEVER_PRUNED } from './pruner.ts';
import { runNeighbours } from './neighbours.ts';
import {
  Registry,
  trialsOf,
  trialsOn,
  type HoldoutRecord,
  type NeighbourRecord,
  type OpenedRecord,
  type TrialRecord,
} from './registry.ts';
import { digestOfData, readStudy, studyDigest, type Study } from './study.ts';
import { bestTrial, brokenConstraints, isFeasible, objectivesOf, rankedTrials } from './trialRanking.ts';
import { runTrials, type StudyRun } from './trials.ts';
import { trialsHere, type TrialExecutor } from './trialExecutor.ts';
import { heldOutPieces, piecesOf, referencesOf, tuneTapes, type Piece, type TuneTape } from './tuneTapes.ts';

export type TuneOptions = {
  /** YAML file of the study. */
  readonly file: string;
  /** Folder of the registry. */
  readonly registry: string;
  readonly openHoldout: boolean;
  readonly threads: number;
  /** Fees of another exchange, for all runs of the study. */
  readonly venueFees?: VenueFees;
  /** Recording of the other exchange, on which the bot hedges; absent if it does not hedge there. */
  readonly hedge?: HedgeTape | null;
  /** Returns an executor for the trials; if absent or `null`, threads of this process run them. */
  readonly elsewhere?: (study: StudySetup) => Promise<TrialExecutor | null>;
  readonly version: string;
  /** Name of the operator and of the machine. */
  readonly by: string;
  readonly now: () => number;
  readonly progress: Progress;
};

/** Data that another machine needs to run the trials of a study. */
export type StudySetup = {
  readonly study: Study;
  readonly digest: string;
  /** Id of the study in this registry: different in every registry, and unchanged after a crash. */
  readonly run: string;
  readonly tapes: readonly TuneTape[];
  readonly references: ReferenceTapes;
  readonly latencies: readonly Latencies[];
};

/**
 * Result of a study. `yaml` returns the best configuration for a file in the folder `to`, with the evidence as a
 * header. `yaml` is `null` if no trial is feasible.
 */
export type Tuned = { readonly tuning: Tuning; readonly yaml: ((to: string) => string) | null };

/**
 * Runs the missing trials of the study, then evaluates it. Rejects with `UsageError` for errors that the operator can
 * fix. Also rejects if the holdout rule forbids trials or the opening of the holdout.
 */
export async function tune(options: TuneOptions): Promise<Tuned> {
  const { version, by, now, progress } = options;
  const { hedge = null } = options;
  const study = atFees(readStudy(options.file, hedge !== null), options.venueFees);
  const unfit = hedge && hedgeTapeProblem(study.config, hedge);
  refuseHedgeTape(unfit);
  const latencies = studyLatencies(study);
  const tapes = await tuneTapes(study, latencies[0]!, progress);
  const hours = hoursOf(study, tapes, version, hedge);
  const registry = new Registry(options.registry);
  let executor: TrialExecutor | null = null;
  try {
    beginOrGoOn(study, hours, registry, options);
    const references = await referencesOf(study, progress);
    const { keys } = study;
    const terms = {
      ...{
        pieces: piecesOf(tapes, study, latencies[0]!),
        models: keys.models,
        starts: keys.startsAfterSeconds,
        latencies,
      },
      ...{ seed: keys.search.seed, references, hedge, objective: keys.objectives[0]! },
    };
    const signed = () => ({ study: hours.study, at: new Date(now()).toISOString(), by, version });
    const { minor } = terms.pieces[0]!.market.instrument;
    executor =
      (await options.elsewhere?.({
        ...{ study, digest: hours.study, run: runOf(registry, hours.study), tapes, references, latencies },
      })) ?? trialsHere(options.threads);
    const run: StudyRun = { study, hours, registry, terms, executor, signed, progress, unit: minor };
    const trials = await runTrials(run);
    const best = bestTrial(trials, keys);
    const neighbours = best === null ? [] : await runNeighbours(best, run);
    if (options.openHoldout)
      await openHoldout(run, best, () => heldOutPieces(tapes, study, latencies[0]!), trialsHere(options.threads));
    const tuning = tuningOf(run, tapes, trials, best, neighbours);
    return { tuning, yaml: best && (to => bestConfig(study, best, tuning, to)) };
  } finally {
    registry.close();
    await executor?.end();
  }
}

/** Returns the study with `fees` in its configuration and in every configuration derived from it. */
function atFees(study: Study, fees: VenueFees | undefined): Study {
  if (fees === undefined) return study;
  const backtest = { ...(study.base['backtest'] as Readonly<Record<string, unknown>> | undefined), fees };
  return { ...study, config: withVenueFees(study.config, fees), base: { ...study.base, backtest } };
}

function studyLatencies({ keys, file }: Study): readonly Latencies[] {
  try {
    return keys.latenciesMs.map(ms =>
      latenciesOf({ latencyMs: String(ms), feedLatencyMs: String(keys.feedLatencyMs) }),
    );
  } catch (error) {
    const why = textOfError(error);
    throw new UsageError(
      `${file} ${why.replace('--latency-ms', 'latenciesMs').replace('--feed-latency-ms', 'feedLatencyMs')}`,
    );
  }
}

function hoursOf(study: Study, tapes: readonly TuneTape[], version: string, hedge: HedgeTape | null): StudyHours {
  const tuned = tapes.flatMap(tape => tape.tuned ?? []);
  const heldOut = tapes.flatMap(tape => tape.heldOut ?? []);
  return {
    study: studyDigest(study, version, [digestOfData(tuned), digestOfData(heldOut)], hedge),
    tapes: tuned,
    heldOut,
  };
}

/**
 * Registers a study before its first trial. Does nothing if all trials are finished and the holdout was opened, because
 * the study is then only reported again.
 */
function beginOrGoOn({ keys, file }: Study, hours: StudyHours, registry: Registry, options: TuneOptions): void {
  const { version, by, now, openHoldout } = options;
  const records = registry.records();
  const opened = openedBy(records, hours.study);
  if (openHoldout) requireOpeningAllowed(records, hours);
  if (opened !== null && trialsOf(records, hours.study).size >= keys.search.trials) return;
  requireTuningAllowed(records, hours);
  if (records.some(record => record.kind === 'study' && record.study === hours.study)) return;
  registry.append({
    ...{ kind: 'study', study: hours.study, at: new Date(now()).toISOString(), by, version },
    ...{ file, tapes: hours.tapes, heldOut: hours.heldOut },
  });
}

/**
 * Returns the id of the study in this registry: the digest of the study's first record. The time and operator in that
 * record make the id unique.
 */
const runOf = (registry: Registry, study: string): string =>
  digestOfData(registry.records().find(record => record.kind === 'study' && record.study === study) ?? study);

/**
 * Opens the holdout. The opening is recorded before the holdout is read, so that after a crash between the two steps
 * the holdout counts as opened. The executor `here` runs the best trial on the holdout in this process, even if workers
 * run the other trials.
 */
async function openHoldout(
  run: StudyRun,
  best: TrialRecord | null,
  pieces: () => readonly Piece[],
  here: TrialExecutor,
): Promise<void> {
  const { registry, hours, study, signed, terms, progress } = run;
  if (best?.config === null || best === null)
    throw new UsageError('no trial satisfies the constraints, so the holdout was not opened');
  requireOpeningAllowed(registry.records(), hours);
  const opened: OpenedRecord = { kind: 'opened', ...signed(), tapes: hours.heldOut, config: best.config };
  registry.append(opened);
  // If two processes open the holdout at the same time, the first record in the registry counts.
  requireOpeningAllowed(registry.records(), hours, opened);
  const config = configAt(best.point, study.keys.parameters, study.base);
  if (typeof config === 'string') throw new Error(`the best configuration is invalid: ${config}`);
  progress.begin(1_000, 'the holdout');
  try {
    await here.run(
      [{ number: best.number, point: best.point, digest: best.config, config }],
      { ...terms, pieces: pieces() },
      NEVER_PRUNED,
      (_, { measures, blocks }) => {
        if (measures === null) throw new Error('the run on the holdout has no result');
        const record: HoldoutRecord = { kind: 'holdout', ...signed(), measures, blocks, config: opened.config };
        registry.append(record);
      },
      share => progress.at(1_000 * share),
    );
  } finally {
    progress.end();
    await here.end();
  }
}

function tuningOf(
  run: StudyRun,
  tapes: readonly TuneTape[],
  trials: readonly TrialRecord[],
  best: TrialRecord | null,
  neighbours: readonly NeighbourRecord[],
): Tuning {
  const { study, hours, registry, terms } = run;
  const { keys, config, space } = study;
  const { instrument } = terms.pieces[0]!.market;
  const records = registry.records();
  const feasible = trials.filter(trial => isFeasible(trial, keys.constraints));
  const onTheseTapes = trialsOn(records, hours.tapes);
  const evidence =
    best &&
    evidenceOf(best, feasible, {
      trials: onTheseTapes,
      space,
      pieces: terms.pieces,
      embargoMs: 1_000 * keys.embargoSeconds,
      objective: keys.objectives[0]!,
      neighbours,
    });
  const holdout = heldOutOf(records, hours.study);
  const count = (state: TrialRecord['state']): number => trials.filter(trial => trial.state === state).length;
  const iso = (part: { readonly from: number; readonly to: number } | null): readonly [string, string] | null =>
    part && [new Date(part.from).toISOString(), new Date(part.to).toISOString()];
  const { hedge = null } = terms;
  const unsimulated = notSimulated(config, hedge !== null);
  const ranked = rankedTrials(trials, keys);
  const front = paretoFront(feasible.map(trial => objectivesOf(trial, keys.objectives)));
  return {
    made: { puntas: run.signed().version, node: process.versions.node },
    ...{ study: hours.study, book: instrument.symbol, major: instrument.major, minor: instrument.minor },
    strategy: config.strategy.name,
    tapes: tapes.map(({ name, hours: { market, digest }, tuned, heldOut }) => ({
      name,
      market,
      digest,
      tuned: iso(tuned),
      heldOut: iso(heldOut),
    })),
    search: keys.search,
    parameters: space.map(({ key }) => key),
    objectives: keys.objectives,
    constraints: constraintsText(keys),
    models: keys.models,
    latenciesMs: keys.latenciesMs.map(String),
    startsAfterSeconds: keys.startsAfterSeconds,
    ...(hedge !== null && { hedge: hedgeTapeReport(hedge) }),
    ...(unsimulated.length > 0 && { notSimulated: unsimulated }),
    segments: keys.segments,
    counts: {
      done: count('done'),
      pruned: count('pruned'),
      refused: count('refused'),
      feasible: feasible.length,
      onTheseTapes,
    },
    trials: trials.map(trial => {
      const { number, point, state, why, measures, soFar } = trial;
      return {
        number,
        point,
        state,
        why,
        breaks: state === 'done' ? brokenConstraints(trial, keys.constraints) : [],
        measures,
        soFar,
      };
    }),
    ranking: ranked.map(({ number }) => number),
    front: front
      .map(at => feasible[at]!.number)
      .sort((a, b) => ranked.findIndex(one => one.number === a) - ranked.findIndex(one => one.number === b)),
    chosen: best?.number ?? null,
    ...{ evidence, holdout },
    verdict: verdictOn(evidence, holdout),
  };
}

function heldOutOf(records: ReturnType<Registry['records']>, study: string): HeldOut | null {
  const found = records.find((record): record is HoldoutRecord => record.kind === 'holdout' && record.study === study);
  if (found === undefined) return null;
  const { at, by, measures, blocks } = found;
  return { at, by, measures, gains: blocks, net: measures.net60s, interval: intervalOfSum(blocks) };
}

const constraintsText = ({ constraints }: Study['keys']): readonly string[] =>
  Object.entries(constraints).map(([name, { min, max }]) =>
    [name, ...(min === undefined ? [] : [`at least ${min}`]), ...(max === undefined ? [] : [`at most ${max}`])].join(
      ' ',
    ),
  );
