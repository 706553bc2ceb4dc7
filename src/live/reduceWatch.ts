/** Carries what only closes inventory between the state directory and the engine: set by a person or by losses, lifted by a person, kept over restarts. */
import type { Engine, EngineEvent, Millis } from '../core/index.ts';
import type { Latch } from './latch.ts';

/** To be called every now and then, after the halt was looked at. What a full disk did not take is written once it can be. */
export function watchReduce(
  { reducingBecause: reason }: Pick<Engine, 'reducingBecause'>,
  latch: Latch,
  at: Millis,
  step: (event: EngineEvent) => void,
): void {
  const reduce = latch.readReduce?.() ?? null;
  if (reduce !== null && reason === null) step({ kind: 'reduce', at, reason: reduce.reason });
  if (reduce !== null || reason === null) return;
  if (latch.takeLifted?.()) step({ kind: 'resume', at });
  else latch.setReduce?.({ reason, at, by: 'bot' });
}
