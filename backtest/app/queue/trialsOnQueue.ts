/**
 * Study whose trials run on the workers of a queue. Only this process requests trials, collects results and records
 * them.
 */
import { counted, textOfError } from '../../../src/core/index.ts';
import { randomUUID } from 'node:crypto';
import type { Job, Queue } from 'bullmq';
import { storeRecording } from '../tapeStore/recordingFiles.ts';
import type { StoredFiles } from '../tapeStore/storedFiles.ts';
import { withProgress, type Progress } from '../../../src/messages/progress.ts';
import { digestOfTape } from '../backtest/market.ts';
import { strategyTextIn } from '../../../src/config.ts';
import { configTextAt } from '../tune/parameters.ts';
import type { TrialExecutor } from '../tune/trialExecutor.ts';
import type { AskedTrial, TrialOutcome } from '../tune/trialRuns.ts';
import type { StudySetup } from '../tune/tune.ts';
import { referencePaths } from '../tune/tuneTapes.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { connectQueues, isLostConnection, type BullQueues } from './bullQueues.ts';
import { buildText, HELLO_QUEUE, JOBS_KEPT_MS, PresenceBoard, ANNOUNCE_EVERY_MS, type Presence } from './presence.ts';
import { programCode } from './programCode.ts';
import { QueueHealth } from './queueHealth.ts';
import type { QueueAddress } from './queueAddress.ts';
import {
  plainLatencies,
  queuedOutcomeOf,
  trialJobId,
  trialQueueName,
  type QueuedSetting,
  type TrialJob,
} from './trialJob.ts';
import { paused, STALLED_MAX } from './trialWorker.ts';

export type QueueOptions = {
  readonly address: QueueAddress;
  /** Store from which workers fetch recordings; `null` if the study uses no recordings. */
  readonly store: StoredFiles | null;
  readonly version: string;
  readonly by: string;
  readonly now: () => number;
  readonly progress: Progress;
  /** Receives lines for the operator. */
  readonly tell: (line: string) => void;
  readonly stop: AbortSignal;
};

/** Connected queue, before any trial is requested. */
export type TrialQueue = {
  /**
   * Uploads the recordings and announces the study to the workers. Rejects with `UsageError` for errors that the
   * operator can fix.
   */
  executor(setup: StudySetup): Promise<TrialExecutor>;
  end(): Promise<void>;
};

/** Maximum number of attempts to run a trial whose worker lacks the recordings or enough memory. */
const ATTEMPTS = 8;
const RETRY_MS = 3_000;
/**
 * Polling interval for unfinished trials, as a share of the time since the batch started; at least `LOOK_MIN_MS` and at
 * most `LOOK_MAX_MS`.
 */
const LOOK_SHARE = 0.02;
const LOOK_MIN_MS = 25;
const LOOK_MAX_MS = 1_000;
/** Time in ms after which a poll reads the details of finished jobs even if their number is unchanged. */
const LOOK_CLOSELY_MS = 5_000;

/** Connects to the queue. Rejects with `UsageError` if it is unavailable. */
export async function openTrialQueue(options: QueueOptions): Promise<TrialQueue> {
  const { address, tell, now } = options;
  const health = new QueueHealth(address.shown, tell, now);
  const queues = await connectQueues(address, error => health.heard(error));
  return {
    executor: async setup => {
      const code = programCode();
      const setting = await settingOf(setup, options);
      const attendance = new Attendance(options, setup.run, code, queues, health);
      await attendance.begin();
      return new QueuedTrials(options, code, setup, setting, queues.queue(trialQueueName(code)), health, attendance);
    },
    end: () => queues.end(),
  };
}

