/**
 * Shares of several books in a scarce request budget. No book places more orders than its share, which depends on the
 * value of its orders.
 */
import type { Millis } from '../model/units.ts';
import type { Clock } from '../ports/port.ts';

/**
 * Maximum number of remaining requests at which the budget counts as scarce. A small budget counts as scarce only at a
 * lower number: see `SCARCE_SHARE`.
 */
export const SCARCE_BELOW = 60;
/** Share of the largest budget seen, at or below which the budget counts as scarce. */
const SCARCE_SHARE = 1 / 4;
const WINDOW_MS: Millis = 60_000;
/** Weight of the most valuable book. Weights are integers, so that equal books have exactly equal shares. */
const WEIGHT_MAX = 1_000;
/** Minimum share of a book, as a part of the mean share, however little its orders are worth. */
const SHARE_MIN = 1 / 4;

export class FairShares {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #left: () => number;
  readonly #values: (books: readonly string[], scarcity: number) => readonly number[];
  readonly #placed: ReadonlyMap<string, Millis[]>;
  /** Time of the latest refusal of each book that had one. */
  readonly #refusedAt = new Map<string, Millis>();
  /** Largest budget seen, in requests. Equals the limit of the budget if the budget was ever unused. */
  #most: number;

  /**
   * `left` returns the number of private requests that are left in the budget. `values` returns the current value of an
   * order in each of the given books, for a scarcity of the budget from 0 to 1. Without `values`, all books are equal.
   */
  constructor(
    clock: Pick<Clock, 'elapsed'>,
    left: () => number,
    books: readonly string[],
    values: (books: readonly string[], scarcity: number) => readonly number[] = of => of.map(() => 1),
  ) {
    this.#clock = clock;
    this.#left = left;
    this.#values = values;
    this.#most = left();
    this.#placed = new Map(books.map(book => [book, []]));
  }

  /**
   * Whether a book can place an order now. While the budget is scarce, the orders of a book in the last minute must not
   * exceed its share of all orders of that minute. Only books that tried to place an order in that minute have a share.
   */
  mayPlace(book: string): boolean {
    if (this.#placed.size <= 1) return true;
    const left = this.#left();
    this.#most = Math.max(this.#most, left);
    const scarceFrom = Math.min(SCARCE_BELOW, this.#most * SCARCE_SHARE);
    if (left > scarceFrom) return true;
    const since = this.#clock.elapsed() - WINDOW_MS;
    const active: string[] = [];
    let all = 0;
    for (const each of this.#placed.keys()) {
      const count = this.#recent(each).length;
      all += count;
      if (count > 0 || each === book || (this.#refusedAt.get(each) ?? -Infinity) > since) active.push(each);
    }
    const weights = this.#weights(active, scarceFrom > 0 ? 1 - left / scarceFrom : 1);
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return this.#recent(book).length * sum <= all * weights[active.indexOf(book)]!;
  }

  /** Records that a book tried to place an order that `mayPlace` did not allow. */
  refuse(book: string): void {
    this.#refusedAt.set(book, this.#clock.elapsed());
  }

  /** Counts an order that a book sends. */
  place(book: string): void {
    if (this.#placed.size > 1) this.#recent(book).push(this.#clock.elapsed());
  }

  /** Returns the weights of books by the value of their orders. They are equal if no order has a value. */
  #weights(books: readonly string[], scarcity: number): readonly number[] {
    const values = this.#values(books, scarcity).map(value => (value > 0 && value < Infinity ? value : 0));
    const largest = Math.max(...values);
    if (!(largest > 0)) return books.map(() => 1);
    const weights = values.map(value => Math.round((WEIGHT_MAX * value) / largest));
    const even = weights.reduce((sum, weight) => sum + weight, 0) / books.length;
    return weights.map(weight => Math.max(weight, Math.ceil(even * SHARE_MIN)));
  }

  /** Returns the times of a book's orders of the last minute, and forgets older times. */
  #recent(book: string): Millis[] {
    const times = this.#placed.get(book);
    if (times === undefined) throw new Error(`${book} is not a book of this run`);
    const since = this.#clock.elapsed() - WINDOW_MS;
    const old = times.findIndex(at => at > since);
    times.splice(0, old < 0 ? times.length : old);
    return times;
  }
}
