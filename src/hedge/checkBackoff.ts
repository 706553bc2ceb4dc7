/**
 * Pause between checks that hedge nothing on another exchange. Without it, an outage there would write a row, lines of
 * the log and often an order every few seconds.
 */
import type { Millis, Money } from '../core/index.ts';

export class CheckBackoff {
  readonly #everyMs: Millis;
  readonly #maxMs: Millis;
  /** Checks in sequence that hedged nothing of `amount`; `until` is on the monotonic clock. `null` if there are none. */
  #vain: { readonly amount: Money; readonly count: number; readonly until: Millis } | null = null;

  /** `everyMs`: interval of checks. `maxMs`: maximum pause. */
  constructor(everyMs: Millis, maxMs: Millis) {
    this.#everyMs = everyMs;
    this.#maxMs = maxMs;
  }

  /** Whether a check of `amount` must wait. A check of another amount never waits. */
  isResting(amount: Money, now: Millis): boolean {
    return this.#vain !== null && this.#vain.amount === amount && now < this.#vain.until;
  }

  /** Records a check that hedged nothing. The first one causes no pause; each further one of the amount doubles it. */
  failed(amount: Money, now: Millis): void {
    const count = this.#vain?.amount === amount ? this.#vain.count + 1 : 1;
    const pauseMs = Math.min(this.#maxMs, this.#everyMs * (2 ** (count - 1) - 1));
    this.#vain = { amount, count, until: now + pauseMs };
  }

  reset(): void {
    this.#vain = null;
  }
}
