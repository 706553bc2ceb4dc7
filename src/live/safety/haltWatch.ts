/** Carries a halt between the state directory and the engine: latched by another process or a person, lifted by a person. */
import type { Engine, EngineEvent, Millis } from '../../core/index.ts';
import type { Halt, Latch } from './latch.ts';

type Step = (event: EngineEvent) => void;

/** What is latched; from here on the engine knows it too. To be called before each order: so the halt is told before what it keeps back. */
export function takeUpHalt(
  engine: Pick<Engine, 'haltedBecause'>,
  latch: Pick<Latch, 'read'>,
  at: Millis,
  step: Step,
): Halt | null {
  const halt = latch.read();
  if (halt !== null && engine.haltedBecause === null) step({ kind: 'halt', at, reason: halt.reason });
  return halt;
}

/** To be called every now and then. Nothing lifts the halt of an engine that is `broken`, but a new process. */
export function watchHalt(
  engine: Pick<Engine, 'haltedBecause'>,
  latch: Pick<Latch, 'read' | 'takeLifted'>,
  at: Millis,
  broken: boolean,
  step: Step,
): void {
  const halt = takeUpHalt(engine, latch, at, step);
  if (halt !== null || engine.haltedBecause === null || broken) return;
  latch.takeLifted();
  step({ kind: 'resume', at });
}
