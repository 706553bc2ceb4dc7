/** Mean sizes, weighted by time, of the inventories by which the books of one account skew their quotes. */
import type { BookEngine, Millis } from '../../src/core/index.ts';

const EVERY_MS = 1_000;

/**
 * Mean absolute inventories in the base currency: the book's own inventory (`own`), and the part from the other books
 * by which it also skews its quotes (`fromOthers`).
 */
export type SkewSizes = { readonly own: number; readonly fromOthers: number };

type Sums = { own: number; fromOthers: number; lastOwn: number; lastOthers: number };

export class JointShares {
  readonly #books: readonly BookEngine[];
  readonly #sums: readonly Sums[];
  readonly #from: Millis;
  readonly #to: Millis;
  #at: Millis;

  /** `from` and `to`: the measured time. */
  constructor(books: readonly BookEngine[], from: Millis, to: Millis) {
    this.#books = books;
    this.#sums = books.map(() => ({ own: 0, fromOthers: 0, lastOwn: 0, lastOthers: 0 }));
    [this.#from, this.#to, this.#at] = [from, to, from];
  }

  /** Adds the time up to `now`, at most once per second. */
  advanceTo(now: Millis): void {
    if (now - this.#at < EVERY_MS) return;
    this.#add(now);
    this.#books.forEach(({ amount, skewAmount }, i) => {
      this.#sums[i]!.lastOwn = Math.abs(amount);
      this.#sums[i]!.lastOthers = Math.abs(skewAmount - amount);
    });
  }

  /** Returns the means of each book. */
  end(): readonly SkewSizes[] {
    this.#add(this.#to);
    const ms = Math.max(1, this.#to - this.#from);
    return this.#sums.map(({ own, fromOthers }) => ({ own: own / ms, fromOthers: fromOthers / ms }));
  }

  #add(now: Millis): void {
    const ms = Math.max(0, Math.min(now, this.#to) - this.#at);
    for (const sums of this.#sums) {
      sums.own += ms * sums.lastOwn;
      sums.fromOthers += ms * sums.lastOthers;
    }
    this.#at = Math.max(this.#at, now);
  }
}
