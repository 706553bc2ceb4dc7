/** A task that is done again and again, with a pause that its own time is taken off. */
import { sleep } from '../../core/index.ts';
import type { Clock, Millis } from '../../core/index.ts';

export type Repeated = {
  /** From one beginning to the next, 1 ms at least after its end; a function is asked each time. */
  readonly everyMs: Millis | (() => Millis);
  /** Before the first. */
  readonly delayMs: Millis;
  readonly task: () => Promise<unknown>;
  /** What it threw; it goes on all the same. */
  readonly onBroken: (error: unknown) => void;
};

/** Until the signal, or the end of the task that is under way then. */
export async function repeat(
  clock: Clock,
  signal: AbortSignal,
  { everyMs, delayMs, task, onBroken }: Repeated,
): Promise<void> {
  await sleep(clock, delayMs, signal);
  while (!signal.aborted) {
    const started = clock.elapsed();
    try {
      await task();
    } catch (error) {
      onBroken(error);
    }
    const every = typeof everyMs === 'number' ? everyMs : everyMs();
    await sleep(clock, Math.max(1, every - (clock.elapsed() - started)), signal);
  }
}
