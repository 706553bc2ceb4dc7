/** Delay of the event loop. Anything that blocks the loop also delays requests, decisions and metrics pages. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Millis } from '../core/index.ts';

/** Sampling interval in ms. Every sample includes this interval in addition to the delay. */
const EVERY_MS = 20;
/** Length of a measurement window, in ms. The reported delays cover one to two windows. */
const WINDOW_MS = 30_000;

export type EventLoopDelay = Readonly<Record<Stat, Millis>>;
type Stat = 'median' | 'p99' | 'longest';
const PERCENTILES: Readonly<Record<Stat, number>> = { median: 50, p99: 99, longest: 100 };

export type EventLoopWatch = {
  /**
   * Returns the median, 99th percentile and maximum delay, in ms, each the larger value of the current and the previous
   * window. A window ends at the first read after its length has passed.
   */
  read(): EventLoopDelay;
  close(): void;
};

/**
 * Measures the delay of this thread's event loop. `elapsed` returns monotonic ms. Several readers can call `read`
 * without affecting each other.
 */
export function watchEventLoop(elapsed: () => Millis): EventLoopWatch {
  const delays = monitorEventLoopDelay({ resolution: EVERY_MS });
  delays.enable();
  let began = elapsed();
  let before: EventLoopDelay | null = null;
  const of = (valueOf: (stat: Stat) => Millis): EventLoopDelay => ({
    median: valueOf('median'),
    p99: valueOf('p99'),
    longest: valueOf('longest'),
  });
  const now = () =>
    of(stat => (delays.count === 0 ? 0 : Math.max(0, delays.percentile(PERCENTILES[stat]) / 1e6 - EVERY_MS)));
  return {
    read: () => {
      const current = now();
      const shown = of(stat => Math.max(current[stat], before?.[stat] ?? 0));
      if (elapsed() - began >= WINDOW_MS) {
        before = current;
        began = elapsed();
        delays.reset();
      }
      return shown;
    },
    close: () => void delays.disable(),
  };
}
