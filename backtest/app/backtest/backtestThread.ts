/** Thread that runs groups of jobs one after another and reports each result. */
import { parentPort } from 'node:worker_threads';
import { runJobs } from './backtestModel.ts';
import type { ThreadResult, ThreadWork } from './backtestThreads.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';

parentPort?.on('message', (work: ThreadWork) => void resultOf(work).then(result => parentPort?.postMessage(result)));

async function resultOf({ jobs, source, shares, first }: ThreadWork): Promise<ThreadResult> {
  try {
    const reports = await runJobs(jobs, source, (job, share) => (shares[first + job] = share));
    shares.fill(1, first, first + jobs.length);
    return { kind: 'done', reports };
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
