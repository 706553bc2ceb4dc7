/** Usual ratio between two prices: the exponential mean of its logarithm. */
import type { Millis } from '../model/units.ts';

export class Basis {
  readonly #memoryMs: Millis;
  #log = Number.NaN;
  #at = Number.NaN;
  #since = Number.NaN;

  constructor(memoryMs: Millis) {
    this.#memoryMs = memoryMs;
  }

  /** Adds the current ratio and returns the usual one. */
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

  /** Whether less time than the memory has passed since the first ratio. */
  isNew(at: Millis): boolean {
    return !(at - this.#since >= this.#memoryMs);
  }
}
