/** How late the event loop is: whatever holds it up keeps requests, decisions and the pages of metrics waiting as long. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Millis } from '../core/index.ts';

/** How often it is looked at; what is measured has this in it. */
const EVERY_MS = 20;
/** What is shown is of one to two of these. */
const WINDOW_MS = 30_000;

export type EventLoopDelay = Readonly<Record<Stat, Millis>>;
type Stat = 'median' | 'p99' | 'longest';
const PERCENTILES: Readonly<Record<Stat, number>> = { median: 50, p99: 99, longest: 100 };

export type EventLoopWatch = {
  /** The higher of this half minute's and the one before; of all since the last question where that is longer ago. */
  read(): EventLoopDelay;
  close(): void;
};

/** Watches the event loop of this thread. `elapsed`: ms of the wall since some moment. Several may ask: none takes another's figures. */
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
