/**
 * Recorded book as the bot receives it from market data, without the bot's orders. All replays of a market share one
 * book.
 */
import { OrderBook, type Amount, type Price } from '../../src/core/index.ts';
import { FLAG, sideOf, type MarketRows } from './rows.ts';

/** Received book with counters per kind of row. Callers compare the counters to detect new rows. */
export class FeedBook {
  readonly book = new OrderBook();
  /** Number of rows received. */
  rows = 0;
  /** Number of level rows received. */
  levels = 0;
  /** Number of trades received. */
  trades = 0;
  /** Exchange time of the last level row that was received. */
  changedAt = 0;
  /** Price of the last trade that was received, in ticks. */
  lastTrade = 0;
  readonly #rows: MarketRows;
  #next = 0;

  constructor(rows: MarketRows) {
    this.#rows = rows;
  }

  /** Index of the next row to receive. */
  get next(): number {
    return this.#next;
  }

  /** Adjusts the index of the next row after all rows were moved `places` indices to the front. */
  moved(places: number): void {
    this.#next -= places;
  }

  /** Processes all rows that the bot receives by `now`, which must not decrease. */
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
