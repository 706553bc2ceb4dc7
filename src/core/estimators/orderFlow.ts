/** Order flow imbalance at the touch: what came to the bid and left the ask minus the reverse, forgotten exponentially. */
import type { Millis } from '../model/units.ts';

/** The touch at one moment: prices and amounts in any units that stay the same. */
export type TouchSeen = {
  readonly at: Millis;
  readonly bid: number;
  readonly bidAmount: number;
  readonly ask: number;
  readonly askAmount: number;
};

/** Two looks further apart than this, and than the memory, have nothing to do with each other. */
const GAP_MS: Millis = 10_000;

/**
 * One change of the touch (Cont, Kukanov, Stoikov 2014, J. Financial Econometrics 12(1)): the amount of a bid that rose or stayed counts, less
 * that of the bid before when it fell or stayed, and the ask the other way round.
 */
export const flowOf = (from: TouchSeen, to: TouchSeen): number =>
  (to.bid >= from.bid ? to.bidAmount : 0) -
  (to.bid <= from.bid ? from.bidAmount : 0) -
  (to.ask <= from.ask ? to.askAmount : 0) +
  (to.ask >= from.ask ? from.askAmount : 0);

/** Sums what was seen; changes between two looks count as one. */
export class OrderFlow {
  readonly #memoryMs: Millis;
  #last: TouchSeen | null = null;
  #sum = 0;
  #since: Millis = Number.NaN;

  constructor(memoryMs: Millis) {
    this.#memoryMs = memoryMs;
  }

  /** A touch that is none is passed over, and what comes after it begins anew. */
  see(now: TouchSeen): void {
    const isTouch = Number.isFinite(now.at) && now.bid > 0 && now.ask > now.bid && now.ask < Infinity;
    if (!(isTouch && now.bidAmount > 0 && now.askAmount > 0 && now.bidAmount + now.askAmount < Infinity)) {
      this.#last = null;
      return;
    }
    const last = this.#last;
    const passed = last === null ? Infinity : Math.max(0, now.at - last.at);
    if (last === null || passed > Math.max(GAP_MS, this.#memoryMs)) {
      this.#sum = 0;
      this.#since = now.at;
    } else this.#sum = this.#sum * Math.exp(-passed / this.#memoryMs) + flowOf(last, now);
    this.#last = now;
  }

  /** In the unit of the amounts, at the last look; NaN when that saw none. */
  get sum(): number {
    return this.#last === null ? Number.NaN : this.#sum;
  }

  /** When it began to look without a break; NaN before. */
  get since(): Millis {
    return this.#since;
  }
}
