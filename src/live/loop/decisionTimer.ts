/** A timer for the engine whenever it waits for nothing but time: when it decides then does not depend on what else happens. */
import { sleep } from '../../core/index.ts';
import type { Engine, Millis } from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';

/** Until the signal. `everyMs`: no longer than that between two looks at the engine. */
export async function decisionTimer(
  { clock, time, step }: Omit<RunContext, 'log'>,
  engine: Pick<Engine, 'decidesAt'>,
  everyMs: Millis,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if (engine.decidesAt <= time()) step({ kind: 'timer', at: time() });
    // Of an engine that cannot come to rest a moment later, so that it does not stop everything else; else to the very moment, as a replay does.
    const left = engine.decidesAt - time();
    await sleep(clock, left > 0 ? Math.min(left, everyMs) : 1, signal);
  }
}
