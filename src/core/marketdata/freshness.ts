/** How old what the engine knows of the world is: when the reads began that told it. */
import type { Millis } from '../model/units.ts';

export type FreshSource = 'book' | 'openOrders' | 'trades';

export class Freshness {
  readonly #at: Record<FreshSource, Millis> = { book: -Infinity, openOrders: -Infinity, trades: -Infinity };
  #sleptAt: Millis = -Infinity;

  /** A read that began before the process stood still makes nothing fresh. */
  read(what: FreshSource, startedAt: Millis): void {
    if (startedAt >= this.#sleptAt) this.#at[what] = Math.max(this.#at[what], startedAt);
  }

  /** The process stood still: nothing is known any more. */
  slept(at: Millis): void {
    this.#sleptAt = at;
    for (const what of ['book', 'openOrders', 'trades'] as const) this.#at[what] = -Infinity;
  }

  get book(): Millis {
    return this.#at.book;
  }

  /** Open orders and trades; -Infinity until both were read. */
  get account(): Millis {
    return Math.min(this.#at.openOrders, this.#at.trades);
  }
}
