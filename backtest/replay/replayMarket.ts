/** A recorded market as replays meet it: decoded once, with its book at the exchange and its book at our end, for one replay or for many side by side. */
import { ExchangeBook } from '../exchange/exchangeBook.ts';
import { FeedBook } from '../rows/feedBook.ts';
import type { MarketRows } from '../rows/rows.ts';
import { RowWindow } from '../rows/rowWindow.ts';

/** Somebody who reads rows by himself: the first that he has not read stays in memory. */
export type RowCursor = { next: number };

export class ReplayMarket {
  readonly rows: MarketRows;
  readonly there: ExchangeBook;
  readonly here: FeedBook;
  readonly #window: RowWindow | null;
  readonly #readers: RowCursor[] = [];

  constructor(given: MarketRows | RowWindow) {
    this.#window = given instanceof RowWindow ? given : null;
    this.#window?.load(-Infinity, 0);
    this.rows = given instanceof RowWindow ? given.rows : given;
    if (this.rows.length === 0) throw new RangeError('the tape has no rows');
    this.there = new ExchangeBook(this.rows);
    this.here = new FeedBook(this.rows);
  }

  /** The rows slide past, and do not tell their end. */
  get isSliding(): boolean {
    return this.#window !== null;
  }

  /** Rows that whoever lives up to `time`, and no further, has in memory one after another. */
  totalFor(time: number): number {
    return this.#window?.totalFor(time) ?? this.rows.length;
  }

  /** Keeps what a reader has not read. */
  readBy(reader: RowCursor): void {
    this.#readers.push(reader);
  }

  /** Sees to it that all rows up to `time` are in memory. */
  load(time: number): void {
    if (this.#window === null) return;
    let keep = Math.min(this.there.next, this.here.next);
    for (const { next } of this.#readers) keep = Math.min(keep, next);
    const moved = this.#window.load(time, keep);
    if (moved === 0) return;
    this.there.moved(moved);
    this.here.moved(moved);
    for (const reader of this.#readers) reader.next -= moved;
  }
}
