/** Clock of the machine, optionally accelerated; the only file that reads real time. */
import type { Clock, Millis } from '../core/index.ts';

/**
 * Returns a clock that starts now and runs at `speed` times real time. `start` sets its initial wall time, such as the
 * start time of a tape.
 */
export function realClock(speed = 1, start?: Millis): Clock {
  const origin = performance.now();
  const elapsed = () => (performance.now() - origin) * speed;
  const epoch = start ?? Date.now();
  return {
    // At normal speed, the wall clock is the machine's clock, so that changes of the machine's clock are visible. At
    // other speeds, the wall clock is computed from the elapsed time.
    now: speed === 1 && start === undefined ? () => Date.now() : () => Math.floor(epoch + elapsed()),
    elapsed,
    after: (ms, call) => {
      const timer = setTimeout(call, Math.max(0, ms / speed));
      return { stop: () => clearTimeout(timer) };
    },
  };
}
