/** Levels of the last book snapshot that are invalid because of executions after it, until a row updates them. */
import { BUY, SELL, type SideIndex } from '../rows/rows.ts';
import type { TickBook } from '../rows/tickBook.ts';

/**
 * Invalidated levels of a snapshot. An execution consumes all levels of its side at better prices. Levels of the other
 * side at or through the execution price no longer exist either.
 */
export class InvalidatedLevels {
  /** Executed lots by price index, for bids and for asks; Infinity if an execution passed the level. */
  readonly #gone = [new Map<number, number>(), new Map<number, number>()] as const;

  /** Records an execution of `lots` that rested on `side` at the price index `place`. */
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

  /** Returns how many of the recorded lots (`shown`) can remain at a price index. */
  left(side: SideIndex, place: number, shown: number): number {
    const gone = this.#gone[side];
    return gone.size === 0 ? shown : Math.max(0, shown - (gone.get(place) ?? 0));
  }
}
