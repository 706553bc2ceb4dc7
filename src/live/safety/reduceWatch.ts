/**
 * Synchronization of reduce-only between the state directory and the engine. The operator or losses start reduce-only,
 * and only the operator ends it. The exception is reduce-only after a resume beyond the inventory limit, which also
 * ends when inventory is within the limit again. Reduce-only survives restarts.
 */
import { RESUMED_BEYOND_LIMIT, type Engine, type EngineEvent, type Millis } from '../../core/index.ts';
import type { Latch } from './latch.ts';

type Step = (event: EngineEvent) => void;

/**
 * Applies, before the first decision, a resume that happened while the bot was down, and reduce-only from an earlier
 * run.
 */
export function applyPendingReduce(latch: Pick<Latch, 'readReduce' | 'takeLifted'>, at: Millis, step: Step): void {
  if (latch.takeLifted()) step({ kind: 'resume', at });
  const reduce = latch.readReduce();
  if (reduce !== null) step({ kind: 'reduce', at, reason: reduce.reason });
}

/**
 * Keeps the reduce-only state equal in engine and latch. Call `watchReduce` periodically, after the check for halts. If
 * a write to disk fails, the next call retries it.
 */
export function watchReduce(
  { reducingBecause: reason, isWithinLimit }: Pick<Engine, 'reducingBecause' | 'isWithinLimit'>,
  latch: Pick<Latch, 'readReduce' | 'setReduce' | 'liftReduce' | 'takeLifted' | 'isLifting'>,
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
  else if (!latch.isLifting()) latch.setReduce({ reason, at, by: 'bot' });
}
