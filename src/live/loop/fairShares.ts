/** Fair use of the request budget by several books: while the budget is scarce, no book places more than its share. */
import type { Clock, Millis } from '../../core/index.ts';

/**
 * Maximum number of remaining requests at which the budget counts as scarce. Lower with a small limit: see
 * `SCARCE_SHARE`.
 */
export const SCARCE_BELOW = 60;
/** Share of the largest budget seen, at or below which the budget counts as scarce. */
const SCARCE_SHARE = 1 / 4;
const WINDOW_MS: Millis = 60_000;

export class FairShares {
  readonly #clock: Clock;
  readonly #left: () => number;
  readonly #placed: ReadonlyMap<string, Millis[]>;
  /** Time of the latest refusal of each book that had one. */
  readonly #refusedAt = new Map<string, Millis>();
  /** Largest budget seen, in requests. Equals the limit once the budget was unused. */
  #most: number;

  /** `left` returns the number of private requests that are left in the budget. */
  constructor(clock: Clock, left: () => number, books: readonly string[]) {
    this.#clock = clock;
    this.#left = left;
    this.#most = left();
    this.#placed = new Map(books.map(book => [book, []]));
  }

  /**
   * Whether a book can place an order now. While the budget is scarce, a book can place up to an equal share of the
   * last minute's orders. Only books that wanted to place orders in that minute have a share.
   */
  mayPlace(book: string): boolean {
    if (this.#placed.size <= 1) return true;
    const left = this.#left();
    this.#most = Math.max(this.#most, left);
    if (left > Math.min(SCARCE_BELOW, this.#most * SCARCE_SHARE)) return true;
    const since = this.#clock.elapsed() - WINDOW_MS;
    let [all, active] = [0, 0];
    for (const each of this.#placed.keys()) {
      const count = this.#recent(each).length;
      all += count;
      if (count > 0 || each === book || (this.#refusedAt.get(each) ?? -Infinity) > since) active++;
    }
    return this.#recent(book).length * active <= all;
  }

  /** Records that a book wanted to place an order and was refused. */
  refuse(book: string): void {
    this.#refusedAt.set(book, this.#clock.elapsed());
  }

  /** Counts an order that a book sends. */
  place(book: string): void {
    if (this.#placed.size > 1) this.#recent(book).push(this.#clock.elapsed());
  }

  /** Drops older times, and returns the times of a book's orders of the last minute. */
  #recent(book: string): Millis[] {
    const times = this.#placed.get(book);
    if (times === undefined) throw new Error(`${book} is not a book of this run`);
    const since = this.#clock.elapsed() - WINDOW_MS;
    const old = times.findIndex(at => at > since);
    times.splice(0, old < 0 ? times.length : old);
    return times;
  }
}
