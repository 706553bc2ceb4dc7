/** Thread of a worker: opens the recordings of a study, or runs its trials one after another. */
import { parentPort } from 'node:worker_threads';
import { textOfError } from '../../../src/core/index.ts';
import { openTape, type Tape } from '../../../src/tape/index.ts';
import { modelRunner } from '../backtest/backtestThreads.ts';
import { digestOfTape } from '../backtest/market.ts';
import { configOf } from '../tune/parameters.ts';
import { NEVER_PRUNED, prunerBy } from '../tune/pruner.ts';
import { digestOfData } from '../tune/study.ts';
import { runBatch, type TrialOutcome, type TrialTerms } from '../tune/trialRuns.ts';
import { digestOfRecording, piecesOf, recordingOf, type Piece } from '../tune/tuneTapes.ts';
import { latenciesFrom, type QueuedSetting, type TrialJob } from './trialJob.ts';

/** Local paths of recordings, by the hash of their files. */
export type FetchedPaths = Readonly<Record<string, string>>;

export type TrialThreadWork =
  | { readonly kind: 'open'; readonly setting: QueuedSetting; readonly paths: FetchedPaths }
  | {
      readonly kind: 'take';
      readonly key: string;
      readonly setting: QueuedSetting;
      readonly paths: FetchedPaths;
      readonly pieces: readonly Piece[];
    }
  | { readonly kind: 'run'; readonly key: string; readonly job: TrialJob; readonly share: Float64Array };

export type TrialThreadResult =
  | { readonly kind: 'opened'; readonly pieces: readonly Piece[] }
  | { readonly kind: 'taken' }
  | { readonly kind: 'ran'; readonly outcome: TrialOutcome }
  | { readonly kind: 'failed'; readonly message: string };

/** Study of the last trial; its rows are in memory that all threads share. */
let taken: { readonly key: string; readonly terms: TrialTerms } | null = null;
const runner = modelRunner(1);

parentPort?.on('message', (work: TrialThreadWork) => {
  void doneOf(work).then(
    result => parentPort?.postMessage(result),
    (error: unknown) => {
      const message = textOfError(error);
      parentPort?.postMessage({ kind: 'failed', message } satisfies TrialThreadResult);
    },
  );
});

async function doneOf(work: TrialThreadWork): Promise<TrialThreadResult> {
  if (work.kind === 'open') return { kind: 'opened', pieces: await opened(work.setting, work.paths) };
  if (work.kind === 'take') {
    taken = null;
    taken = { key: work.key, terms: await termsOf(work.setting, work.paths, work.pieces) };
    return { kind: 'taken' };
  }
  if (taken?.key !== work.key)
    throw new Error('a thread received a trial before it opened the recordings of the study');
  return { kind: 'ran', outcome: await ran(work.job, taken.terms, work.share) };
}

/**
 * Opens the same pieces of the recordings as the tuning process. Fails if the content of a recording differs from the
 * requested content.
 */
async function opened(setting: QueuedSetting, paths: FetchedPaths): Promise<readonly Piece[]> {
  const { book, seed, segments, startsAfterSeconds } = setting;
  const latencies = latenciesFrom(setting.latencies[0]!);
  const tapes = [];
  for (const { name, recorded, tuned } of setting.tapes) {
    const from = 'files' in recorded ? { path: paths[recorded.files]!, session: recorded.session } : recorded;
    const given = await recordingOf(book, from, (_, done) => Promise.resolve(done(() => undefined)));
    same(name, digestOfRecording(given, latencies, seed), tuned.digest);
    tapes.push({ name, given, tuned });
  }
  return piecesOf(tapes, { keys: { segments, startsAfterSeconds, search: { seed } } }, latencies);
}

function same(name: string, here: string, ofStudy: string): void {
  if (here !== ofStudy)
    throw new Error(
      `${name}: expected the recording of the study, with hash ${ofStudy.slice(0, 12)}; this worker has a recording with hash ${here.slice(0, 12)}`,
    );
}

async function termsOf(
  { book: _, seed, models, objective, startsAfterSeconds, latencies, references }: QueuedSetting,
  paths: FetchedPaths,
  pieces: readonly Piece[],
): Promise<TrialTerms> {
  const tapes = new Map<string, Tape>();
  for (const [book, { files, digest }] of Object.entries(references)) {
    const tape = await openTape(paths[files]!, { book });
    same(book, digestOfTape(tape), digest);
    tapes.set(book, tape);
  }
  return {
    ...{ pieces, models, seed, objective, runner, references: tapes },
    ...{ starts: startsAfterSeconds, latencies: latencies.map(latenciesFrom) },
  };
}

async function ran(
  { number, text, strategyText, config: digest, bounds }: TrialJob,
  terms: TrialTerms,
  share: Float64Array,
): Promise<TrialOutcome> {
  const config = configOf(text, strategyText);
  if (typeof config === 'string') throw new Error(`the configuration of trial ${number} is invalid: ${config}`);
  if (digestOfData(config) !== digest)
    throw new Error(
      `the configuration of trial ${number} differs from the configuration in the tuning process; run the same build on both machines`,
    );
  let outcome: TrialOutcome | null = null;
  await runBatch(
    [{ number, point: {}, digest, config }],
    terms,
    prunerBy(bounds.length === 0 ? NEVER_PRUNED : bounds, terms.objective),
    (_, found) => (outcome = found),
    done => (share[0] = done),
  );
  if (outcome === null) throw new Error(`trial ${number} ended without an outcome`);
  return outcome;
}
