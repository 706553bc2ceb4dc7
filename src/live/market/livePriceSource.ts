/** Interface of one book elsewhere that pushes its best levels. */
import type { Millis } from '../../core/index.ts';

/** Price and amount of a level. A float suffices, because the price of another book is not an amount of money. */
export type LiveLevel = readonly [price: number, amount: number];

export type LivePriceNews =
  /**
   * Current book, best price first; an empty side has no level. Sent after each change, and after each read or frame
   * that confirms the book. `sentAt` is the book's time on the exchange's clock, in epoch ms; `null` if unknown.
   * `ageMs` is the time since the start of the read; 0 for a frame that has just arrived.
   */
  | {
      readonly kind: 'book';
      readonly bids: readonly LiveLevel[];
      readonly asks: readonly LiveLevel[];
      readonly sentAt: Millis | null;
      readonly ageMs: Millis;
    }
  /** The book is unknown until the next `book`. `reason` is one line for the operator, without secrets. */
  | { readonly kind: 'lost'; readonly reason: string };

/** Public prices of one book. Never throws or rejects. Sends news only between `start` and `close`. */
export interface LivePriceSource {
  /** Name for the operator: place and book. */
  readonly name: string;
  /** Starts the source; call it once. Calls `onNews` only after returning. */
  start(onNews: (news: LivePriceNews) => void): void;
  /** Discards what was received or is queued, because it may be outdated, and replaces the connection of a stream. */
  rejectAsUnreliable(reason: string): void;
  /** Resolves when all work of the source has ended. */
  close(): Promise<void>;
}

/** Book of a source of the reference price, and how its news become events. */
export type LivePriceFeed = {
  /** Name in events. */
  readonly key: string;
  readonly source: LivePriceSource;
  /** Amount (base) for which the average price is read from the book; `null` for the best prices. */
  readonly amount: number | null;
  /** Time between two events without a new price. */
  readonly confirmEveryMs: Millis;
};
