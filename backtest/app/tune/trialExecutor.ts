/** Executors of trials: threads of this process, or workers in other processes, with equal outcomes. */
import { modelRunner, type ModelRunner } from '../backtest/backtestThreads.ts';
import { prunerBy, type PruningBounds } from './pruner.ts';
import { runBatch, type AskedTrial, type TrialOutcome, type TrialTerms } from './trialRuns.ts';

/** Inputs of trials that any executor needs. */
export type TrialSetting = Omit<TrialTerms, 'runner'>;

export type TrialExecutor = {
  /** Runs a batch. `onEnded` receives each trial once, as soon as it ends. Rejects with the error of a replay. */
  run(
    batch: readonly AskedTrial[],
    setting: TrialSetting,
    bounds: PruningBounds,
    onEnded: (asked: AskedTrial, outcome: TrialOutcome) => void,
    onShare: (share: number) => void,
  ): Promise<void>;
  /** Ends the threads or requests of the executor, even if trials are still running. */
  end(): Promise<void>;
};

/** Returns an executor that runs trials in this process, with at most `threads` threads. */
export const trialsHere = (threads: number): TrialExecutor => trialsByRunner(modelRunner(threads));

/** Returns an executor that runs trials with `runner`. Its `end` also ends the runner. */
export function trialsByRunner(runner: ModelRunner): TrialExecutor {
  return {
    run: (batch, setting, bounds, onEnded, onShare) =>
      runBatch(batch, { ...setting, runner }, prunerBy(bounds, setting.objective), onEnded, onShare),
    end: () => runner.end(),
  };
}
