/** Check of every row before it enters a tape: drops trades before the first book and counts flaws of the books. */
import { RowBook } from '../model/recordedBook.ts';
import { KIND, SIDE } from '../model/tape.ts';

/**
 * Called for each flaw. `what`: kind of flaw. `done`: treatment of the flaw. `isBook`: `true` if the flaw is in the
 * book as it was before the current row, `false` if it is in the row itself.
 */
export type OnFlaw = (what: string, done: string, isBook: boolean) => void;

/** Checks rows in order. Book rows of equal time are one change. The book is checked after the last of these rows. */
export class Inspection {
  readonly #book: RowBook;
  readonly #firstKind: number;
  readonly #found: OnFlaw;
  #at = Number.NaN;
  #changed = false;
  #begun = false;

  /** Creates a check of a tape's rows. `fromOrders`: whether per-order rows define the book instead of levels. */
  constructor(fromOrders: boolean, found: OnFlaw) {
    this.#book = new RowBook(fromOrders);
    this.#firstKind = fromOrders ? KIND.add : KIND.level;
    this.#found = found;
  }

  /** Whether a book has been received. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Checks a row; returns `false` if the row must be dropped. */
  take(kind: number, side: number, at: number, price: number, amount: number, id: number): boolean {
    if (kind === KIND.trade) {
      if (!this.#begun) {
        this.#found('trades before the first book', 'dropped', false);
        return false;
      }
      if (side === SIDE.unknown)
        this.#found('trades without a taker side', 'kept; the replay infers the side from the book', false);
      return true;
    }
    // The book still has the state of the previous time, because the current row is not applied yet.
    if (at !== this.#at) this.end();
    this.#at = at;
    if (!this.#book.takes(kind)) return true;
    this.#begun ||= kind === KIND.clear || kind === this.#firstKind;
    this.#book.apply(kind, side, price, amount, id);
    this.#changed = true;
    return true;
  }

  /** Checks the current book. Must also be called after the last row. */
  end(): void {
    if (!this.#changed) return;
    this.#changed = false;
    const bid = this.#book.bids.priceAt(0);
    const ask = this.#book.asks.priceAt(0);
    if (bid === 0 || ask === 0) this.#found('one-sided books', 'kept', true);
    else if (bid > ask) this.#found('crossed books', 'kept; the replay hides the levels that cross', true);
    else if (bid === ask)
      this.#found('locked books', 'kept; the replay hides the levels at which bid and ask are equal', true);
  }
}
