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
  Seeding,
  StreamNews,
  StreamTrade,
} from '../core/index.ts';
import type { PublicTradeTail } from './publicTradeTail.ts';

/** Source of the current book. `poll` also applies after a stream loss until the next read. */
export type BookSource = 'none' | 'poll' | 'stream';

/** Outcome of a book read without a result. */
export type UnreadBook = Exclude<Outcome<never>, { readonly kind: 'done' }>;

/** Order-by-order book, kept from a complete book and every later step. */
export interface SteppedBook {
  /** Current sequence number; null while waiting for a complete book. */
  readonly sequence: bigint | null;
  take(diff: BookDiff): L3Step;
  /** Restarts from a complete book and the steps held since. Any result except `live` changed nothing. */
  seed(whole: BookSnapshot): Seeding;
  /** Records a loss; then waits for a complete book. */
  markIncomplete(): void;
}

/** User of the market data. Callbacks follow the order of events. */
export type MarketDataUser = {
  /** Called with each piece of news before it is processed. */
  readonly onNews?: (news: StreamNews) => void;
  /** Called after a step of the stepped book; `onCurrent` reports whether it is current. */
  readonly onStep?: (diff: BookDiff) => void;
  /**
   * Called whenever a step, sign of life or poll confirms the stepped book as current. `was` is the previous source.
   * `polledAt` (by `time`) is the start of the confirming poll; null if the stream confirmed it.
   */
  readonly onCurrent: (was: BookSource, polledAt: Millis | null) => void;
  /** Applies a newer book, by levels or, if `whole`, by orders. Returns the reason if it was not applied, otherwise `null`. */
  readonly takeBook: (book: BookSnapshot, whole: boolean) => string | null;
  /** Called after the book just applied became current. It contains the bot's orders as of `startedAt` (by `time`). */
  readonly onBook: (startedAt: Millis, source: BookSource) => void;
  /** Called after a loss: the book is unknown until the next `onCurrent` or `onBook`. */
  readonly onLost: (reason: string, was: BookSource) => void;
  /** Called if the exchange restarted its sequence, so that later books are newer despite lower numbers. `onLost` follows. */
  readonly onCountedAnew?: (sequence: bigint, newest: bigint) => void;
  readonly onTrades?: (trades: readonly StreamTrade[]) => void;
  /** Called if a complete book did not fit the steps; it counts as a poll. */
  readonly onMisfit?: (why: Seeding) => void;
  readonly onUnread: (why: UnreadBook) => void;
  /** Additional poll after the book. */
  readonly alsoPoll?: () => Promise<unknown>;
};

export type MarketDataSupervisorOptions = {
  readonly exchange: Pick<Exchange, 'orderBook'>;
  /** If absent, books are only polled. */
  readonly stream?: MarketStream | undefined;
  readonly clock: Clock;
  /** Symbol. */
  readonly book: string;
  /** If absent, steps are ignored: books are polled, or sent complete by the stream. */
  readonly stepped?: SteppedBook;
  /** Time between two polls, and maximum time without a frame before the stream needs a confirming poll. */
  readonly pollMs: () => Millis;
  /** Polls while the stepped book is unavailable: by levels, or complete by orders. */
  readonly polls: 'levels' | 'orders';
  /**
   * Handling of a polled book that is ahead of the stream. `show` applies it immediately, for quoting. `wait` leaves it
   * to the stream, for users that need each execution before the levels that it changed.
   */
  readonly ahead: 'show' | 'wait';
  /** Time that never steps back. */
  readonly time: () => Millis;
  /** Whether current input may have been queued while the process was suspended. */
  readonly isWaking?: () => boolean;
  /** Receives the stream's trades. Its gaps are closed between the read of a book and its report. */
  readonly trades?: PublicTradeTail;
  readonly user: MarketDataUser;
  /** Called on a defect in this program. */
  readonly onBroken: (error: unknown) => void;
};
