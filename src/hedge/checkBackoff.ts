/**
 * Pause between checks that hedge nothing on another exchange. Without it, an outage there would write a row, lines of
 * the log and often an order every few seconds.
 */
import type { Millis, Money } from '../core/index.ts';

/** Maximum pause after a refusal for the price, which may become good for seconds only. */
const PRICED_PAUSE_MAX_MS: Millis = 5_000;

export class CheckBackoff {
  readonly #everyMs: Millis;
  readonly #maxMs: Millis;
  /** Checks in sequence that hedged nothing of `inventory`; `until` is on the monotonic clock. `null` if there are none. */
  #vain: { readonly inventory: Money; readonly count: number; readonly until: Millis } | null = null;

  /** `everyMs`: interval of checks. `maxMs`: maximum pause. */
  constructor(everyMs: Millis, maxMs: Millis) {
    this.#everyMs = everyMs;
    this.#maxMs = maxMs;
  }

  /** Whether a check of `inventory` must wait. A check of another inventory never waits: there was a fill. */
  isResting(inventory: Money, now: Millis): boolean {
    return this.#vain !== null && this.#vain.inventory === inventory && now < this.#vain.until;
  }

  /**
   * Records a check that hedged nothing. The first one causes no pause; each further one of the inventory doubles it.
   * `isPriced`: every part could be read, and only the price was refused.
   */
  failed(inventory: Money, now: Millis, isPriced = false): void {
    const count = this.#vain?.inventory === inventory ? this.#vain.count + 1 : 1;
    const maxMs = isPriced ? Math.min(PRICED_PAUSE_MAX_MS, this.#maxMs) : this.#maxMs;
    const pauseMs = Math.min(maxMs, this.#everyMs * (2 ** (count - 1) - 1));
    this.#vain = { inventory, count, until: now + pauseMs };
  }

  reset(): void {
    this.#vain = null;
  }
}
