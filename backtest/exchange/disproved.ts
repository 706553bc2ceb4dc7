/** What executions have taken from the last picture of a book: levels that cannot be there any more, until a row tells of them anew. */
import { BUY, SELL } from '../rows/rows.ts';
import type { SideIndex } from '../rows/rows.ts';
import type { TickBook } from '../rows/tickBook.ts';

/** A picture is old at once: who took at a price met all that was better, and nobody stood on the other side at it or beyond. */
export class Disproved {
  /** Lots by place, of bids and asks; Infinity where an execution went by. */
  readonly #gone = [new Map<number, number>(), new Map<number, number>()] as const;

  /** So many lots of `side` were met at a place. */
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

  /** Nothing is known to be gone. */
  get isEmpty(): boolean {
    return this.#gone[BUY].size === 0 && this.#gone[SELL].size === 0;
  }

  told(side: SideIndex, place: number): void {
    const gone = this.#gone[side];
    if (gone.size > 0) gone.delete(place);
  }

  /** What can be left of so many lots shown at a place. */
  left(side: SideIndex, place: number, shown: number): number {
    const gone = this.#gone[side];
    return gone.size === 0 ? shown : Math.max(0, shown - (gone.get(place) ?? 0));
  }
}
