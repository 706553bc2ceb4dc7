/** Iterates over a tape as a changing book, and calls back for best prices, trades and times. */
import type { Millis, Side } from '../../core/index.ts';
import { RecordedBook } from './recordedBook.ts';
import { KIND, SIDE, type Tape } from './tape.ts';

export type Touch = {
  readonly bid: number;
  readonly ask: number;
  readonly bidAmount: number;
  readonly askAmount: number;
};

export type Walker = {
  /** Called at each new time, before the other calls of that time. */
  time?(at: Millis): void;
  /** Called when the best prices or their amounts change; the book has both sides and is not crossed. */
  touch(at: Millis, touch: Touch, book: RecordedBook): void;
  trade(at: Millis, price: number, amount: number, side: Side): void;
};

const SHARE_ROWS = 1 << 14;

/**
 * Iterates over a tape. Prices are in ticks, amounts in lots, times in ms. Book rows of one time are one change. Best
 * prices are reported only if they changed, both sides exist, and they are neither locked nor crossed. A trade of
 * unknown side counts as a buy at or above the mid price. `onShare` receives the share of rows processed, from 0 to 1.
 */
export function walk({ columns }: Tape, walker: Walker, onShare: (share: number) => void = () => undefined): void {
  const book = new RecordedBook(columns);
  let last: Touch = { bid: 0, ask: 0, bidAmount: 0, askAmount: 0 };
  for (let row = 0; row < columns.length; row++) {
    const at = columns.at[row]!;
    if ((row & (SHARE_ROWS - 1)) === 0) onShare(row / columns.length);
    walker.time?.(at);
    if (columns.kind[row] === KIND.trade) {
      const price = columns.price[row]!;
      const code = columns.side[row];
      const isBuy = code === SIDE.unknown ? 2 * price >= last.bid + last.ask : code === SIDE.buy;
      walker.trade(at, price, columns.amount[row]!, isBuy ? 'buy' : 'sell');
      continue;
    }
    book.apply(row);
    // A snapshot of several rows is one change.
    if (row + 1 < columns.length && columns.at[row + 1] === at && columns.kind[row + 1] !== KIND.trade) continue;
    const { bids, asks } = book;
    const touch = {
      bid: bids.priceAt(0),
      ask: asks.priceAt(0),
      bidAmount: bids.amountAt(0),
      askAmount: asks.amountAt(0),
    };
    if (!(touch.bid > 0 && touch.ask > touch.bid)) continue;
    if (
      touch.bid === last.bid &&
      touch.ask === last.ask &&
      touch.bidAmount === last.bidAmount &&
      touch.askAmount === last.askAmount
    )
      continue;
    last = touch;
    walker.touch(at, touch, book);
  }
}
