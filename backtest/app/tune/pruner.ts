/**
 * Pruning of hopeless trials after some pieces of the recording. The pruning uses only results of earlier batches, so
 * that it does not depend on threads and machines.
 */
import { medianAfter } from '../../index.ts';
import { addsUp, type MeasureName } from './measures.ts';
import type { TrialRecord } from './registry.ts';
import type { StudyKeys } from './studySchema.ts';
import type { Pruner } from './trialRuns.ts';

/**
 * Minimum value that a trial must have reached by the end of each piece of the recordings; otherwise the trial is
 * pruned. `null` for a piece after which no trial is pruned. Plain data, so that it can be sent to other machines.
 */
export type PruningBounds = readonly (number | null)[];

export const NEVER_PRUNED: PruningBounds = [];

/** Returns the bounds. With several objectives no trial is pruned, because it may be best in another objective. */
export function pruningBounds({ pruning, objectives }: StudyKeys, made: readonly TrialRecord[]): PruningBounds {
  const [objective] = objectives;
  if (pruning === false || objectives.length > 1 || objective === undefined) return NEVER_PRUNED;
  const { startAfterTrials: trialsMin, afterPieces: stepsMin } = pruning;
  const whole = made.filter(({ state }) => state === 'done').map(({ soFar }) => courseOf(objective, soFar));
  const pieces = Math.max(0, ...whole.map(({ length }) => length));
  return Array.from({ length: pieces }, (_, i) => medianAfter(i + 1, whole, { trialsMin, stepsMin }));
}

/** Returns a pruner that depends only on the bounds, which are values of `objective`. */
export const prunerBy =
  (bounds: PruningBounds, objective: MeasureName): Pruner =>
  (piece, trials) =>
    new Map(
      trials.flatMap(({ number, soFar }) => {
        const bound = bounds[piece - 1] ?? null;
        // A trial with a NaN value is pruned.
        return bound !== null && !(Math.max(...courseOf(objective, soFar)) >= bound)
          ? [[number, `worse than the median of earlier trials after piece ${piece} of the recordings`] as const]
          : [];
      }),
    );

/**
 * Returns the value after each piece. If the measure is a sum over pieces, the value is the mean per piece, so that
 * values after different numbers of pieces are comparable.
 */
const courseOf = (objective: MeasureName, soFar: readonly number[]): readonly number[] =>
  addsUp(objective) ? soFar.map((sum, i) => sum / (i + 1)) : soFar;
