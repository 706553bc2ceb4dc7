/** `puntas worker`: runs trials from a queue in threads and returns their results, until the worker is stopped. */
import { counted, textOfError } from '../../../src/core/index.ts';
import type { Job, Worker } from 'bullmq';
import type { Log } from '../../../src/live/log.ts';
import { RecordingCache } from '../tapeStore/recordingCache.ts';
import { StoreProblem, type StoredFiles } from '../tapeStore/storedFiles.ts';
import type { TrialOutcome } from '../tune/trialRuns.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { connectQueues, messageOf, type BullQueues } from './bullQueues.ts';
import {
  abandonedCodes,
  buildText,
  HELLO_QUEUE,
  isExpired,
  isStudyHere,
  JOBS_KEPT_MS,
  PresenceBoard,
  ANNOUNCE_EVERY_MS,
  type Presence,
  type Attendants,
} from './presence.ts';
import { programCode } from './programCode.ts';
import { QueueHealth } from './queueHealth.ts';
import type { QueueAddress } from './queueAddress.ts';
import { trialJobOf, trialQueueName, type TrialJob } from './trialJob.ts';
import type { FetchedPaths } from './trialThread.ts';
import { ThreadEnded, TrialThreads } from './trialThreads.ts';

export type WorkerOptions = {
  readonly address: QueueAddress;
  /** Store of the studies' recordings; `null` if only studies of the built-in market can run. */
  readonly store: StoredFiles | null;
  /** Folder for fetched recordings. */
  readonly cache: string;
  /** Maximum size of the cache in bytes; recordings in use may exceed it. */
  readonly cacheBytesMost: number;
  readonly threads: number;
  /** Whether the worker runs the code of strategy files that studies send. */
  readonly runsStrategyFiles: boolean;
  /** Time in ms that a running trial may take after a stop. After this time, the trial is returned to the queue. */
  readonly graceMs: number;
  readonly version: string;
  /** Unique name of this worker for display, made of its process and machine. */
  readonly who: string;
  readonly log: Log;
  readonly now: () => number;
  readonly stop: AbortSignal;
};

/** Maximum time in ms between heartbeats of a worker; after that time, other workers take over its trials. */
const LOCK_MS = 15_000;
const STALLED_LOOK_MS = 5_000;
/** Maximum number of times that a trial is restarted because its worker died. */
export const STALLED_MAX = 10;
const SHARE_EVERY_MS = 2_000;
const RETRY_MS = 2_000;
const STORE_PAUSE_MS = 5_000;
const CLEAN_EVERY_MS = 3_600_000;
const TIDY_EVERY_MS = 60_000;
const CLEAN_MAX = 10_000;

/**
 * Runs until the worker is stopped and every trial is done or returned to the queue. Rejects with `UsageError` if the
 * worker cannot run trials.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { address, version, who, log, now } = options;
  const health = new QueueHealth(address.shown, sentence => log.warn({}, sentence), now);
  const code = programCode();
  const queues = await connectQueues(address, error => health.heard(error));
  const trials = new Trials(options, code, queues);
  const presence = { kind: 'worker', id: idOf(who), study: '', version, code, who } as const;
  try {
    await trials.whileNotStopped(() => attendUntilStopped(presence, queues, health, trials, options));
  } finally {
    await queues.end();
    log.info({}, `the worker ended; ${trials.countText()}`);
  }
}

/** Announces the worker, tracks other participants and deletes expired jobs until stopped. */
async function attendUntilStopped(
  own: Omit<Presence, 'at'>,
  queues: BullQueues,
  health: QueueHealth,
  trials: Trials,
  { log, now, stop, address, threads }: WorkerOptions,
): Promise<void> {
  const stops = [stop, trials.stopped];
  const board = new PresenceBoard(queues.queue(HELLO_QUEUE));
  const refused = new Set<string>();
  let cleaned = -Infinity;
  let isThere = false;
  const isStopped = (): boolean => stops.some(({ aborted }) => aborted);
  while (!isStopped()) {
    try {
      const seen = await board.seen(now());
      for (const { kind, id, code, version, who } of seen.here)
        if (kind === 'study' && code !== own.code && !refused.has(id)) {
          refused.add(id);
          log.warn(
            {},
            `this worker does not run the study of ${who}, because the study needs ${buildText({ version, code })} and the worker runs ${buildText(own)}; run the same build on both machines`,
          );
        }
      // Announces the worker only after the warnings about studies of other versions, because such studies end when
      // they see the worker.
      await board.say({ ...own, at: now() });
      health.works();
      if (!isThere)
        log.info({}, `the worker runs trials from ${address.shown}, up to ${threads} at a time; ${buildText(own)}`);
      isThere = true;
      if (now() - cleaned > CLEAN_EVERY_MS) {
        cleaned = now();
        await deleteExpired(seen, queues, board, own.code);
      }
    } catch (error) {
      health.heard(error);
    }
    await paused(ANNOUNCE_EVERY_MS, ...stops);
  }
  await Promise.race([board.leave({ ...own, at: now() }).catch(() => undefined), paused(RETRY_MS)]);
}

