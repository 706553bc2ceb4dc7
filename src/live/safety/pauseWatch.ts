/**
 * Synchronization of the operator's pause between the state directory and the engine. A pause survives restarts; it
 * ends by its expiry or by a resume.
 */
import type { Engine, EngineEvent, Millis } from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';
import { botClockIn } from './heartbeat.ts';
import type { Latch, Pause } from './latch.ts';

type Step = (event: EngineEvent) => void;

/** Returns the pause that is in effect at a wall time of the bot's clock, or `null`. Engine time can differ from it. */
export function pauseAt(latch: Pick<Latch, 'readPause'>, at: Millis): Pause | null {
  const pause = latch.readPause();
  return pause === null || isOver(pause, at) ? null : pause;
}

/**
 * Returns the pause that is in effect at a wall time of the machine, or `null`. A pause ends by the bot's clock, which
 * an accelerated bot in `dir` has.
 */
export const pauseInForce = (latch: Pick<Latch, 'readPause'>, dir: string, wall: Millis): Pause | null =>
  pauseAt(latch, botClockIn(dir).at(wall));

/**
 * Applies a pause, or its end, to the engine. Call `watchPause` before the first decision, before each order, and
 * periodically. If the end of a pause cannot be written to disk, the next call retries the write.
 */
export function watchPause(
  { pausedBecause: before }: Pick<Engine, 'pausedBecause'>,
  latch: Pick<Latch, 'readPause' | 'endPause'>,
  { clock, time, log }: Pick<RunContext, 'time' | 'log'> & { readonly clock: Pick<RunContext['clock'], 'now'> },
  step: Step,
): void {
  const now = clock.now();
  const pause = latch.readPause();
  if (pause !== null && isOver(pause, now)) {
    const words = `the pause expired at ${new Date(pause.until!).toISOString()}`;
    // If another pause has just replaced this one, the next call handles that pause.
    if (latch.endPause(pause, { reason: 'the pause expired', at: now, by: 'bot' }))
      log.info({}, `${words}: ${pause.reason}`);
  }
  const holds = pauseAt(latch, now);
  const reason = holds && pauseText(holds);
  if (reason === before) return;
  if (holds === null || reason === null) return step({ kind: 'pause over', at: time() });
  log.warn({ reason }, `paused by ${holds.who ?? 'a person'}: ${reason}`);
  step({ kind: 'pause', at: time(), reason });
}

/** Returns the reason and the expiry time of a pause, as text. */
export const pauseText = ({ reason, until }: Pause): string =>
  until === null ? reason : `${reason} (until ${new Date(until).toISOString().slice(0, 19)}Z)`;

const isOver = ({ until }: Pause, at: Millis): boolean => until !== null && until <= at;
