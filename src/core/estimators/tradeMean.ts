/**
 * Mean price of recent trades, weighted by amount and age. After each `memoryMs`, the weight of a trade falls by a
 * factor of e.
 */
import type { Millis } from '../model/units.ts';

export class TradeMean {
  readonly #memoryMs: Millis;
  #weight = 0;
  #mean = Number.NaN;
  #at: Millis = -Infinity;

  constructor(memoryMs: Millis) {
    this.#memoryMs = memoryMs;
  }

  /** Adds a trade; ignores a trade with invalid numbers. */
  trade(at: Millis, price: number, amount: number): void {
    if (!(Number.isFinite(at) && price > 0 && price < Infinity && amount > 0 && amount < Infinity)) return;
    const kept = this.#weight * Math.exp(-Math.max(0, at - this.#at) / this.#memoryMs);
    this.#weight = kept + amount;
    this.#mean = kept > 0 ? this.#mean + (amount / this.#weight) * (price - this.#mean) : price;
    this.#at = Math.max(this.#at, at);
  }

  /** Mean price, between the lowest and highest traded price; NaN before the first trade. */
  get price(): number {
    return this.#mean;
  }

  /** Time of the newest trade; -Infinity before the first trade. */
  get at(): Millis {
    return this.#at;
  }
}
