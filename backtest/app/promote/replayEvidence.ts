/**
 * Evidence from replays: the result of a candidate on recordings that its tuning did not use, under the less favorable
 * fill model.
 */
import type { Config } from '../../../src/config.ts';
import { modelRunner } from '../backtest/backtestThreads.ts';
import { latenciesOf } from '../backtest/latencyFlags.ts';
import type { Progress } from '../../../src/messages/progress.ts';
import { intervalOfSum } from '../tune/evidence.ts';
import type { Study } from '../tune/study.ts';
import { studySchema } from '../tune/studySchema.ts';
import { runBatch, notRunReason, type TrialOutcome, type TrialTerms } from '../tune/trialRuns.ts';
import { piecesOf, referencesOf, tuneTapes } from '../tune/tuneTapes.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import type { Criteria, ReplayEvidence } from '../../../src/app/promote/evidence.ts';

export type ReplayAsked = {
  readonly config: Config;
  /** File of the candidate, for messages. */
  readonly file: string;
  readonly text: string;
  readonly criteria: Criteria['replay'] & { readonly tapes: NonNullable<Criteria['replay']['tapes']> };
  readonly threads: number;
  readonly progress: Progress;
};

const SEED = 1;

/**
 * Runs the candidate like a trial of `puntas tune`, on the complete tapes. Rejects with `UsageError` if recordings
 * cannot be read, or the configuration cannot run on them.
 */
export async function replayEvidence(asked: ReplayAsked): Promise<ReplayEvidence> {
  const { config, criteria, progress } = asked;
  const study = studyOfOne(asked);
  const latencies = criteria.latenciesMs.map(ms =>
    latenciesOf({ latencyMs: String(ms), feedLatencyMs: String(criteria.feedLatencyMs) }),
  );
  const tapes = await tuneTapes(study, latencies[0]!, progress);
  const references = await referencesOf(study, progress);
  const runner = modelRunner(asked.threads);
  try {
    const terms: TrialTerms = {
      ...{ pieces: piecesOf(tapes, study, latencies[0]!), models: criteria.models, starts: [0], latencies },
      ...{ seed: SEED, references, objective: 'net60s', runner },
    };
    const why = notRunReason(config, terms);
    if (why !== null)
      throw new UsageError(`${asked.file}: the candidate cannot be replayed on the recordings (${why})`);
    const { measures, blocks } = await outcomeOf(config, terms, progress);
    if (measures === null) throw new Error('the replay of the candidate has no result');
    const { major, minor } = terms.pieces[0]!.market.instrument;
    return {
      tapes: tapes.map(({ name, hours }) => ({ name, ...hours })),
      ...{ models: criteria.models, latenciesMs: criteria.latenciesMs.map(String), major, minor, measures },
      interval: intervalOfSum(blocks),
    };
  } finally {
    await runner.end();
  }
}

async function outcomeOf(config: Config, terms: TrialTerms, progress: Progress): Promise<TrialOutcome> {
  let outcome: TrialOutcome | null = null;
  progress.begin(1_000, 'replaying the candidate');
  try {
    await runBatch(
      [{ number: 0, point: {}, digest: '', config }],
      terms,
      () => new Map(),
      (_, ended) => (outcome = ended),
      share => progress.at(1_000 * share),
    );
  } finally {
    progress.end();
  }
  if (outcome === null) throw new Error('the replay of the candidate ended without an outcome');
  return outcome;
}

/** Describes a promotion as a study with one trial, no varied parameters and no holdout. */
function studyOfOne({ config, file, text, criteria }: ReplayAsked): Study {
  const { tapes, models, latenciesMs, feedLatencyMs, reference, segments } = criteria;
  const keys = studySchema.parse({
    ...{
      config: file,
      tapes,
      models,
      latenciesMs,
      feedLatencyMs,
      reference,
      segments,
      search: { seed: SEED, trials: 1 },
    },
    parameters: { none: { choice: [0] } },
  });
  return {
    keys: { ...keys, holdout: { tapes: [] } },
    ...{ file, configFile: file, configText: text, config, base: {}, space: [] },
  };
}
