/**
 * Delays the end of a run until Prometheus has scraped the final metrics of the run. Waits only for clients that scrape
 * regularly.
 */
import type { Clock, Millis } from '../core/index.ts';

/** Maximum delay of a stop, in ms of wall time. */
const WAIT_MAX_MS = 15_000;
/** Maximum relative difference between intervals of regular scrapes. Less regular scrapes count as manual. */
const REGULAR_SHARE = 0.5;
/**
 * Interval in ms of wall time within which scrapes by one client count as one. After a suspension, a process answers all
 * abandoned requests together.
 */
const AT_ONCE_MS = 250;

/**
 * Maximum number of remembered clients, by address and program. If there are more, the client with the oldest scrape is
 * dropped.
 */
const ASKERS_MAX = 16;

export class LastScrape {
  readonly #clock: Clock;
  readonly #waitMaxMs: Millis;
  readonly #atOnceMs: Millis;
  /** Times of each client's last six scrapes, oldest first. */
  readonly #askers = new Map<string, readonly Millis[]>();
  readonly #waiting = new Map<string, () => void>();

  /** `speed`: multiple of real time at which the clock runs. */
  constructor(clock: Clock, speed: number) {
    this.#clock = clock;
    this.#waitMaxMs = WAIT_MAX_MS * speed;
    this.#atOnceMs = AT_ONCE_MS * speed;
  }

  /** Records that a client has read the metrics. */
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

  /** Resolves when every client that scrapes regularly has scraped again, or the wait for it has ended. */
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

  /**
   * Returns how long to wait for a client: 1.5 times the median interval of its scrapes, at most `WAIT_MAX_MS`. Returns
   * 0 if the client does not scrape regularly or has stopped.
   */
  #expected(times: readonly Millis[]): Millis {
    if (times.length < 3) return 0;
    const gaps = times.slice(1).map((at, i) => at - times[i]!);
    const usual = [...gaps].sort((a, b) => a - b)[gaps.length >> 1]!;
    const regular = gaps.filter(gap => Math.abs(gap - usual) <= REGULAR_SHARE * Math.max(gap, usual));
    const isOver = this.#clock.elapsed() - times.at(-1)! > 2 * usual;
    return regular.length >= 0.6 * gaps.length && !isOver ? Math.min(1.5 * usual, this.#waitMaxMs) : 0;
  }
}
