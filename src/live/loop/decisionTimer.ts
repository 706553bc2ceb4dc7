/** A timer for the engine whenever it waits for nothing but time: when it decides then does not depend on what else happens. */
import { sleep } from '../../core/index.ts';
import type { Clock, Engine, EngineEvent, Millis } from '../../core/index.ts';

type Deciding = {
  readonly clock: Clock;
  readonly engine: Pick<Engine, 'decidesAt'>;
  readonly timing: { readonly decideEveryMs: Millis };
  readonly time: () => Millis;
  readonly step: (event: EngineEvent) => void;
};

/** Until the signal. */
export async function decisionTimer(
  { clock, engine, timing, time, step }: Deciding,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if (engine.decidesAt <= time()) step({ kind: 'timer', at: time() });
    // A moment at least, so that an engine that cannot come to rest does not stop everything else.
    await sleep(clock, Math.min(Math.max(1, engine.decidesAt - time()), timing.decideEveryMs), signal);
  }
}
