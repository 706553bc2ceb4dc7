/**
 * Order flow imbalance at the best prices, with exponential forgetting. Bid additions and ask removals count as
 * positive; bid removals and ask additions count as negative.
 */
import type { Millis } from '../model/units.ts';

/** Best prices and amounts at one time, in any constant units. */
export type TopOfBook = {
  readonly at: Millis;
  readonly bid: number;
  readonly bidAmount: number;
  readonly ask: number;
  readonly askAmount: number;
};

const GAP_MS: Millis = 10_000;

/**
 * Returns whether an estimate restarts after `passed` ms without an observation. If this time is longer than 10 s and
 * than the memory, the observations before and after it are unrelated.
 */
export const restartsAfter = (passed: Millis, memoryMs: Millis): boolean => passed > Math.max(GAP_MS, memoryMs);

/**
 * Returns the order flow of one change (Cont, Kukanov, Stoikov 2014, J. Financial Econometrics 12(1)). The new bid
 * amount counts if the bid price rose or stayed. The old bid amount is subtracted if the bid price fell or stayed. For
 * the ask, both directions and signs are reversed.
 */
export const flowOf = (from: TopOfBook, to: TopOfBook): number =>
  (to.bid >= from.bid ? to.bidAmount : 0) -
  (to.bid <= from.bid ? from.bidAmount : 0) -
  (to.ask <= from.ask ? to.askAmount : 0) +
  (to.ask >= from.ask ? from.askAmount : 0);

/** Sum of observed order flow. All changes between two observations count as one change. */
export class OrderFlow {
  readonly #memoryMs: Millis;
  #last: TopOfBook | null = null;
  #sum = 0;
  #since: Millis = Number.NaN;

  constructor(memoryMs: Millis) {
    this.#memoryMs = memoryMs;
  }

  /** Adds an observation. Skips an invalid observation; the sum then restarts with the next valid observation. */
  observe(now: TopOfBook): void {
    const isTouch = Number.isFinite(now.at) && now.bid > 0 && now.ask > now.bid && now.ask < Infinity;
    if (!(isTouch && now.bidAmount > 0 && now.askAmount > 0 && now.bidAmount + now.askAmount < Infinity)) {
      this.#last = null;
      return;
    }
    const last = this.#last;
    const passed = last === null ? Infinity : Math.max(0, now.at - last.at);
    if (last === null || restartsAfter(passed, this.#memoryMs)) {
      this.#sum = 0;
      this.#since = now.at;
    } else this.#sum = this.#sum * Math.exp(-passed / this.#memoryMs) + flowOf(last, now);
    this.#last = now;
  }

  /** Order flow at the last observation, in the unit of the amounts; NaN if that observation was invalid. */
  get sum(): number {
    return this.#last === null ? Number.NaN : this.#sum;
  }

  /** Start of the current period of observations without a gap; NaN before the first valid observation. */
  get since(): Millis {
    return this.#since;
  }
}
