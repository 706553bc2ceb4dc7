/** Recorded market of one or several replays: decoded once, with its book at the exchange and its book at the bot. */
import { ExchangeBook } from '../exchange/exchangeBook.ts';
import { FeedBook } from '../rows/feedBook.ts';
import type { MarketRows } from '../rows/rows.ts';
import { RowWindow } from '../rows/rowWindow.ts';

/** Position of an independent reader in the rows. Rows stay in memory until the reader has read them. */
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

  /** Whether the rows are a sliding window, which does not contain the end of the tape yet. */
  get isSliding(): boolean {
    return this.#window !== null;
  }

  /** Total number of rows that a replay up to `time` reads. */
  totalFor(time: number): number {
    return this.#window?.totalFor(time) ?? this.rows.length;
  }

  /** Keeps rows in memory until `reader` has read them. */
  readBy(reader: RowCursor): void {
    this.#readers.push(reader);
  }

  /** Loads all rows up to `time` into memory. */
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
