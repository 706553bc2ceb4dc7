/**
 * Threads of a worker, which leave the main thread free to answer the queue. Each thread runs one trial at a time; all
 * threads share the rows.
 */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { REPLAY_THREAD } from '../../index.ts';
import type { TrialOutcome } from '../tune/trialRuns.ts';
import type { Piece } from '../tune/tuneTapes.ts';
import { digestOfData } from '../tune/study.ts';
import type { FetchedPaths, TrialThreadResult, TrialThreadWork } from './trialThread.ts';
import type { QueuedSetting, TrialJob } from './trialJob.ts';

/** Error for a thread that ended during its trial, because the worker terminated the thread or memory ran out. */
export class ThreadEnded extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'ThreadEnded';
  }
}

type Thread = { worker: Worker | null; key: string | null; isFree: boolean };
type Opened = { readonly pieces: Promise<readonly Piece[]>; readonly paths: FetchedPaths };

/** Maximum number of studies whose rows remain in memory; the least recently used study is dropped first. */
const STUDIES_KEPT = 2;

const startTrialThread = (): Worker =>
  new Worker(fileURLToPath(new URL('./trialThread.js', import.meta.url)), REPLAY_THREAD);

export class TrialThreads {
  readonly #start: () => Worker;
  readonly #threads: Thread[];
  readonly #studies = new Map<string, Opened>();
  #isEnded = false;

  /** `start` starts the program of a thread. */
  constructor(count: number, start: () => Worker = startTrialThread) {
    this.#start = start;
    this.#threads = Array.from({ length: count }, () => ({ worker: null, key: null, isFree: true }));
  }

  /**
   * Runs a trial, at most one per thread. `share[0]` is its progress. Rejects with `ThreadEnded`, or with the trial's
   * error.
   */
  async run(job: TrialJob, paths: FetchedPaths, share: Float64Array): Promise<TrialOutcome> {
    const thread = this.#threads.find(({ isFree }) => isFree);
    if (thread === undefined) throw new Error('no thread is free for another trial');
    thread.isFree = false;
    try {
      const key = digestOfData(job.setting);
      if (thread.key !== key) {
        const pieces = await this.#piecesOf(key, job.setting, paths, thread);
        // The key is reset before the thread opens the study, so that a thread that fails to open the study has no key.
        thread.key = null;
        await this.#asked(thread, { kind: 'take', key, setting: job.setting, paths, pieces });
        thread.key = key;
      }
      const result = await this.#asked(thread, { kind: 'run', key, job, share });
      if (result.kind !== 'ran') throw new Error(`a thread answered ${result.kind}`);
      return result.outcome;
    } finally {
      thread.isFree = true;
    }
  }

  /** Ends all threads, including those with a running trial. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await Promise.all(this.#threads.flatMap(({ worker }) => (worker === null ? [] : [worker.terminate()])));
  }

  /**
   * Returns the pieces of a study's recordings. The first thread that needs these pieces opens them once for all
   * threads.
   */
  #piecesOf(key: string, setting: QueuedSetting, paths: FetchedPaths, thread: Thread): Promise<readonly Piece[]> {
    const known = this.#studies.get(key);
    if (known !== undefined) {
      this.#studies.delete(key);
      this.#studies.set(key, known);
      return known.pieces;
    }
    const pieces = this.#asked(thread, { kind: 'open', setting, paths }).then(result => {
      if (result.kind !== 'opened') throw new Error(`a thread answered ${result.kind}`);
      return result.pieces;
    });
    this.#studies.set(key, { pieces, paths });
    pieces.catch(() => this.#studies.delete(key));
    for (const oldest of [...this.#studies.keys()].slice(0, -STUDIES_KEPT)) this.#studies.delete(oldest);
    return pieces;
  }

  #asked(thread: Thread, work: TrialThreadWork): Promise<TrialThreadResult> {
    if (this.#isEnded) return Promise.reject(new ThreadEnded('the worker is stopping'));
    const worker = (thread.worker ??= this.#start());
    return new Promise((resolve, reject) => {
      const over = (settle: () => void): void => {
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        settle();
      };
      const gone = (why: string): void =>
        over(() => {
          thread.worker = null;
          thread.key = null;
          reject(new ThreadEnded(why));
        });
      const onMessage = (result: TrialThreadResult): void =>
        over(() => (result.kind === 'failed' ? reject(new Error(result.message)) : resolve(result)));
      const onError = (error: Error): void => gone(error.message);
      const onExit = (code: number): void => gone(`the thread of the trial ended with exit code ${code}`);
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage(work);
    });
  }
}
