/** Volume that an account traded in one quote currency in the last 30 days of a replay. */
import { DAY_MS, VOLUME_DAYS, money, type Millis, type Money } from '../../src/core/index.ts';

/** Sum of the volume over all books with the quote currency. */
export class TradedVolume {
  readonly #days = new Map<number, bigint>();
  #sum = 0n;

  get sum(): Money {
    return money(this.#sum);
  }

  /** Adds a traded volume, and subtracts volume that is older than 30 days. */
  add(volume: Money, at: Millis): void {
    const day = Math.floor(at / DAY_MS);
    this.#days.set(day, (this.#days.get(day) ?? 0n) + volume);
    this.#sum += volume;
    for (const [old, expired] of this.#days) {
      if (old > day - VOLUME_DAYS) continue;
      this.#days.delete(old);
      this.#sum -= expired;
    }
  }
}
