/** Timers of a desk, which end together with the desk. */
import type { Clock, Millis, Timer } from '../../core/index.ts';

export class DeskTimers {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  after(ms: Millis, call: () => void): void {
    const timer = this.#clock.after(ms, () => {
      this.#timers.delete(timer);
      call();
    });
    this.#timers.add(timer);
  }

  /** Stops all timers. */
  stop(): void {
    for (const timer of this.#timers) timer.stop();
    this.#timers.clear();
  }
}
