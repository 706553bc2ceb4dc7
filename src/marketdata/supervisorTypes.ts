/** Options and callbacks of the market-data supervisor. */
import type {
  BookDiff,
  BookSnapshot,
  Clock,
  Exchange,
  L3Step,
  MarketStream,
  Millis,
  Outcome,
  SeedResult,
  StreamNews,
  StreamTrade,
} from '../core/index.ts';
import type { PublicTradeTail } from './publicTradeTail.ts';

/** Source of the current book. After a stream loss, the source is `poll` even before the next poll. */
export type BookSource = 'none' | 'poll' | 'stream';

/** State of a book that a poll could read now. */
export type PollState = {
  /** Time since the start of the last read, or since the stream last confirmed the book; Infinity before both. */
  readonly age: Millis;
  /** Whether the book comes from a stream that is up and not behind, so that a poll would only check it. */
  readonly isOnStream: boolean;
};

/** Outcome of a book read that failed. */
export type UnreadBook = Exclude<Outcome<never>, { readonly kind: 'done' }>;

/** Order-by-order book, built from a complete book and every later update (step). */
export interface SteppedBook {
  /** Current sequence number; null while waiting for a complete book. */
  readonly sequence: bigint | null;
  take(diff: BookDiff): L3Step;
  /**
   * Rebuilds the book from a complete book and the updates received since the last loss of updates. If the result is
   * not `live`, the book is unchanged.
   */
  seed(whole: BookSnapshot): SeedResult;
  /** Marks the book as incomplete after a loss of updates, until `seed` receives a complete book. */
  markIncomplete(): void;
}

/** Callbacks of the user of the market data, called in the order of events. */
export type MarketDataUser = {
  /** Called with each piece of news before its processing. */
  readonly onNews?: (news: StreamNews) => void;
  /**
   * Called after each update that the order-by-order book has applied. `onCurrent` reports whether this book is
   * current.
   */
  readonly onStep?: (diff: BookDiff) => void;
  /**
   * Called whenever an update, frame or poll confirms the order-by-order book as current. `was` is the previous source.
   * `polledAt` is when the confirming poll started, measured with the option `time`; `null` if the stream confirmed the
   * book. `sentAt` is the exchange's time of the confirming frame; `null` if the frame has none, or after a poll.
   */
  readonly onCurrent: (was: BookSource, polledAt: Millis | null, sentAt: Millis | null) => void;
  /**
   * Applies a newer book, by levels or, if `whole`, by orders. Returns why the book was not applied; `null` if the book
   * was applied.
   */
  readonly takeBook: (book: BookSnapshot, whole: boolean) => string | null;
  /**
   * Called when the book that `takeBook` applied is current. The book contains the bot's orders as of `startedAt`,
   * measured with the option `time`. `sentAt` is the exchange's time of the book's frame; `null` if a poll read the
   * book or the frame has no time.
   */
  readonly onBook: (startedAt: Millis, source: BookSource, sentAt: Millis | null) => void;
  /** Called after a loss of the stream or its data: the book is unknown until the next `onCurrent` or `onBook`. */
  readonly onLost: (reason: string, was: BookSource) => void;
  /**
   * Called if the exchange restarted its sequence numbers, so that later books are newer despite lower numbers.
   * `onLost` follows.
   */
  readonly onCountedAnew?: (sequence: bigint, newest: bigint) => void;
  readonly onTrades?: (trades: readonly StreamTrade[]) => void;
  /** Called if a complete book did not match the updates; the read of this book counts as a poll. */
  readonly onMisfit?: (why: SeedResult) => void;
  readonly onUnread: (why: UnreadBook) => void;
  /** Reads other data after each poll of the book. */
  readonly alsoPoll?: () => Promise<unknown>;
};

export type MarketDataSupervisorOptions = {
  readonly exchange: Pick<Exchange, 'orderBook'>;
  /** Market data stream. If absent, books are only polled. */
  readonly stream?: MarketStream | undefined;
  readonly clock: Clock;
  readonly book: string;
  /** Order-by-order book. If absent, book updates are ignored: books are polled, or sent complete by the stream. */
  readonly stepped?: SteppedBook;
  /**
   * Returns the time between two polls, which is also the maximum time without a frame before a poll must confirm the
   * book.
   */
  readonly pollMs: () => Millis;
  /** Kind of polled book while no order-by-order book is available: by levels, or complete by orders. */
  readonly polls: 'levels' | 'orders';
  /**
   * Handling of a polled book that is newer than the stream. `show` applies the polled book immediately, for quoting.
   * `wait` waits for the stream, for users that need each execution before the levels that it changed.
   */
  readonly ahead: 'show' | 'wait';
  /** Returns time that never goes back. */
  readonly time: () => Millis;
  /** Returns whether current input may have been queued while the process was suspended. */
  readonly isWaking?: () => boolean;
  /**
   * Public trades of the book. After a stream gap, the missing trades are read after each book and reported before that
   * book.
   */
  readonly trades?: PublicTradeTail;
  readonly user: MarketDataUser;
  /** Called with an error that only a defect in this program can cause. */
  readonly onBroken: (error: unknown) => void;
};
