/** Who runs trials: threads of this process, or whoever else can. The outcomes are the same. */
import { modelRunner } from '../backtest/backtestThreads.ts';
import type { ModelRunner } from '../backtest/backtestThreads.ts';
import { prunerBy } from './pruner.ts';
import type { PruningBounds } from './pruner.ts';
import { runBatch } from './trialRuns.ts';
import type { AskedTrial, TrialOutcome, TrialTerms } from './trialRuns.ts';

/** What trials are run on, whoever does. */
export type TrialSetting = Omit<TrialTerms, 'runner'>;

export type TrialExecutor = {
  /** `onEnded` hears of each trial once, as soon as it is over. Rejects with what a replay throws. */
  run(
    batch: readonly AskedTrial[],
    setting: TrialSetting,
    bounds: PruningBounds,
    onEnded: (asked: AskedTrial, outcome: TrialOutcome) => void,
    onShare: (share: number) => void,
  ): Promise<void>;
  /** Ends what it began, done or not. */
  end(): Promise<void>;
};

/** At most so many threads at once. */
export const trialsHere = (threads: number): TrialExecutor => trialsByRunner(modelRunner(threads));

/** Ends the runner with it. */
export function trialsByRunner(runner: ModelRunner): TrialExecutor {
  return {
    run: (batch, setting, bounds, onEnded, onShare) =>
      runBatch(batch, { ...setting, runner }, prunerBy(bounds, setting.objective), onEnded, onShare),
    end: () => runner.end(),
  };
}