async function settingOf(
  { study, tapes, latencies, references: opened }: StudySetup,
  options: QueueOptions,
): Promise<QueuedSetting> {
  const { keys, config } = study;
  const { store, progress } = options;
  const stored = async (path: string): Promise<string> => {
    if (store === null)
      throw new UsageError(
        `${study.file}: workers need the recordings of the study; choose a store with --tapes DIR (a folder shared by all machines) or --tapes s3://BUCKET/PREFIX`,
      );
    try {
      return await withProgress(progress, 'storing tapes', onShare => storeRecording(store, path, onShare));
    } catch (error) {
      throw new UsageError(textOfError(error));
    }
  };
  const queued: QueuedSetting['tapes'] = [];
  for (const { name, from, tuned } of tapes)
    if (tuned !== null)
      queued.push({
        ...{ name, tuned },
        recorded:
          'flow' in from ? from : { files: await stored(from.path), ...(from.session && { session: from.session }) },
      });
  const references: QueuedSetting['references'] = {};
  for (const [book, path] of Object.entries(referencePaths(study)))
    references[book] = { files: await stored(path), digest: digestOfTape(opened.get(book)!) };
  return {
    ...{ book: config.book, seed: keys.search.seed, models: keys.models, objective: keys.objectives[0]! },
    ...{ segments: keys.segments, startsAfterSeconds: keys.startsAfterSeconds },
    ...{ latencies: latencies.map(plainLatencies), tapes: queued, references },
  };
}

/** Announces the study every few seconds, and tracks the workers. */
class Attendance {
  readonly #options: QueueOptions;
  readonly #own: Omit<Presence, 'at'>;
  readonly #board: PresenceBoard;
  readonly #health: QueueHealth;
  readonly #ended = new AbortController();
  #going: Promise<void> = Promise.resolve();
  #workers = 0;
  #hasHadWorkers = false;
  #isToldWaiting = false;
  readonly #since: number;
  /** Operator of another process that runs the same study with the same registry; `null` if there is none. */
  twin: string | null = null;
  /** Error if no present worker can ever run the study; `null` otherwise. */
  refusal: UsageError | null = null;

  constructor(options: QueueOptions, run: string, code: string, queues: BullQueues, health: QueueHealth) {
    const { by, version } = options;
    this.#options = options;
    this.#own = { kind: 'study', id: randomUUID(), study: run, version, code, who: by.slice(0, 200) };
    this.#since = options.now();
    this.#board = new PresenceBoard(queues.queue(HELLO_QUEUE));
    this.#health = health;
  }

  /** Announces the study. Rejects with `UsageError` if workers are present and all have another version. */
  async begin(): Promise<void> {
    await this.#look();
    if (this.refusal !== null) {
      await this.end();
      throw this.refusal;
    }
    this.#going = this.#goOn();
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#going;
    await Promise.race([
      this.#board.leave({ ...this.#own, at: this.#options.now() }).catch(() => undefined),
      paused(RETRY_MS),
    ]);
  }

  async #goOn(): Promise<void> {
    const { signal } = this.#ended;
    for (await paused(ANNOUNCE_EVERY_MS, signal); !signal.aborted; await paused(ANNOUNCE_EVERY_MS, signal))
      try {
        await this.#look();
        this.#health.works();
      } catch (error) {
        this.#health.heard(error);
      }
  }

  async #look(): Promise<void> {
    const { now, tell, address } = this.#options;
    await this.#board.say({ ...this.#own, at: now() });
    const { here } = await this.#board.seen(now());
    // A process that was killed earlier does not count: it has announced nothing since this study started.
    const isTwin = ({ study, id, at }: Presence): boolean =>
      study === this.#own.study && id !== this.#own.id && at > this.#since;
    this.twin ??= here.find(isTwin)?.who ?? null;
    const workers = here.filter(({ kind }) => kind === 'worker');
    this.#workers = workers.filter(({ code }) => code === this.#own.code).length;
    this.#hasHadWorkers ||= this.#workers > 0;
    const [other] = workers;
    if (!this.#hasHadWorkers && other !== undefined)
      this.refusal = new UsageError(
        `${address.shown}: the worker ${other.who} runs ${buildText(other)}, but this process runs ${buildText(this.#own)}; run the same build on both machines`,
      );
    else if (this.#workers === 0 && !this.#isToldWaiting) {
      this.#isToldWaiting = true;
      tell(`no worker at ${address.shown}; start a worker with puntas worker --queue ${address.shown}`);
    } else if (this.#workers > 0) this.#isToldWaiting = false;
  }
}

