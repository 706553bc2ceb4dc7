/** Stops trials that are hopeless after a part of the pieces: by what earlier batches had brought by then, so that no thread can change it. */
import { isBelowMedian } from '../../../backtest/index.ts';
import { addsUp } from './measures.ts';
import type { TrialRecord } from './registry.ts';
import type { StudyKeys } from './studySchema.ts';
import type { Pruner } from './trialRuns.ts';

/** Nothing is stopped with several objectives: what is behind in one may lead in another. */
export function prunerOf({ pruning, objectives }: StudyKeys, made: readonly TrialRecord[]): Pruner {
  const [objective] = objectives;
  if (pruning === false || objectives.length > 1 || objective === undefined) return () => new Map();
  const { startAfterTrials: trialsMin, afterPieces: stepsMin } = pruning;
  // Of a sum its mean over the pieces, so that early and late ones are compared.
  const courseOf = (soFar: readonly number[]): readonly number[] =>
    addsUp(objective) ? soFar.map((sum, i) => sum / (i + 1)) : soFar;
  const whole = made.filter(({ state }) => state === 'done').map(({ soFar }) => courseOf(soFar));
  return (piece, trials) =>
    new Map(
      trials.flatMap(({ number, soFar }) =>
        isBelowMedian(courseOf(soFar), whole, { trialsMin, stepsMin })
          ? [[number, `after piece ${piece} behind the median of earlier trials`] as const]
          : [],
      ),
    );
}
