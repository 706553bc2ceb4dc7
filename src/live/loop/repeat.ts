/** Periodic task. The pause between two runs of the task is the interval minus the duration of the task. */
import { sleep, type Clock, type Millis } from '../../core/index.ts';

export type Repeated = {
  /** Interval between two starts of the task, in ms, or a function that returns it. The pause is at least 1 ms. */
  readonly everyMs: Millis | (() => Millis);
  /** Delay before the first run. */
  readonly delayMs: Millis;
  readonly task: () => Promise<unknown>;
  /** Called with an error of the task. The task is nevertheless repeated. */
  readonly onBroken: (error: unknown) => void;
};

/** Repeats the task until the signal aborts; a running task is completed. */
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
