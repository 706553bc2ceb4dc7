/** Time of the exchange, measured by one request and continued by the monotonic clock. */
import type { Clock, Millis, Outcome } from '../../../core/index.ts';

/** Age after which the time is measured again, because clocks drift. */
const MEASURE_EVERY_MS = 30 * 60_000;
/** Pause after a failed measurement. */
const RETRY_MS = 10_000;

/** Measured time of the exchange, for timestamps of signed requests. */
export class ServerTime {
  readonly #clock: Clock;
  readonly #read: () => Promise<Outcome<Millis>>;
  /** Time of the exchange at `at` of the monotonic clock; `null` before the first measurement. */
  #known: { readonly time: Millis; readonly at: Millis } | null = null;
  #dueAt: Millis = -Infinity;
  /** Whether the exchange has rejected a timestamp since the last measurement. */
  #isRejected = false;
  /** Whether the exchange has rejected a timestamp since the start of the measurement under way. */
  #isStale = false;
  #measuring: Promise<void> | null = null;

  /** `read` requests the time of the exchange. */
  constructor(clock: Clock, read: () => Promise<Outcome<Millis>>) {
    this.#clock = clock;
    this.#read = read;
  }

  /**
   * Returns a timestamp for a request: never ahead of the exchange, and behind it by at most the round trip of the
   * measurement. So a request lives at most its recvWindow. Before the first measurement, returns the local time.
   */
  now(): Millis {
    const known = this.#known;
    return Math.floor(known === null ? this.#clock.now() : known.time + (this.#clock.elapsed() - known.at));
  }

  /**
   * Starts a measurement if one is due. Waits for it, even if it fails, only while no usable time is known: before the
   * first measurement, and after a rejected timestamp.
   */
  async ready(): Promise<void> {
    this.refresh();
    if (this.#known === null || this.#isRejected) await this.#measuring;
  }

  /** Starts a measurement if one is due, for a request that must not wait for it. */
  refresh(): void {
    if (this.#clock.elapsed() < this.#dueAt) return;
    this.#measuring ??= this.#measure().finally(() => (this.#measuring = null));
  }

  /**
   * Starts a measurement, after the exchange rejected a timestamp. A measurement under way may have read the clock
   * before the rejection, so another one follows it.
   */
  distrust(): void {
    this.#isRejected = true;
    this.#isStale = true;
    this.#dueAt = -Infinity;
    this.refresh();
  }

  async #measure(): Promise<void> {
    do {
      this.#isStale = false;
      await this.#measureOnce();
    } while (this.#isStale);
  }

  async #measureOnce(): Promise<void> {
    const outcome = await this.#read();
    const at = this.#clock.elapsed();
    this.#dueAt = at + (outcome.kind === 'done' ? MEASURE_EVERY_MS : RETRY_MS);
    // The exchange read its clock before the answer arrived, so its clock now shows at least this time.
    if (outcome.kind !== 'done') return;
    this.#known = { time: outcome.value, at };
    this.#isRejected = this.#isStale;
  }
}
