/** Fill models side by side in threads that live on from job to job, over one set of rows in shared memory or one stored tape; in this thread where one is enough. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { rowsInShared } from '../../../backtest/index.ts';
import type { ReplayReport } from '../../../backtest/index.ts';
import { runModel, sourceFor } from './backtestModel.ts';
import type { ModelJob, RowSource } from './backtestModel.ts';
import { UsageError } from '../wiring/usageError.ts';

/** What a thread is given, one after another. `shares[index]` is how far its job is. */
export type ThreadWork = {
  readonly job: ModelJob;
  readonly source: RowSource;
  readonly shares: Float64Array;
  readonly index: number;
};

/** What it says at the end of each; `wrong`: a person must change something. */
export type ThreadResult =
  | { readonly kind: 'done'; readonly report: ReplayReport }
  | { readonly kind: 'failed'; readonly message: string; readonly wrong: boolean };

export type ModelRunner = {
  /**
   * Reports in the order of the jobs, whatever the number of threads: no job knows of another. `onProgress` hears the mean share that is
   * done. Rejects with the first failure; then only `end` is left to call.
   */
  run(
    jobs: readonly ModelJob[],
    source: RowSource,
    onProgress: (share: number) => void,
  ): Promise<readonly ReplayReport[]>;
  /** Ends the threads, done or not. */
  end(): Promise<void>;
};

const LOOK_EVERY_MS = 250;

/** At most so many threads, which begin when there is work: one that has run a job runs the next many times quicker than a new one would. */
export function modelRunner(threads: number): ModelRunner {
  const file = fileURLToPath(new URL('./backtestThread.js', import.meta.url));
  const workers: Worker[] = [];
  const begun = (index: number): Worker => (workers[index] ??= new Worker(file));
  return {
    // Where the program runs from its sources there is no compiled thread.
    run: (jobs, given, onProgress) => {
      const source = sourceFor(jobs, given);
      return threads === 1 || (jobs.length === 1 && workers.length === 0) || !existsSync(file)
        ? runHere(jobs, source, onProgress)
        : runInThreads(jobs, source, onProgress, Math.min(threads, jobs.length), begun);
    },
    end: async () => void (await Promise.all(workers.map(worker => worker.terminate()))),
  };
}

/** One set of jobs in threads of its own. */
export async function runModels(
  jobs: readonly ModelJob[],
  source: RowSource,
  threads: number,
  onProgress: (share: number) => void,
): Promise<readonly ReplayReport[]> {
  const runner = modelRunner(threads);
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
  for (const [done, job] of jobs.entries())
    reports.push(await runModel(job, source, share => onProgress((done + share) / jobs.length)));
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
  const reports: ReplayReport[] = [];
  let next = 0;
  const worked = async (_: unknown, thread: number): Promise<void> => {
    for (let index = next++; index < jobs.length; index = next++)
      reports[index] = await reportFrom(worker(thread), { job: jobs[index]!, source: shared, shares, index });
  };
  try {
    await Promise.all(Array.from({ length: threads }, worked));
    return reports;
  } finally {
    clearInterval(watch);
  }
}

function reportFrom(worker: Worker, work: ThreadWork): Promise<ReplayReport> {
  return new Promise((resolve, reject) => {
    const ended = (code: number): void =>
      reject(new Error(`a thread of the backtest ended with code ${code} and without a report`));
    worker.once('error', reject);
    worker.once('exit', ended);
    worker.once('message', (result: ThreadResult) => {
      worker.off('error', reject);
      worker.off('exit', ended);
      if (result.kind === 'done') resolve(result.report);
      else reject(result.wrong ? new UsageError(result.message) : new Error(result.message));
    });
    worker.postMessage(work);
  });
}
