/** Detection of stale levels, which remain in a recording although executions pass them, and of crossed books. */
import { BUY, SELL, type SideIndex } from './rows.ts';
import type { TickBook } from './tickBook.ts';

/**
 * Time in ms after which a level that executions passed counts as stale, if it has neither traded nor changed since.
 */
const STAYS_MS = 10_000;

type Suspect = { readonly since: number; toldAgain: boolean };
type Place = { readonly side: SideIndex; readonly place: number };

export class Ghosts {
  readonly #book: TickBook;
  /** Price index of the best recorded bid, even if the book is crossed; `#ask` is the price index of the best ask. */
  #bid = 0;
  #ask: number;
  /** Levels that an execution passed and that have not changed since, by price index; bids, then asks. */
  readonly #suspects = [new Map<number, Suspect>(), new Map<number, Suspect>()] as const;
  /** Amounts of the removed levels, in lots by price index; bids, then asks. */
  readonly #ghosts = [new Map<number, number>(), new Map<number, number>()] as const;

  constructor(book: TickBook) {
    this.#book = book;
    this.#ask = book.last;
  }

  /** Price index of the best recorded bid; 0 if there is none. */
  get bid(): number {
    return this.#bid;
  }

  /** Price index of the best recorded ask; the last index of the book if there is none. */
  get ask(): number {
    return this.#ask;
  }

  get isCrossed(): boolean {
    return this.#bid > this.#ask;
  }

  /** Whether a level row repeats a removed level unchanged; the level then remains removed. */
  isGhost({ side, place }: Place, lots: number): boolean {
    const ghosts = this.#ghosts[side];
    if (ghosts.size === 0 || !ghosts.has(place)) return false;
    if (ghosts.get(place) === lots) return true;
    ghosts.delete(place);
    return false;
  }

  /** Processes a recorded level after it was set in the book. */
  told({ side, place }: Place, before: number, lots: number): void {
    const suspects = this.#suspects[side];
    if (suspects.size > 0) {
      const suspect = suspects.get(place);
      if (before !== lots) suspects.delete(place);
      else if (suspect) suspect.toldAgain = true;
    }
    const { bids, asks, last } = this.#book;
    if (side === SELL) {
      if (lots > 0) this.#ask = Math.min(this.#ask, place);
      else if (this.#ask < last && asks[this.#ask] === 0) this.#ask = this.#book.askAbove(this.#ask);
    } else if (lots > 0) this.#bid = Math.max(this.#bid, place);
    else if (this.#bid > 0 && bids[this.#bid] === 0) this.#bid = this.#book.bidBelow(this.#bid);
  }

  /**
   * Forgets the removed levels that a snapshot of their side does not contain, so that a later row can add such levels
   * again.
   */
  pictured(side: SideIndex, isShown: (place: number) => boolean): void {
    for (const place of this.#ghosts[side].keys()) if (!isShown(place)) this.#ghosts[side].delete(place);
  }

  /**
   * Processes an execution, which proves that no ask was below the execution price and no bid above the execution
   * price. Returns the levels to remove from the book. `steps`: whether every change is recorded when it happens,
   * instead of in snapshots.
   */
  traded(at: number, place: number, steps: boolean): readonly Place[] {
    const { bids, asks } = this.#book;
    const found: Place[] = [];
    for (const suspects of this.#suspects) if (suspects.size > 0) suspects.delete(place);
    for (let low = this.#ask; low < place; low = this.#book.askAbove(low))
      if (asks[low]! > 0 && this.#isStuck(at, SELL, low, steps)) found.push({ side: SELL, place: low });
    for (let high = this.#bid; high > place; high = this.#book.bidBelow(high))
      if (bids[high]! > 0 && this.#isStuck(at, BUY, high, steps)) found.push({ side: BUY, place: high });
    for (const one of found) this.#ghosts[one.side].set(one.place, (one.side === SELL ? asks : bids)[one.place]!);
    return found;
  }

  #isStuck(at: number, side: SideIndex, place: number, steps: boolean): boolean {
    const suspects = this.#suspects[side];
    const suspect = suspects.get(place);
    if (!suspect) suspects.set(place, { since: at, toldAgain: false });
    return suspect !== undefined && (steps || suspect.toldAgain) && at - suspect.since >= STAYS_MS;
  }
}