type Waiting = { readonly asked: AskedTrial; readonly job: TrialJob };

class QueuedTrials implements TrialExecutor {
  readonly #options: QueueOptions;
  readonly #code: string;
  readonly #setup: StudySetup;
  readonly #setting: QueuedSetting;
  readonly #queue: Queue;
  readonly #health: QueueHealth;
  readonly #attendance: Attendance;
  /** Requested and unfinished trials, by the id of their jobs. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(
    options: QueueOptions,
    code: string,
    setup: StudySetup,
    setting: QueuedSetting,
    queue: Queue,
    health: QueueHealth,
    attendance: Attendance,
  ) {
    this.#options = options;
    this.#code = code;
    this.#setup = setup;
    this.#setting = setting;
    this.#queue = queue;
    this.#health = health;
    this.#attendance = attendance;
  }

  async run(...[batch, , bounds, onEnded, onShare]: Parameters<TrialExecutor['run']>): Promise<void> {
    const { now, stop } = this.#options;
    this.#waiting.clear();
    // Two points of a batch may have equal configurations, and therefore share a job.
    const twins: Waiting[] = [];
    for (const asked of batch) {
      const job = this.#jobOf(asked, [...bounds]);
      const id = trialJobId(job);
      if (this.#waiting.has(id)) twins.push({ asked, job });
      else this.#waiting.set(id, { asked, job });
    }
    const whole = this.#waiting.size;
    const begun = now();
    let isAsked = false;
    let [over, closely] = [-1, -Infinity];
    while (this.#waiting.size > 0) {
      if (stop.aborted) throw stopped();
      if (this.#attendance.refusal !== null) throw this.#attendance.refusal;
      try {
        if (!isAsked) await this.#ask();
        isAsked = true;
        const found = await this.#over();
        if (found !== over || now() - closely > LOOK_CLOSELY_MS) {
          closely = now();
          const left = this.#waiting.size;
          const shares = await this.#collect((asked, outcome) => {
            onEnded(asked, outcome);
            for (const twin of twins) if (twin.asked.digest === asked.digest) onEnded(twin.asked, outcome);
          });
          // If a trial ended during the collection, the next count differs from `over`, so results are collected again.
          over = found - (left - this.#waiting.size);
          onShare((whole - this.#waiting.size + shares) / whole);
        }
        this.#health.works();
      } catch (error) {
        // A `UsageError` always ends the study. Its text may look like a lost connection, because it may quote a
        // worker's message about the worker's own connection.
        if (error instanceof UsageError || !isLostConnection(error)) throw error;
        this.#health.heard(error);
      }
      const look = Math.min(LOOK_MAX_MS, Math.max(LOOK_MIN_MS, LOOK_SHARE * (now() - begun)));
      if (this.#waiting.size > 0) await paused(look, stop);
    }
  }

  /** Removes waiting trials. Running trials end on their workers, and their results are kept for a day. */
  async end(): Promise<void> {
    await Promise.race([
      Promise.allSettled([...this.#waiting.keys()].map(id => this.#queue.remove(id))),
      paused(RETRY_MS),
    ]);
    await this.#attendance.end();
  }

  #jobOf(asked: AskedTrial, bounds: TrialJob['bounds']): TrialJob {
    const { study, digest, run } = this.#setup;
    const strategyText = strategyTextIn(study.base);
    return {
      ...{ form: 1, version: this.#options.version, code: this.#code, study: digest, run, number: asked.number },
      text: configTextAt(asked.point, study.keys.parameters, study.base),
      ...(strategyText !== undefined && { strategyText }),
      ...{ config: asked.digest, bounds, setting: this.#setting },
    };
  }

  /** Requests the trials that are not in the queue yet. Replaces jobs that failed in an earlier run. */
  async #ask(): Promise<void> {
    for (const id of this.#waiting.keys()) {
      const job = (await this.#queue.getJob(id)) as Job | undefined;
      if (job?.finishedOn !== undefined && isWithoutResult(job)) await this.#queue.remove(id);
    }
    await this.#add([...this.#waiting.entries()]);
  }

  async #add(entries: readonly (readonly [string, Waiting])[]): Promise<void> {
    const age = JOBS_KEPT_MS / 1_000;
    await this.#queue.addBulk(
      entries.map(([jobId, { job }]) => ({
        name: 'trial',
        data: job,
        opts: {
          ...{ jobId, attempts: ATTEMPTS, backoff: { type: 'fixed', delay: RETRY_MS } },
          ...{ removeOnComplete: { age }, removeOnFail: { age } },
        },
      })),
    );
  }

  /** Returns the number of finished jobs in the queue, of all studies. */
  async #over(): Promise<number> {
    const { completed = 0, failed: without = 0 } = await this.#queue.getJobCounts('completed', 'failed');
    return completed + without;
  }

