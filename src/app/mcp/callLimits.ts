/** Limits on the calls of an agent: calls per minute, and concurrent calls. */
import { MINUTE_MS, counted, type Clock, type Millis } from '../../core/index.ts';
import { UsageError } from '../../wiring/usageError.ts';

/** Maximum number of calls at the same time. */
const AT_WORK_MAX = 8;

export class CallLimits {
  readonly #clock: Clock;
  readonly #perMinute: number;
  /** Start of the current minute, and the calls in it. */
  #since: Millis;
  #calls = 0;
  #atWork = 0;

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#since = clock.elapsed();
  }

  /** Runs a call. Rejects with `UsageError` over a limit. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    const now = this.#clock.elapsed();
    if (now - this.#since >= MINUTE_MS) {
      this.#since = now;
      this.#calls = 0;
    }
    if (this.#calls >= this.#perMinute)
      throw new UsageError(
        `at most ${counted(this.#perMinute, 'call')} per minute; wait ${Math.ceil((MINUTE_MS - (now - this.#since)) / 1000)} s`,
      );
    if (this.#atWork >= AT_WORK_MAX)
      throw new UsageError(`${AT_WORK_MAX} calls are under way; try again when one has ended`);
    this.#calls++;
    this.#atWork++;
    try {
      return await call();
    } finally {
      this.#atWork--;
    }
  }
}
