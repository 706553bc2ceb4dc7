/** `puntas tune`: a study from its YAML to what it came to, and the one look at its holdout. */
import { paretoFront, verdictOn } from '../../index.ts';
import type { HeldOut, Tuning } from '../../index.ts';
import { withVenueFees } from '../backtest/backtest.ts';
import type { VenueFees } from '../backtest/backtest.ts';
import type { Latencies } from '../backtest/backtestModel.ts';
import { latenciesOf } from '../backtest/latencies.ts';
import type { ReferenceTapes } from '../backtest/hedgeRoutes.ts';
import type { Progress } from '../../../src/messages/progress.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { bestConfig } from './bestConfig.ts';
import { evidenceOf, intervalOfSum } from './evidence.ts';
import { mayOpen, mayTune, openedBy } from './holdoutLaw.ts';
import type { StudyHours } from './holdoutLaw.ts';
import { configAt } from './parameters.ts';
import { NEVER_PRUNED } from './pruner.ts';
import { runNeighbours } from './neighbours.ts';
import { Registry, trialsOf, trialsOn } from './registry.ts';
import type { HoldoutRecord, NeighbourRecord, OpenedRecord, TrialRecord } from './registry.ts';
import { digestOfData, readStudy, studyDigest } from './study.ts';
import type { Study } from './study.ts';
import { bestTrial, brokenConstraints, isFeasible, objectivesOf, runTrials } from './trials.ts';
import type { StudyRun } from './trials.ts';
import { trialsHere } from './trialExecutor.ts';
import type { TrialExecutor } from './trialExecutor.ts';
import { heldOutPieces, piecesOf, referencesOf, tuneTapes } from './tuneTapes.ts';
import type { Piece, TuneTape } from './tuneTapes.ts';

export type TuneOptions = {
  /** The YAML of the study. */
  readonly file: string;
  /** Folder of the registry. */
  readonly registry: string;
  readonly openHoldout: boolean;
  readonly threads: number;
  /** Fees of another exchange for all of its runs. */
  readonly venueFees?: VenueFees;
  /** Who runs the trials instead of threads of this process; absent or null: they do. */
  readonly elsewhere?: (study: StudySetup) => Promise<TrialExecutor | null>;
  readonly version: string;
  /** Who does this, on which machine; ms since 1970. */
  readonly by: string;
  readonly now: () => number;
  readonly progress: Progress;
};

/** What another machine must know of a study to run its trials. */
export type StudySetup = {
  readonly study: Study;
  readonly digest: string;
  /** Of the study as this registry has it: another in every registry, the same after a kill. */
  readonly run: string;
  readonly tapes: readonly TuneTape[];
  readonly references: ReferenceTapes;
  readonly latencies: readonly Latencies[];
};

/** `yaml`: the best configuration, for a file in the folder `to`, with its evidence above it; null where no trial is feasible. */
export type Tuned = { readonly tuning: Tuning; readonly yaml: ((to: string) => string) | null };

/** Runs what is missing of the study, then judges it. Rejects with `UsageError` for what a person must change, and where the law of the holdout forbids it. */
export async function tune(options: TuneOptions): Promise<Tuned> {
  const { version, by, now, progress } = options;
  const study = atFees(readStudy(options.file), options.venueFees);
  const latencies = studyLatencies(study);
  const tapes = await tuneTapes(study, latencies[0]!, progress);
  const hours = hoursOf(study, tapes, version);
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
      ...{ seed: keys.search.seed, references, objective: keys.objectives[0]! },
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

/** The study with these fees in its configuration, and in every configuration that is made of it. */
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
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `${file} ${why.replace('--latency-ms', 'latenciesMs').replace('--feed-latency-ms', 'feedLatencyMs')}`,
    );
  }
}

function hoursOf(study: Study, tapes: readonly TuneTape[], version: string): StudyHours {
  const tuned = tapes.flatMap(tape => tape.tuned ?? []);
  const heldOut = tapes.flatMap(tape => tape.heldOut ?? []);
  return { study: studyDigest(study, version, [digestOfData(tuned), digestOfData(heldOut)]), tapes: tuned, heldOut };
}

/** A study is told before its first trial. One whose holdout is open is only shown again. */
function beginOrGoOn({ keys, file }: Study, hours: StudyHours, registry: Registry, options: TuneOptions): void {
  const { version, by, now, openHoldout } = options;
  const records = registry.records();
  const opened = openedBy(records, hours.study);
  if (openHoldout) mayOpen(records, hours);
  if (opened !== null && trialsOf(records, hours.study).size >= keys.search.trials) return;
  mayTune(records, hours);
  if (records.some(record => record.kind === 'study' && record.study === hours.study)) return;
  registry.append({
    ...{ kind: 'study', study: hours.study, at: new Date(now()).toISOString(), by, version },
    ...{ file, tapes: hours.tapes, heldOut: hours.heldOut },
  });
}

/** Of its first record: when it began, by whom, from which file. */
const runOf = (registry: Registry, study: string): string =>
  digestOfData(registry.records().find(record => record.kind === 'study' && record.study === study) ?? study);

/** Recorded first, read then: whoever is killed between the two has opened it. Run `here`, by this process, whoever runs the trials. */
async function openHoldout(
  run: StudyRun,
  best: TrialRecord | null,
  pieces: () => readonly Piece[],
  here: TrialExecutor,
): Promise<void> {
  const { registry, hours, study, signed, terms, progress } = run;
  if (best?.config === null || best === null)
    throw new UsageError('no trial keeps the constraints: there is nothing to open the holdout for; it stays closed');
  mayOpen(registry.records(), hours);
  const opened: OpenedRecord = { kind: 'opened', ...signed(), tapes: hours.heldOut, config: best.config };
  registry.append(opened);
  // Two at once: the first in the registry has it.
  mayOpen(registry.records(), hours, opened);
  const config = configAt(best.point, study.keys.parameters, study.base);
  if (typeof config === 'string') throw new Error(`the best configuration is none: ${config}`);
  progress.begin(1_000, 'the holdout');
  try {
    await here.run(
      [{ number: best.number, point: best.point, digest: best.config, config }],
      { ...terms, pieces: pieces() },
      NEVER_PRUNED,
      (_, { measures, blocks }) => {
        if (measures === null) throw new Error('the holdout was run without a result');
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
  const ranked = [...feasible].sort(
    (a, b) => objectivesOf(b, keys.objectives)[0]! - objectivesOf(a, keys.objectives)[0]! || a.number - b.number,
  );
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