/**
 * Deletes results older than a day, and the queues of program versions without a participant for a day. Expired waiting
 * jobs are deleted by the worker that receives them.
 */
async function deleteExpired(
  attendants: Attendants,
  queues: BullQueues,
  board: PresenceBoard,
  code: string,
): Promise<void> {
  const own = queues.queue(trialQueueName(code));
  for (const state of ['completed', 'failed'] as const) await own.clean(JOBS_KEPT_MS, CLEAN_MAX, state);
  for (const abandoned of abandonedCodes(attendants, code))
    await queues.queue(trialQueueName(abandoned)).obliterate({ force: true });
  for (const presence of attendants.forgotten) await board.leave(presence);
}

class Trials {
  /** Signal that ends a worker that cannot run trials. */
  readonly #broken = new AbortController();
  readonly #options: WorkerOptions;
  readonly #code: string;
  readonly #queues: BullQueues;
  readonly #threads: TrialThreads;
  /** Cache of fetched recordings; `null` for a worker without a store. */
  readonly #cache: RecordingCache | null;
  #problem: UsageError | null = null;
  #isGivingBack = false;
  readonly #counts = { done: 0, givenBack: 0 };

  constructor(options: WorkerOptions, code: string, queues: BullQueues) {
    this.#options = options;
    this.#code = code;
    this.#queues = queues;
    this.#threads = new TrialThreads(options.threads);
    const { store, cache: dir, cacheBytesMost: bytesMost, log, now } = options;
    const tell = (sentence: string): void => log.warn({}, sentence);
    this.#cache = store && new RecordingCache({ store, dir, bytesMost, now, tell });
  }

  get stopped(): AbortSignal {
    return this.#broken.signal;
  }

  countText(): string {
    const { done, givenBack } = this.#counts;
    return `${counted(done, 'trial')} completed${givenBack === 0 ? '' : `, ${givenBack} returned to the queue`}`;
  }

