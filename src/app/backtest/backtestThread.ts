/** A thread that runs one fill model and says what came of it. */
import { parentPort, workerData } from 'node:worker_threads';
import { runModel } from './backtestModel.ts';
import type { ThreadResult, ThreadWork } from './backtestThreads.ts';
import { UsageError } from '../wiring/usageError.ts';

const { job, source, shares, index } = workerData as ThreadWork;
const tell = (result: ThreadResult) => parentPort?.postMessage(result);
try {
  const report = await runModel(job, source, share => (shares[index] = share));
  shares[index] = 1;
  tell({ kind: 'done', report });
} catch (error) {
  const message =
    error instanceof Error
      ? error instanceof UsageError
        ? error.message
        : (error.stack ?? error.message)
      : String(error);
  tell({ kind: 'failed', message, wrong: error instanceof UsageError });
}
