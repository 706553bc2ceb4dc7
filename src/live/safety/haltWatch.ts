/**
 * Synchronization of halts between the state directory and the engine. The operator, the bot or another process sets a
 * halt; only the operator ends it.
 */
import type { Engine, EngineEvent, Millis } from '../../core/index.ts';
import type { Halt, Latch } from './latch.ts';

type Step = (event: EngineEvent) => void;

/**
 * Passes a latched halt to the engine and returns the halt. Call `applyPendingHalt` before each order, so that the halt
 * is reported before the orders that it blocks.
 */
export function applyPendingHalt(
  engine: Pick<Engine, 'haltedBecause'>,
  latch: Pick<Latch, 'read'>,
  at: Millis,
  step: Step,
): Halt | null {
  const halt = latch.read();
  if (halt !== null && engine.haltedBecause === null) step({ kind: 'halt', at, reason: halt.reason });
  return halt;
}

/**
 * Applies a halt, or the end of a halt, to the engine; call periodically. `broken` means that the engine has failed;
 * then only a new process can end the halt.
 */
export function watchHalt(
  engine: Pick<Engine, 'haltedBecause'>,
  latch: Pick<Latch, 'read' | 'takeLifted'>,
  at: Millis,
  broken: boolean,
  step: Step,
): void {
  const halt = applyPendingHalt(engine, latch, at, step);
  if (halt !== null || engine.haltedBecause === null || broken) return;
  latch.takeLifted();
  step({ kind: 'resume', at });
}
