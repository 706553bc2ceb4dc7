/** Lets Prometheus see the end of a run: whoever has asked for metrics regularly is given the time to ask once more, also when others look too. */
import type { Clock, Millis } from '../core/index.ts';

/** No stop waits longer than this for it, in ms of the wall. */
const WAIT_MAX_MS = 15_000;
/** Two times between scrapes that differ by more than this share are a person's, not Prometheus'. */
const REGULAR_SHARE = 0.5;
/** Scrapes closer than this, in ms of the wall, are one: a process that stood still answers at once all that had asked and given up meanwhile. */
const AT_ONCE_MS = 250;

/** Who asks is known by address and program; of more than this the one that has not asked for longest is forgotten. */
const ASKERS_MAX = 16;

export class LastScrape {
  readonly #clock: Clock;
  readonly #waitMaxMs: Millis;
  readonly #atOnceMs: Millis;
  /** Times of the last six scrapes of each, oldest first. */
  readonly #askers = new Map<string, readonly Millis[]>();
  readonly #waiting = new Map<string, () => void>();

  /** `speed` is how much faster than the wall the clock runs. */
  constructor(clock: Clock, speed: number) {
    this.#clock = clock;
    this.#waitMaxMs = WAIT_MAX_MS * speed;
    this.#atOnceMs = AT_ONCE_MS * speed;
  }

  /** The page of metrics was asked for and answered. */
  happened(asker: string): void {
    const times = this.#askers.get(asker) ?? [];
    this.#askers.delete(asker);
    const now = this.#clock.elapsed();
    const isNew = now - (times.at(-1) ?? Number.NEGATIVE_INFINITY) >= this.#atOnceMs;
    this.#askers.set(asker, isNew ? [...times.slice(-5), now] : times);
    const [oldest] = this.#askers.keys();
    if (this.#askers.size > ASKERS_MAX && oldest !== undefined) this.#askers.delete(oldest);
    this.#waiting.get(asker)?.();
  }

  /** Ends when each that is expected has asked once more, or is not to be expected any more. */
  async next(): Promise<void> {
    await Promise.all(
      [...this.#askers].map(async ([asker, times]) => {
        const ms = this.#expected(times);
        if (ms === 0) return;
        await new Promise<void>(resolve => {
          const timer = this.#clock.after(ms, resolve);
          this.#waiting.set(asker, () => {
            timer.stop();
            resolve();
          });
        });
      }),
    );
  }

  /** From the usual time between two scrapes, of which one or two may have been late. */
  #expected(times: readonly Millis[]): Millis {
    if (times.length < 3) return 0;
    const gaps = times.slice(1).map((at, i) => at - times[i]!);
    const usual = [...gaps].sort((a, b) => a - b)[gaps.length >> 1]!;
    const regular = gaps.filter(gap => Math.abs(gap - usual) <= REGULAR_SHARE * Math.max(gap, usual));
    const isOver = this.#clock.elapsed() - times.at(-1)! > 2 * usual;
    return regular.length >= 0.6 * gaps.length && !isOver ? Math.min(1.5 * usual, this.#waitMaxMs) : 0;
  }
}