  async whileNotStopped(attended: () => Promise<void>): Promise<void> {
    const { threads, log } = this.#options;
    const worker = this.#queues.worker(trialQueueName(this.#code), (job, token) => this.#run(job, token ?? '', log), {
      ...{ concurrency: threads, lockDuration: LOCK_MS, stalledInterval: STALLED_LOOK_MS },
      ...{ maxStalledCount: STALLED_MAX, runRetryDelay: RETRY_MS },
    });
    worker.on('stalled', () => log.warn({}, 'a trial was returned to the queue, because its worker died'));
    const inUse = setInterval(() => this.#cache?.markInUse(), ANNOUNCE_EVERY_MS);
    const tidied = setInterval(() => void this.#tidy(), TIDY_EVERY_MS);
    void this.#tidy();
    try {
      await attended();
      await this.#ended(worker);
    } finally {
      clearInterval(inUse);
      clearInterval(tidied);
    }
    if (this.#problem !== null) throw this.#problem;
  }

  async #ended(worker: Worker): Promise<void> {
    const { stop, graceMs, log } = this.#options;
    const isBusy = this.#isBusy > 0;
    if (stop.aborted)
      log.info({}, isBusy ? `stopping; running trials have ${Math.round(graceMs / 1_000)} s to finish` : 'stopping');
    const timer = setTimeout(() => this.#giveBack(), graceMs);
    try {
      await closed(worker, graceMs + LOCK_MS);
    } finally {
      clearTimeout(timer);
      await this.#threads.end();
    }
  }

  /** Removes fetched recordings that are no longer needed; logs failures and continues. */
  async #tidy(): Promise<void> {
    const { cache, log } = this.#options;
    await this.#cache?.tidy().catch((error: unknown) => log.warn({}, `${cache}: ${messageOf(error)}`));
  }

  #isBusy = 0;

  #giveBack(): void {
    this.#isGivingBack = true;
    void this.#threads.end();
  }

  async #run(queued: Job, token: string, log: Log): Promise<TrialOutcome> {
    const { now } = this.#options;
    const job = await this.#taken(queued);
    const name = `trial ${job.number} (${job.config.slice(0, 8)}) of study ${job.study.slice(0, 12)}`;
    const begun = now();
    this.#isBusy++;
    log.info({}, `${name} starts${queued.stalledCounter > 0 ? ' again, because its worker died' : ''}`);
    const share = new Float64Array(new SharedArrayBuffer(8));
    const watch = setInterval(() => void queued.updateProgress(share[0]!).catch(() => undefined), SHARE_EVERY_MS);
    try {
      const run = (paths: FetchedPaths): Promise<TrialOutcome> => this.#threads.run(job, paths, share);
      const hashes = recordingsOf(job);
      const outcome = hashes.length === 0 ? await run({}) : await (await this.#cacheFor(job)).use(hashes, run);
      this.#counts.done++;
      log.info({}, `${name}: ${outcome.state} after ${((now() - begun) / 1_000).toFixed(1)} s`);
      return outcome;
    } catch (error) {
      const problem = this.#problem;
      if (this.#isGivingBack || (problem !== null && error === problem)) {
        await queued.moveToWait(token);
        this.#counts.givenBack++;
        log.info({}, `${name} is returned to the queue`);
        throw this.#queues.givenBack();
      }
      const sentence = textOfError(error);
      log.error({}, `${name}: ${sentence}`);
      throw await failedTrial(error, sentence, this.#queues, this.#options.stop);
    } finally {
      clearInterval(watch);
      this.#isBusy--;
    }
  }

  async #taken({ data, timestamp }: Job): Promise<TrialJob> {
    const job = trialJobOf(data);
    if (typeof job === 'string') throw this.#queues.hopeless(`invalid trial in the queue: ${job}`);
    if (job.code !== this.#code)
      throw this.#queues.hopeless(
        'the version of this worker differs from the version that the trial needs; run the same build on both machines',
      );
    const refusal = strategyFileRefusal(job, this.#options.runsStrategyFiles);
    if (refusal !== null) throw this.#queues.hopeless(refusal);
    if (await isExpired(this.#options.now() - timestamp, job.run, () => this.#seen()))
      throw this.#queues.hopeless(
        'the trial expired, because it waited for more than a day and its study is no longer running',
      );
    return job;
  }

  #seen(): Promise<Attendants> {
    return new PresenceBoard(this.#queues.queue(HELLO_QUEUE)).seen(this.#options.now());
  }

  /**
   * Returns the cache. A worker without a cache ends, because its operator must choose a store with --tapes. If the
   * trial's study has already ended, only the trial fails.
   */
  async #cacheFor(job: TrialJob): Promise<RecordingCache> {
    if (this.#cache !== null) return this.#cache;
    if (!isStudyHere(job.run, await this.#seen()))
      throw this.#queues.hopeless(
        'a worker without --tapes cannot run this trial, and the study of the trial has already ended',
      );
    this.#problem ??= new UsageError(
      'the study uses recordings; pass --tapes with the DIR or s3://BUCKET/PREFIX that puntas tune uses',
    );
    this.#broken.abort();
    throw this.#problem;
  }
}

/**
 * Returns the error with which a trial fails. The queue retries a trial after a problem of the store, or if the thread
 * of the trial ended. Any other error is final.
 */
export const trialError = (error: unknown, sentence: string, { hopeless }: Pick<BullQueues, 'hopeless'>): Error =>
  error instanceof StoreProblem || error instanceof ThreadEnded ? new Error(sentence) : hopeless(sentence);

/**
 * Returns the error with which a trial fails. If the store could not provide a file, waits first, which delays the
 * retry; `stop` ends the wait.
 */
export async function failedTrial(
  error: unknown,
  sentence: string,
  queues: Pick<BullQueues, 'hopeless'>,
  stop: AbortSignal,
): Promise<Error> {
  // Another machine may have the missing file, or this machine may get it later.
  if (error instanceof StoreProblem) await paused(STORE_PAUSE_MS, stop);
  return trialError(error, sentence, queues);
}
/**
 * Returns why a worker does not run the strategy file of a job; `null` if the worker runs the file, or if the job has
 * none.
 */
export const strategyFileRefusal = ({ strategyText }: TrialJob, runsStrategyFiles: boolean): string | null =>
  strategyText === undefined || runsStrategyFiles
    ? null
    : 'the study has a strategy file, and a worker runs the code of a study only with --strategy-files; start the worker with this flag';

/** Returns the hashes that identify the recordings of a job. */
const recordingsOf = ({ setting: { tapes, references } }: TrialJob): readonly string[] => [
  ...tapes.flatMap(({ recorded }) => ('files' in recorded ? [recorded.files] : [])),
  ...Object.values(references).map(({ files }) => files),
];

/** Closes a worker; waits at most `mostMs` for a server that does not answer. */
async function closed(worker: Worker, mostMs: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([worker.close(), paused(mostMs, over.signal)]);
  over.abort();
}

/** Resolves after `ms` milliseconds, or as soon as one of `stops` is aborted. */
export function paused(ms: number, ...stops: readonly AbortSignal[]): Promise<void> {
  return new Promise(resolve => {
    if (stops.some(({ aborted }) => aborted)) return resolve();
    const over = (): void => {
      clearTimeout(timer);
      for (const stop of stops) stop.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    for (const stop of stops) stop.addEventListener('abort', over);
  });
}

/** Converts the worker's name to a participant id. Only the end of the name is kept, because the end is unique. */
const idOf = (who: string): string => who.replace(/[^\w.-]/g, '-').slice(-80);
