/** Stops trials that are hopeless after a part of the pieces: by what earlier batches had brought by then, so that no thread and no machine can change it. */
import { medianAfter } from '../../index.ts';
import { addsUp } from './measures.ts';
import type { MeasureName } from './measures.ts';
import type { TrialRecord } from './registry.ts';
import type { StudyKeys } from './studySchema.ts';
import type { Pruner } from './trialRuns.ts';

/** What the best of a trial so far must have come to after each piece; null where none is stopped. Plain data, for other machines too. */
export type PruningBounds = readonly (number | null)[];

export const NEVER_PRUNED: PruningBounds = [];

/** Nothing is stopped with several objectives: what is behind in one may lead in another. */
export function pruningBounds({ pruning, objectives }: StudyKeys, made: readonly TrialRecord[]): PruningBounds {
  const [objective] = objectives;
  if (pruning === false || objectives.length > 1 || objective === undefined) return NEVER_PRUNED;
  const { startAfterTrials: trialsMin, afterPieces: stepsMin } = pruning;
  const whole = made.filter(({ state }) => state === 'done').map(({ soFar }) => courseOf(objective, soFar));
  const pieces = Math.max(0, ...whole.map(({ length }) => length));
  return Array.from({ length: pieces }, (_, i) => medianAfter(i + 1, whole, { trialsMin, stepsMin }));
}

/** The same on every machine that has the bounds; `objective`: what they are of. */
export const prunerBy =
  (bounds: PruningBounds, objective: MeasureName): Pruner =>
  (piece, trials) =>
    new Map(
      trials.flatMap(({ number, soFar }) => {
        const bound = bounds[piece - 1] ?? null;
        // A value that is no number is no reason to go on.
        return bound !== null && !(Math.max(...courseOf(objective, soFar)) >= bound)
          ? [[number, `after piece ${piece} behind the median of earlier trials`] as const]
          : [];
      }),
    );

/** Of a sum its mean over the pieces, so that early and late ones are compared. */
const courseOf = (objective: MeasureName, soFar: readonly number[]): readonly number[] =>
  addsUp(objective) ? soFar.map((sum, i) => sum / (i + 1)) : soFar;
