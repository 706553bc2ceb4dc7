/** Age of the engine's data, measured from the start of each read. */
import type { Millis } from '../model/units.ts';

export type FreshSource = 'book' | 'openOrders' | 'trades';

export class ReadTimes {
  readonly #at: Record<FreshSource, Millis> = { book: -Infinity, openOrders: -Infinity, trades: -Infinity };
  #sleptAt: Millis = -Infinity;

  /** Records a read by its start; ignores a read that started before a suspension of the process. */
  read(what: FreshSource, startedAt: Millis): void {
    if (startedAt >= this.#sleptAt) this.#at[what] = Math.max(this.#at[what], startedAt);
  }

  /** Invalidates all earlier reads after a suspension of the process. */
  slept(at: Millis): void {
    this.#sleptAt = at;
    for (const what of ['book', 'openOrders', 'trades'] as const) this.#at[what] = -Infinity;
  }

  get book(): Millis {
    return this.#at.book;
  }

  get trades(): Millis {
    return this.#at.trades;
  }

  /** Start of the latest read of open orders or of trades, whichever is older; -Infinity until both were read. */
  get account(): Millis {
    return Math.min(this.#at.openOrders, this.#at.trades);
  }
}
