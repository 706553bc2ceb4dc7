/** What every part of a run is given: its clocks, its log, and the way into its engine. */
import type { Clock, EngineEvent, Millis } from '../core/index.ts';
import type { Log } from './log.ts';

export type RunContext = {
  readonly clock: Clock;
  /** Time for the engine: wall time that never steps back. */
  readonly time: () => Millis;
  readonly log: Log;
  /** Takes an event into the engine and its recording, and carries out what comes of it. */
  readonly step: (event: EngineEvent) => void;
};
