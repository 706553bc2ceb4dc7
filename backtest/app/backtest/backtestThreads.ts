/**
 * Threads for groups of jobs. Threads persist across groups and share one set of rows in memory or one stored tape. If
 * one thread is enough, the caller's thread does the work.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { REPLAY_THREAD, rowsInShared, type ReplayReport } from '../../index.ts';
import { haveSameFeed, runJobs, sourceFor, type ModelJob, type RowSource } from './backtestModel.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';

/** Jobs of a thread. Entries of `shares` from index `first` on are the progress of the jobs. */
export type ThreadWork = {
  readonly jobs: readonly ModelJob[];
  readonly source: RowSource;
  readonly shares: Float64Array;
  readonly first: number;
};

/** Result of a group of jobs. `wrong`: whether the failure is an error that the operator can fix. */
export type ThreadResult =
  | { readonly kind: 'done'; readonly reports: readonly ReplayReport[] }
  | { readonly kind: 'failed'; readonly message: string; readonly wrong: boolean };

export type ModelRunner = {
  /**
   * Runs jobs independently. Reports are in job order, whatever the number of threads. `onProgress` receives the share
   * that is done, 0 to 1, as the mean over all jobs. Rejects with the first failure; only `end` may be called
   * afterwards.
   */
  run(
    jobs: readonly ModelJob[],
    source: RowSource,
    onProgress: (share: number) => void,
  ): Promise<readonly ReplayReport[]>;
  /** Ends the threads, even if jobs are still running. */
  end(): Promise<void>;
};

const LOOK_EVERY_MS = 250;
/** Maximum number of jobs per group; larger groups hardly share more work, but need more memory. */
const GROUP_MAX = 16;

/**
 * Groups consecutive jobs that can share a feed, in groups of nearly equal size, with at least one group per thread if
 * possible.
 */
export function groupsOf<Job extends Pick<ModelJob, 'latencies' | 'seed'>>(
  jobs: readonly Job[],
  threads: number,
): readonly (readonly Job[])[] {
  const size = Math.min(GROUP_MAX, Math.ceil(jobs.length / threads));
  const groups: Job[][] = [];
  for (const job of jobs) {
    const group = groups.at(-1);
    if (group !== undefined && group.length < size && haveSameFeed(group[0]!, job)) group.push(job);
    else groups.push([job]);
  }
  return groups;
}

/**
 * Returns a runner with at most `threads` threads, started on demand. If `isNeverHere` is true, the caller's thread runs
 * no job, so that it can report the progress while a job loops. Threads are reused, because code that has already
 * run in a thread is many times faster.
 */
export function modelRunner(threads: number, isNeverHere = false): ModelRunner {
  const file = fileURLToPath(new URL('./backtestThread.js', import.meta.url));
  const workers: Worker[] = [];
  const begun = (index: number): Worker => (workers[index] ??= new Worker(file, REPLAY_THREAD));
  return {
    // A program run from sources has no compiled file for a thread, so the caller's thread runs the jobs.
    run: (jobs, given, onProgress) => {
      const source = sourceFor(jobs, given);
      return (!isNeverHere && (threads === 1 || (jobs.length === 1 && workers.length === 0))) || !existsSync(file)
        ? runHere(jobs, source, onProgress)
        : runInThreads(jobs, source, onProgress, Math.min(threads, jobs.length), begun);
    },
    end: async () => void (await Promise.all(workers.map(worker => worker.terminate()))),
  };
}

/** Runs one set of jobs in its own threads. A strategy file, which may loop, never runs in the caller's thread. */
export async function runModels(
  jobs: readonly ModelJob[],
  source: RowSource,
  threads: number,
  onProgress: (share: number) => void,
): Promise<readonly ReplayReport[]> {
  const runner = modelRunner(
    threads,
    jobs.some(({ config }) => 'file' in config.strategy),
  );
  try {
    return await runner.run(jobs, source, onProgress);
  } finally {
    await runner.end();
  }
}

async function runHere(
  jobs: readonly ModelJob[],
  source: RowSource,
  onProgress: (share: number) => void,
): Promise<readonly ReplayReport[]> {
  const reports: ReplayReport[] = [];
  for (const group of groupsOf(jobs, 1)) {
    const shares = group.map(() => 0);
    const done = reports.length;
    const heard = (job: number, share: number): void => {
      shares[job] = share;
      onProgress((done + shares.reduce((sum, of) => sum + of, 0)) / jobs.length);
    };
    reports.push(...(await runJobs(group, source, heard)));
  }
  return reports;
}

async function runInThreads(
  jobs: readonly ModelJob[],
  source: RowSource,
  onProgress: (share: number) => void,
  threads: number,
  worker: (index: number) => Worker,
): Promise<readonly ReplayReport[]> {
  const shared: RowSource = source.kind === 'memory' ? { kind: 'memory', rows: rowsInShared(source.rows) } : source;
  const shares = new Float64Array(new SharedArrayBuffer(8 * jobs.length));
  const watch = setInterval(
    () => onProgress(shares.reduce((sum, share) => sum + share, 0) / jobs.length),
    LOOK_EVERY_MS,
  );
  const left = groupsOf(jobs, threads).map((group, i, all) => ({
    group,
    i,
    first: all.slice(0, i).reduce((sum, { length }) => sum + length, 0),
  }));
  const reports: (readonly ReplayReport[])[] = [];
  const worked = async (_: unknown, thread: number): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { group, i, first } = next;
      reports[i] = await reportsFrom(worker(thread), { jobs: group, source: shared, shares, first });
    }
  };
  try {
    await Promise.all(Array.from({ length: threads }, worked));
    return reports.flat();
  } finally {
    clearInterval(watch);
  }
}

function reportsFrom(worker: Worker, work: ThreadWork): Promise<readonly ReplayReport[]> {
  return new Promise((resolve, reject) => {
    const ended = (code: number): void =>
      reject(new Error(`a thread of the backtest ended with exit code ${code} before it returned a report`));
    worker.once('error', reject);
    worker.once('exit', ended);
    worker.once('message', (result: ThreadResult) => {
      worker.off('error', reject);
      worker.off('exit', ended);
      if (result.kind === 'done') resolve(result.reports);
      else reject(result.wrong ? new UsageError(result.message) : new Error(result.message));
    });
    worker.postMessage(work);
  });
}
