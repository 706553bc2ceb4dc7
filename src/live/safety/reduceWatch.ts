/** Carries what only closes inventory between the state directory and the engine: set by a person or by losses, lifted by a person, kept over restarts. */
import { RESUMED_BEYOND_LIMIT } from '../../core/index.ts';
import type { Engine, EngineEvent, Millis } from '../../core/index.ts';
import type { Latch } from './latch.ts';

type Step = (event: EngineEvent) => void;

/** Before anything is decided: what a person lifted while nobody ran, and what the last run left. */
export function takeUpReduce(latch: Latch, at: Millis, step: Step): void {
  if (latch.takeLifted()) step({ kind: 'resume', at });
  const reduce = latch.readReduce();
  if (reduce !== null) step({ kind: 'reduce', at, reason: reduce.reason });
}

/** To be called every now and then, after the halt was looked at. What a full disk did not take is written once it can be. */
export function watchReduce(
  { reducingBecause: reason, isWithinLimit }: Pick<Engine, 'reducingBecause' | 'isWithinLimit'>,
  latch: Latch,
  at: Millis,
  step: Step,
): void {
  const reduce = latch.readReduce();
  if (reduce?.reason === RESUMED_BEYOND_LIMIT && reason === RESUMED_BEYOND_LIMIT && isWithinLimit) {
    if (latch.liftReduce('inventory is within its limit again', at)) step({ kind: 'reduced', at });
    return;
  }
  if (reduce !== null && reason === null) step({ kind: 'reduce', at, reason: reduce.reason });
  if (reduce !== null || reason === null) return;
  if (latch.takeLifted()) step({ kind: 'resume', at });
  else latch.setReduce({ reason, at, by: 'bot' });
}
