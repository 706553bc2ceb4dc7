/** A thread that runs one fill model after another and says what came of each. */
import { parentPort } from 'node:worker_threads';
import { runModel } from './backtestModel.ts';
import type { ThreadResult, ThreadWork } from './backtestThreads.ts';
import { UsageError } from '../wiring/usageError.ts';

parentPort?.on('message', (work: ThreadWork) => void resultOf(work).then(result => parentPort?.postMessage(result)));

async function resultOf({ job, source, shares, index }: ThreadWork): Promise<ThreadResult> {
  try {
    const report = await runModel(job, source, share => (shares[index] = share));
    shares[index] = 1;
    return { kind: 'done', report };
  } catch (error) {
    const message =
      error instanceof Error
        ? error instanceof UsageError
          ? error.message
          : (error.stack ?? error.message)
        : String(error);
    return { kind: 'failed', message, wrong: error instanceof UsageError };
  }
}
