/** The mean price of the last trades, by amount and by age: a trade counts e times less after each memory. */
import type { Millis } from '../model/units.ts';

export class TradeMean {
  readonly #memoryMs: Millis;
  #weight = 0;
  #mean = Number.NaN;
  #at: Millis = -Infinity;

  constructor(memoryMs: Millis) {
    this.#memoryMs = memoryMs;
  }

  /** What is no trade is passed over. */
  trade(at: Millis, price: number, amount: number): void {
    if (!(Number.isFinite(at) && price > 0 && price < Infinity && amount > 0 && amount < Infinity)) return;
    const kept = this.#weight * Math.exp(-Math.max(0, at - this.#at) / this.#memoryMs);
    this.#weight = kept + amount;
    this.#mean = kept > 0 ? this.#mean + (amount / this.#weight) * (price - this.#mean) : price;
    this.#at = Math.max(this.#at, at);
  }

  /** Between the lowest and the highest price heard; NaN before the first. */
  get price(): number {
    return this.#mean;
  }

  /** Time of the newest; -Infinity before the first. */
  get at(): Millis {
    return this.#at;
  }
}
