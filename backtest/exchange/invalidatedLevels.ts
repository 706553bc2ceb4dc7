/** Levels of the last book snapshot that later executions have invalidated and no later row has updated. */
import { BUY, SELL, type SideIndex } from '../rows/rows.ts';
import type { TickBook } from '../rows/tickBook.ts';

/**
 * Invalidated levels of a snapshot. A taker consumes all better prices, and no opposite order can rest at or beyond the
 * execution price.
 */
export class InvalidatedLevels {
  /** Executed lots by place, for bids and for asks; Infinity if an execution passed the level. */
  readonly #gone = [new Map<number, number>(), new Map<number, number>()] as const;

  /** Records an execution of `lots` resting on `side` at a place. */
  traded(book: TickBook, side: SideIndex, place: number, lots: number): void {
    const [goneBids, goneAsks] = this.#gone;
    const isAsk = side === SELL;
    for (let at = book.ask; at < book.last && (isAsk ? at < place : at <= place); at = book.askAbove(at))
      goneAsks.set(at, Infinity);
    for (let at = book.bid; at > 0 && (isAsk ? at >= place : at > place); at = book.bidBelow(at))
      goneBids.set(at, Infinity);
    const gone = this.#gone[side];
    gone.set(place, (gone.get(place) ?? 0) + lots);
  }

  /** Whether no level is invalidated. */
  get isEmpty(): boolean {
    return this.#gone[BUY].size === 0 && this.#gone[SELL].size === 0;
  }

  updated(side: SideIndex, place: number): void {
    const gone = this.#gone[side];
    if (gone.size > 0) gone.delete(place);
  }

  /** Returns how many of the `shown` lots can remain at a place. */
  left(side: SideIndex, place: number, shown: number): number {
    const gone = this.#gone[side];
    return gone.size === 0 ? shown : Math.max(0, shown - (gone.get(place) ?? 0));
  }
}
