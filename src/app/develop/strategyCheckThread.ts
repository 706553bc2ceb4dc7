/** Thread of `puntas check-strategy`, because only a thread can be ended while its code loops. */
import { setImmediate } from 'node:timers';
import { parentPort, workerData } from 'node:worker_threads';
import { StrategyFileError, type StrategyCode } from '../../../strategies/index.ts';
import { strategyVerdicts, type StrategyVerdict } from './strategyCheck.ts';

export type CheckedStrategy = {
  readonly of: StrategyCode;
  /** Parameters from a configuration; `null` for their defaults. */
  readonly parameters: Readonly<Record<string, unknown>> | null;
};

/** Verdicts, or why the file is no strategy. */
export type StrategyCheckResult = { readonly verdicts: readonly StrategyVerdict[] } | { readonly fault: string };

function checkedResult({ of, parameters }: CheckedStrategy): StrategyCheckResult {
  try {
    return { verdicts: strategyVerdicts(of, parameters) };
  } catch (error) {
    if (error instanceof StrategyFileError) return { fault: error.message };
    throw error;
  }
}

const result = checkedResult(workerData as CheckedStrategy);
// Promises of the file run before the next turn of the event loop: a loop in one of them must not pass.
setImmediate(() => parentPort?.postMessage(result));
