/** Shared context of a run: clocks, log, and access to its engine. */
import type { Clock, EngineEvent, Millis } from '../core/index.ts';
import type { Log } from './log.ts';

export type RunContext = {
  readonly clock: Clock;
  /** Returns the engine's time: wall time that never goes back. */
  readonly time: () => Millis;
  readonly log: Log;
  /** Passes an event to the engine, records the event, and executes the resulting commands. */
  readonly step: (event: EngineEvent) => void;
};
