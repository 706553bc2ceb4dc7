/**
 * Pause between checks that hedge nothing on another exchange. Without the pause, an outage of that exchange would
 * cause a hedge record, log lines and often an order every few seconds.
 */
import type { Millis, Money } from '../core/index.ts';

/** Maximum pause after a check in which only the price was rejected. A good price may last for seconds only. */
const PRICED_PAUSE_MAX_MS: Millis = 5_000;

export class CheckBackoff {
  readonly #everyMs: Millis;
  readonly #maxMs: Millis;
  /**
   * Checks in a row that hedged nothing of `inventory`; `null` if there are none. `until`: end of the pause, on the
   * monotonic clock.
   */
  #vain: { readonly inventory: Money; readonly count: number; readonly until: Millis } | null = null;

  /** `everyMs`: interval of checks. `maxMs`: maximum pause. */
  constructor(everyMs: Millis, maxMs: Millis) {
    this.#everyMs = everyMs;
    this.#maxMs = maxMs;
  }

  /** Whether a check of `inventory` must wait. If a fill has changed the inventory, the check does not wait. */
  isResting(inventory: Money, now: Millis): boolean {
    return this.#vain !== null && this.#vain.inventory === inventory && now < this.#vain.until;
  }

  /**
   * Records a check that hedged nothing. The first check of an inventory causes no pause. Each further check of the
   * same inventory about doubles the pause. `isPriced`: the hedge had a price, and only the price was rejected.
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
