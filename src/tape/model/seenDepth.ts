/**
 * Number of levels per side in the book snapshots of a recording. Deeper levels are unknown, even if the format allows
 * more.
 */
import { KIND, SIDE } from './columns.ts';

/** Counter of the levels in each book snapshot. Rows must be in order of time. */
export class SeenDepth {
  #at = Number.NaN;
  readonly #bids = new Set<number>();
  readonly #asks = new Set<number>();
  #most = 0;
  readonly #before: number | null;

  /** Creates a counter for a day. `before`: number of levels of the days before; `null` if unknown. */
  constructor(before: number | null = null) {
    this.#before = before;
  }

  take(kind: number, side: number, at: number, price: number, amount: number): void {
    if (kind === KIND.clear) {
      this.#at = at;
      this.#bids.clear();
      this.#asks.clear();
    } else if (kind === KIND.level && at === this.#at && amount > 0) {
      const levels = side === SIDE.sell ? this.#asks : this.#bids;
      levels.add(price);
      this.#most = Math.max(this.#most, levels.size);
    }
  }

  /**
   * Maximum number of levels on one side of a snapshot so far. Before the first snapshot with levels, the number of the
   * days before.
   */
  get levels(): number | null {
    return this.#most === 0 ? this.#before : this.#most;
  }
}
