/** Carries a pause of a person between the state directory and the engine: it ends by its time or by a resume, alone, and is kept over restarts. */
import type { Engine, EngineEvent, Millis } from '../../core/index.ts';
import type { Log } from '../log.ts';
import type { Latch, Pause } from './latch.ts';

type Step = (event: EngineEvent) => void;

/** The pause that holds at that time, or null. */
export function pauseAt(latch: Pick<Latch, 'readPause'>, at: Millis): Pause | null {
  const pause = latch.readPause?.() ?? null;
  return pause === null || isOver(pause, at) ? null : pause;
}

/** To be called before the first decision, before each order, and every now and then. What the disk does not take is tried again at the next look. */
export function watchPause(
  { pausedBecause: before }: Pick<Engine, 'pausedBecause'>,
  latch: Pick<Latch, 'readPause' | 'endPause'>,
  at: Millis,
  step: Step,
  log: Log,
): void {
  const pause = latch.readPause?.() ?? null;
  if (pause !== null && isOver(pause, at)) {
    const words = `the pause expired at ${new Date(pause.until!).toISOString()}`;
    // Another one may have taken its place just now: that is for the next look.
    if (latch.endPause?.(pause, { reason: 'its time came', at, by: 'bot' })) log.info({}, `${words}: ${pause.reason}`);
  }
  const holds = pauseAt(latch, at);
  const reason = holds && pauseText(holds);
  if (reason === before) return;
  if (holds === null || reason === null) return step({ kind: 'pause over', at });
  log.warn({ reason }, `paused by ${holds.who ?? 'a person'}: ${reason}`);
  step({ kind: 'pause', at, reason });
}

/** Why, and until when. */
export const pauseText = ({ reason, until }: Pause): string =>
  until === null ? reason : `${reason} (until ${new Date(until).toISOString().slice(0, 19)}Z)`;

const isOver = ({ until }: Pause, at: Millis): boolean => until !== null && until <= at;
