/** Timer that steps the engine when a decision is due, even if no other event occurs. */
import { sleep, type Engine, type Millis } from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';

/**
 * Steps the engine whenever a decision is due, until the signal aborts. `everyMs` is the maximum time between two
 * checks of the engine.
 */
export async function decisionTimer(
  { clock, time, step }: Omit<RunContext, 'log'>,
  engine: Pick<Engine, 'decidesAt'>,
  everyMs: Millis,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if (engine.decidesAt <= time()) step({ kind: 'timer', at: time() });
    // The timer wakes when a decision is due, as in a replay. If a decision is always due, the timer waits 1 ms, so
    // that other tasks can run.
    const left = engine.decidesAt - time();
    await sleep(clock, left > 0 ? Math.min(left, everyMs) : 1, signal);
  }
}
