/** Thread of `puntas check-strategy`, because only a thread can be ended while its code loops. */
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

parentPort?.postMessage(checkedResult(workerData as CheckedStrategy));
