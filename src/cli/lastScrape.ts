/** Lets Prometheus see the end of a run: whoever has asked for metrics regularly is given the time to ask once more. */
import type { Clock, Millis } from '../core/index.ts';

/** No stop waits longer than this for it, in ms of the wall. */
const WAIT_MAX_MS = 15_000;
/** Two times between scrapes that differ by more than this share are a person's, not Prometheus'. */
const REGULAR_SHARE = 0.5;

export class LastScrape {
  readonly #clock: Clock;
  readonly #waitMaxMs: Millis;
  /** Times of the last three scrapes, oldest first. */
  #times: readonly Millis[] = [];
  #seen: () => void = () => undefined;

  /** `speed` is how much faster than the wall the clock runs. */
  constructor(clock: Clock, speed: number) {
    this.#clock = clock;
    this.#waitMaxMs = WAIT_MAX_MS * speed;
  }

  /** The page of metrics was asked for and answered. */
  happened(): void {
    this.#times = [...this.#times.slice(-2), this.#clock.elapsed()];
    this.#seen();
  }

  /** How long the next scrape may take to come; 0 when none is to be expected. */
  get expectedWithinMs(): Millis {
    if (this.#times.length < 3) return 0;
    const [first, second, third] = this.#times as [Millis, Millis, Millis];
    const [before, last] = [second - first, third - second];
    const isRegular = Math.abs(last - before) <= REGULAR_SHARE * Math.max(last, before);
    const isOver = this.#clock.elapsed() - third > 2 * last;
    return isRegular && !isOver ? Math.min(1.5 * last, this.#waitMaxMs) : 0;
  }

  /** Ends with the next scrape, or when it is not to be expected any more. */
  async next(): Promise<void> {
    const ms = this.expectedWithinMs;
    if (ms === 0) return;
    await new Promise<void>(resolve => {
      const timer = this.#clock.after(ms, resolve);
      this.#seen = () => {
        timer.stop();
        resolve();
      };
    });
  }
}
