/** The recorded book as a feed tells of it, at our end's time, without orders of ours: kept once, however many replays hear it. */
import { OrderBook } from '../../src/core/index.ts';
import type { Amount, Price } from '../../src/core/index.ts';
import { FLAG, sideOf } from './rows.ts';
import type { MarketRows } from './rows.ts';

/** Counts grow with each row of their kind: whoever remembers one sees whether anything came since. */
export class FeedBook {
  readonly book = new OrderBook();
  /** Rows in all; rows that told a level. */
  rows = 0;
  levels = 0;
  trades = 0;
  /** When, at the exchange, the last level was told. */
  changedAt = 0;
  /** In ticks. */
  lastTrade = 0;
  readonly #rows: MarketRows;
  #next = 0;

  constructor(rows: MarketRows) {
    this.#rows = rows;
  }

  /** The next row to be heard. */
  get next(): number {
    return this.#next;
  }

  /** The rows have moved so many places to the front. */
  moved(places: number): void {
    this.#next -= places;
  }

  /** Everything that has reached us by `now`, which never goes back. */
  hear(now: number): void {
    const { at: times, local, place, lots, flags, base, places } = this.#rows;
    const { book } = this;
    let row = this.#next;
    while (local[row]! <= now) {
      const flag = flags[row]!;
      const at = place[row]!;
      if ((flag & FLAG.trade) !== 0) {
        this.lastTrade = at + base;
        this.trades++;
      } else if (at > 0 && at < places - 1 && (flag & FLAG.again) === 0) {
        book.setOn(sideOf(flag), (at + base) as Price, lots[row]! as Amount);
        this.levels++;
        this.changedAt = times[row]!;
      }
      row++;
    }
    this.rows += row - this.#next;
    this.#next = row;
  }
}
