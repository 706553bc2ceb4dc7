/** Usual ratio between two prices, as an exponential moving average of the logarithm of the ratio. */
import type { Millis } from '../model/units.ts';

export class Basis {
  readonly #memoryMs: Millis;
  #log = Number.NaN;
  #at = Number.NaN;
  #since = Number.NaN;

  constructor(memoryMs: Millis) {
    this.#memoryMs = memoryMs;
  }

  /** Adds the current ratio and returns the usual ratio. */
  ratio(at: Millis, ratio: number): number {
    const now = Math.log(ratio);
    const weight = at > this.#at ? 1 - Math.exp(-(at - this.#at) / this.#memoryMs) : 0;
    this.#log = Number.isNaN(this.#log) ? now : this.#log + weight * (now - this.#log);
    if (Number.isFinite(at)) {
      this.#at = at;
      if (Number.isNaN(this.#since)) this.#since = at;
    }
    return Math.exp(this.#log);
  }

  /** Whether the time since the first ratio is shorter than the memory of the average. */
  isNew(at: Millis): boolean {
    return !(at - this.#since >= this.#memoryMs);
  }
}
