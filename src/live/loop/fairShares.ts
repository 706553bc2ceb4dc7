/** Fair use of the request budget by several books: while the budget is scarce, no book places more than its share. */
import type { Clock, Millis } from '../../core/index.ts';

/** Budget, in requests, below which each book may place only its share. */
export const SCARCE_BELOW = 60;
const WINDOW_MS: Millis = 60_000;

export class FairShares {
  readonly #clock: Clock;
  readonly #left: () => number;
  readonly #placed: ReadonlyMap<string, Millis[]>;

  /** `left` returns how many private requests the budget has left. */
  constructor(clock: Clock, left: () => number, books: readonly string[]) {
    this.#clock = clock;
    this.#left = left;
    this.#placed = new Map(books.map(book => [book, []]));
  }

  /** Whether a book may place an order: if the budget is scarce, only up to an equal share of the last minute's orders. */
  mayPlace(book: string): boolean {
    if (this.#placed.size <= 1 || this.#left() > SCARCE_BELOW) return true;
    let all = 0;
    for (const each of this.#placed.keys()) all += this.#recent(each).length;
    return this.#recent(book).length * this.#placed.size <= all;
  }

  /** Counts an order that a book sends. */
  place(book: string): void {
    if (this.#placed.size > 1) this.#recent(book).push(this.#clock.elapsed());
  }

  /** Returns the times of the orders of the last minute. */
  #recent(book: string): Millis[] {
    const times = this.#placed.get(book);
    if (times === undefined) throw new Error(`${book} is no book of this run`);
    const since = this.#clock.elapsed() - WINDOW_MS;
    const old = times.findIndex(at => at > since);
    times.splice(0, old < 0 ? times.length : old);
    return times;
  }
}
