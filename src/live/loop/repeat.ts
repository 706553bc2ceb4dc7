/** Periodic task: the pause between runs is the interval less the task's own duration. */
import { sleep, type Clock, type Millis } from '../../core/index.ts';

export type Repeated = {
  /** Interval between starts; the pause is at least 1 ms. A function is called each time. */
  readonly everyMs: Millis | (() => Millis);
  /** Delay before the first run. */
  readonly delayMs: Millis;
  readonly task: () => Promise<unknown>;
  /** Called with an error of the task, which then continues. */
  readonly onBroken: (error: unknown) => void;
};

/** Repeats the task until the signal; a running task is completed. */
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
