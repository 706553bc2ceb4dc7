/** The machine's clock, and the same clock running faster: the only file that reads the real time. */
import type { Clock, Millis } from '../core/index.ts';

/** Real time at `speed` times its pace, starting now; `start` sets the wall reading it starts from (a tape's own time, say). */
export function realClock(speed = 1, start?: Millis): Clock {
  const origin = performance.now();
  const elapsed = () => (performance.now() - origin) * speed;
  const epoch = start ?? Date.now();
  return {
    // At normal speed the wall clock is the machine's own, so that a step of it is seen; faster, it is derived.
    now: speed === 1 && start === undefined ? () => Date.now() : () => Math.floor(epoch + elapsed()),
    elapsed,
    after: (ms, call) => {
      const timer = setTimeout(call, Math.max(0, ms / speed));
      return { stop: () => clearTimeout(timer) };
    },
  };
}
