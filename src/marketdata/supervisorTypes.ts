/** What the supervisor of market data is given, and what it tells. */
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

/** Where the book of now comes from. `poll`: also while nothing has been read since the stream was lost. */
export type BookSource = 'none' | 'poll' | 'stream';

/** How a read of the book ended that brought nothing. */
export type UnreadBook = Exclude<Outcome<never>, { readonly kind: 'done' }>;

/** A book that is kept order by order, from a whole one and every step after it. */
export interface SteppedBook {
  /** Step that it stands at; null while it waits for a whole book. */
  readonly sequence: bigint | null;
  take(diff: BookDiff): L3Step;
  /** Begins anew from a whole book and the steps held since; anything but `live` changed nothing. */
  seed(whole: BookSnapshot): Seeding;
  /** Something was missed: it waits for a whole book. */
  lose(): void;
}

/** Who uses the market data. Everything is told in the order in which it happened. */
export type MarketDataUser = {
  /** A piece of news is here, before anything is made of it. */
  readonly onNews?: (news: StreamNews) => void;
  /** The stepped book is a step further; whether it is the book of now says `onCurrent`. */
  readonly onStep?: (diff: BookDiff) => void;
  /**
   * The stepped book is the book of now: told at every step, sign of life and poll that says so. `was`: the source before. `polledAt`, by
   * `time`: when the poll began that says so, which is how old its word is; null when the stream itself does.
   */
  readonly onCurrent: (was: BookSource, polledAt: Millis | null) => void;
  /** Takes a book by levels, or `whole` by orders, that is newer than all before. Returns why nothing was taken, `null` if it was. */
  readonly takeBook: (book: BookSnapshot, whole: boolean) => string | null;
  /** The book just taken is the book of now. `startedAt`, by `time`: our orders that were in the book then are in it. */
  readonly onBook: (startedAt: Millis, source: BookSource) => void;
  /** Something was missed: the book is not known until the next of the two above. */
  readonly onLost: (reason: string, was: BookSource) => void;
  /** The exchange counts its books anew: what follows is newer all the same. `onLost` comes next. */
  readonly onCountedAnew?: (sequence: bigint, newest: bigint) => void;
  readonly onTrades?: (trades: readonly StreamTrade[]) => void;
  /** A whole book did not fit the steps; it is taken as a poll. */
  readonly onMisfit?: (why: Seeding) => void;
  readonly onUnread: (why: UnreadBook) => void;
  /** What else is polled, after the book. */
  readonly alsoPoll?: () => Promise<unknown>;
};

export type MarketDataSupervisorOptions = {
  readonly exchange: Pick<Exchange, 'orderBook'>;
  /** Without it books are polled only. */
  readonly stream?: MarketStream | undefined;
  readonly clock: Clock;
  /** Symbol. */
  readonly book: string;
  /** Without it nothing is made of steps: books are polled, or told whole by the stream. */
  readonly stepped?: SteppedBook;
  /** Between two polls, and after which a stream without a frame is not trusted without one. */
  readonly pollMs: () => Millis;
  /** What is polled while the stepped book is not there: by levels, or whole, order by order. */
  readonly polls: 'levels' | 'orders';
  /**
   * A polled book that is ahead of the stream: `show` takes it at once, for whoever quotes on it; `wait` leaves it to the stream, for whoever
   * must know each execution before the levels that it changed.
   */
  readonly ahead: 'show' | 'wait';
  /** Time that never steps back. */
  readonly time: () => Millis;
  /** What is heard now may have waited while this process stood still. */
  readonly isWaking?: () => boolean;
  /** Told of the stream's trades; its holes are closed between the read of a book and its telling. */
  readonly trades?: PublicTradeTail;
  readonly user: MarketDataUser;
  /** A belief about our own code is broken. */
  readonly onBroken: (error: unknown) => void;
};
