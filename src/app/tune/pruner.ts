/** Stops trials that are hopeless after a part of the pieces: by what earlier batches had brought by then, so that no thread can change it. */
import type { TrialRecord } from './registry.ts';
import type { StudyKeys } from './studySchema.ts';
import type { Pruner } from './trialRuns.ts';

/** Nothing is stopped with several objectives: what is behind in one may lead in another. */
export function prunerOf({ pruning, objectives }: StudyKeys, made: readonly TrialRecord[]): Pruner {
  if (pruning === false || objectives.length > 1) return () => new Map();
  const whole = made.filter(({ state }) => state === 'done');
  return (piece, trials) => {
    const found = new Map<number, string>();
    if (whole.length < pruning.startAfterTrials || piece < pruning.afterPieces) return found;
    const others = whole.flatMap(({ soFar }) => soFar[piece - 1] ?? []).sort((a, b) => a - b);
    const bar = others[Math.floor((others.length - 1) / 2)] ?? -Infinity;
    for (const { number, soFar } of trials) {
      const value = soFar[piece - 1] ?? Number.NaN;
      if (!(value >= bar)) found.set(number, `after piece ${piece} below the median of earlier trials`);
    }
    return found;
  };
}
