/** Past mid prices, for fills that are reported late. */
import type { Millis } from '../model/units.ts';

/** Number of mid prices kept; a power of two. */
const MIDS_MAX = 4_096;
/**
 * Maximum time, in ms, for which a mid price is valid without an update: between two updates with the same mid price,
 * and between an update and a fill that uses its mid price.
 */
const GAP_MS = 5_000;

/** Stores the most recent mid prices, so that a fill that is reported late uses the mid price of its own time. */
export class MidHistory {
  readonly #size: number;
  /** Time from which each mid price was valid. `#until` has the time at which the mid price was last confirmed. */
  readonly #from: Float64Array;
  readonly #until: Float64Array;
  /** Mid price from `#from` to `#until`; 0 if unknown. */
  readonly #mid: Float64Array;
  #count = 0;

  /** `size` is the number of mid prices kept; a power of two. */
  constructor(size = MIDS_MAX) {
    this.#size = size;
    this.#from = new Float64Array(size);
    this.#until = new Float64Array(size);
    this.#mid = new Float64Array(size);
  }

  /** Adds the mid price from `at` on. Times must not decrease. */
  see(at: Millis, mid: number): void {
    const last = (this.#count - 1) & (this.#size - 1);
    if (this.#mid[last] === mid && at - this.#until[last]! <= GAP_MS) {
      this.#until[last] = at;
      return;
    }
    const i = this.#count++ & (this.#size - 1);
    this.#from[i] = at;
    this.#until[i] = at;
    this.#mid[i] = mid;
  }

  /**
   * Returns the mid price at a past time. If the last update was more than `GAP_MS` before that time, returns the first
   * mid price within `GAP_MS` after that time. Returns 0 if unknown.
   */
  at(time: Millis): number {
    const oldest = Math.max(0, this.#count - this.#size);
    let low = oldest;
    let high = this.#count;
    // Find the first mid price that started after `time`.
    while (low < high) {
      const half = Math.floor((low + high) / 2);
      if (this.#from[half & (this.#size - 1)]! > time) high = half;
      else low = half + 1;
    }
    const before = (low - 1) & (this.#size - 1);
    if (low > oldest && time - this.#until[before]! <= GAP_MS) return this.#mid[before]!;
    const after = low & (this.#size - 1);
    return low < this.#count && this.#from[after]! - time <= GAP_MS ? this.#mid[after]! : 0;
  }
}