  /** Reports every finished trial in batch order. Returns the summed progress of the unfinished trials. */
  async #collect(onEnded: (asked: AskedTrial, outcome: TrialOutcome) => void): Promise<number> {
    const entries = [...this.#waiting.entries()];
    const jobs = (await Promise.all(entries.map(([id]) => this.#queue.getJob(id)))) as (Job | undefined)[];
    const lost = entries.filter((_, i) => jobs[i] === undefined);
    if (lost.length > 0) {
      const { twin } = this.#attendance;
      this.#options.tell(
        twin === null
          ? `${this.#options.address.shown} lost ${counted(lost.length, 'trial')}, probably because the server does not store its data on disk; adding the trials to the queue again`
          : `${twin} also runs this study with this registry, and removed ${counted(lost.length, 'trial')} of this process from the queue; adding the trials again; stop one of the two processes`,
      );
      await this.#add(lost);
    }
    let shares = 0;
    const over: string[] = [];
    for (const [i, [id, { asked }]] of entries.entries()) {
      const job = jobs[i];
      if (job?.finishedOn === undefined) {
        shares += typeof job?.progress === 'number' ? job.progress : 0;
        continue;
      }
      if (isWithoutResult(job)) throw failed(asked, job.failedReason);
      const outcome = queuedOutcomeOf(job.returnvalue);
      if (typeof outcome === 'string') {
        // Once this job is removed, a restarted study requests the trial again.
        await this.#queue.remove(id);
        throw new UsageError(
          `trial ${asked.number}: an invalid result from the queue at ${this.#options.address.shown} was dropped (${outcome}); check which other program writes to this queue, and run the same command again`,
          1,
        );
      }
      // Records the result before the job is removed. After a crash between these two steps, the job expires.
      onEnded(asked, outcome);
      this.#waiting.delete(id);
      over.push(id);
    }
    await Promise.all(over.map(id => this.#queue.remove(id)));
    return shares;
  }
}

/** Whether a job has no result; a retried job may have both a failure reason and a result. */
const isWithoutResult = ({ returnvalue }: Job): boolean => returnvalue === undefined || returnvalue === null;

const failed = ({ number }: AskedTrial, reason: string): Error =>
  new UsageError(
    /stalled more than allowable/.test(reason)
      ? `trial ${number}: workers died ${STALLED_MAX + 1} times while running this trial; check whether the workers have enough memory`
      : `trial ${number} failed on a worker: ${reason}`,
    1,
  );

const stopped = (): Error =>
  new UsageError('stopped; finished trials are in the registry, and the same command runs the remaining trials', 1);
