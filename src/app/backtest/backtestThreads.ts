/** Fill models side by side, a thread each, over one set of rows in shared memory or one stored tape; in this thread where one is enough. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { rowsInShared } from '../../../backtest/index.ts';
import type { ReplayReport } from '../../../backtest/index.ts';
import { runModel } from './backtestModel.ts';
import type { ModelJob, RowSource } from './backtestModel.ts';
import { UsageError } from '../wiring/usageError.ts';

/** What a thread is given. `shares[index]` is how far its job is. */
export type ThreadWork = {
  readonly job: ModelJob;
  readonly source: RowSource;
  readonly shares: Float64Array;
  readonly index: number;
};

/** What it says at its end; `wrong`: a person must change something. */
export type ThreadResult =
  | { readonly kind: 'done'; readonly report: ReplayReport }
  | { readonly kind: 'failed'; readonly message: string; readonly wrong: boolean };

const LOOK_EVERY_MS = 250;

/**
 * Reports in the order of the jobs, whatever the number of threads: no job knows of another. `onProgress` hears the mean share that is
 * done. Rejects with the first failure; the others are then ended.
 */
export async function runModels(
  jobs: readonly ModelJob[],
  source: RowSource,
  threads: number,
  onProgress: (share: number) => void,
): Promise<readonly ReplayReport[]> {
  const file = fileURLToPath(new URL('./backtestThread.js', import.meta.url));
  // Where the program runs from its sources there is no compiled thread.
  if (threads === 1 || jobs.length === 1 || !existsSync(file)) {
    const reports: ReplayReport[] = [];
    for (const [done, job] of jobs.entries())
      reports.push(await runModel(job, source, share => onProgress((done + share) / jobs.length)));
    return reports;
  }
  const shared: RowSource = source.kind === 'memory' ? { kind: 'memory', rows: rowsInShared(source.rows) } : source;
  const shares = new Float64Array(new SharedArrayBuffer(8 * jobs.length));
  const watch = setInterval(
    () => onProgress(shares.reduce((sum, share) => sum + share, 0) / jobs.length),
    LOOK_EVERY_MS,
  );
  const reports: ReplayReport[] = [];
  const workers = new Set<Worker>();
  let next = 0;
  const worked = async (): Promise<void> => {
    for (let index = next++; index < jobs.length; index = next++) {
      const worker = new Worker(file, {
        workerData: { job: jobs[index]!, source: shared, shares, index } satisfies ThreadWork,
      });
      workers.add(worker);
      reports[index] = await reportFrom(worker);
      workers.delete(worker);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(threads, jobs.length) }, worked));
    return reports;
  } finally {
    clearInterval(watch);
    await Promise.all([...workers].map(worker => worker.terminate()));
  }
}

function reportFrom(worker: Worker): Promise<ReplayReport> {
  return new Promise((resolve, reject) => {
    worker.once('message', (result: ThreadResult) => {
      if (result.kind === 'done') resolve(result.report);
      else reject(result.wrong ? new UsageError(result.message) : new Error(result.message));
    });
    worker.once('error', reject);
    worker.once('exit', code =>
      reject(new Error(`a thread of the backtest ended with code ${code} and without a report`)),
    );
  });
}
