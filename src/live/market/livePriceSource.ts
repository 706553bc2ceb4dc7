/** Interface of a source that pushes the best levels of one book outside the bot's exchange. */
import type { Millis } from '../../core/index.ts';

/** Price and amount of a level. A float suffices, because the price of another book is not an amount of money. */
export type LiveLevel = readonly [price: number, amount: number];

/**
 * Age of a book. For a frame, `sentAt` is its time on the exchange's clock, in epoch ms; `null` if unknown. For a read,
 * `ageMs` is the time since its start. The exchange's time of a read is not used, because it may be that of the last
 * change of the book.
 */
export type BookAge =
  { readonly sentAt: Millis | null; readonly ageMs: 0 } | { readonly sentAt: null; readonly ageMs: Millis };

export type LivePriceNews =
  /**
   * Current book, best price first; an empty side has no level. Sent after each change, and after each read or frame
   * that confirms the book.
   */
  | ({ readonly kind: 'book'; readonly bids: readonly LiveLevel[]; readonly asks: readonly LiveLevel[] } & BookAge)
  /** A new connection starts. Its delay and clock may differ from those of the previous one. Omitted after `lost`. */
  | { readonly kind: 'connected' }
  /** The book is unknown until the next `book`. `reason` is one line for the operator, without secrets. */
  | { readonly kind: 'lost'; readonly reason: string };

/** Public prices of one book. Never throws or rejects. Sends news only between `start` and `close`. */
export interface LivePriceSource {
  /** Name for the operator: exchange and book. */
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
