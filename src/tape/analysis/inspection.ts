/** Looks at every row of a recording on its way into a tape: names trades that no book stands behind, and counts what is wrong with the books. */
import { RowBook } from '../model/recordedBook.ts';
import { KIND, SIDE } from '../model/tape.ts';

/** Told of each flaw: `isBook` when the book shows it as the last of its rows left it, otherwise the row that is being taken does. */
export type OnFlaw = (what: string, done: string, isBook: boolean) => void;

/** Rows are given in order; the book is looked at after the last row of each time at which it changed. */
export class Inspection {
  readonly #book: RowBook;
  readonly #firstKind: number;
  readonly #found: OnFlaw;
  #at = Number.NaN;
  #changed = false;
  #begun = false;

  /** `fromOrders`: the book is told by rows of single orders, and not by levels. */
  constructor(fromOrders: boolean, found: OnFlaw) {
    this.#book = new RowBook(fromOrders);
    this.#firstKind = fromOrders ? KIND.add : KIND.level;
    this.#found = found;
  }

  /** True once there was a book. */
  get begun(): boolean {
    return this.#begun;
  }

  /** False for a row that must be dropped. */
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
    // Before this row is applied: what stands is the book at the end of the time before.
    if (at !== this.#at) this.end();
    this.#at = at;
    if (!this.#book.takes(kind)) return true;
    this.#begun ||= kind === KIND.clear || kind === this.#firstKind;
    this.#book.apply(kind, side, price, amount, id);
    this.#changed = true;
    return true;
  }

  /** Looks at the book as it stands; to be called after the last row too. */
  end(): void {
    if (!this.#changed) return;
    this.#changed = false;
    const bid = this.#book.bids.priceAt(0);
    const ask = this.#book.asks.priceAt(0);
    if (bid === 0 || ask === 0) this.#found('one-sided books', 'kept', true);
    else if (bid > ask) this.#found('crossed books', 'kept; the replay hides the levels that cross', true);
    else if (bid === ask) this.#found('locked books', 'kept; the replay hides the levels that lock', true);
  }
}
