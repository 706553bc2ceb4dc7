/**
 * Market-data supervisor of one book. Uses the stream if it is up and prompt, otherwise polled books. Never reports
 * older data after newer data.
 */
import type { BookDiff, BookSnapshot, Millis, StreamNews, Timer } from '../core/index.ts';
import { ClockOffset } from './clockOffset.ts';
import { SequenceReset } from './sequenceReset.ts';
import { damagedBook, unusedBook } from './polledBook.ts';
import type { BookSource, MarketDataSupervisorOptions, PollState, SteppedBook, UnreadBook } from './supervisorTypes.ts';

/**
 * Initial interval between reads of complete books, which are large and use the public request budget. The interval
 * doubles after each read until the stream has provided the book for a minute.
 */
const RESYNC_EVERY_MS = 5_000;
const RESYNC_EVERY_MAX_MS = 60_000;
const GOOD_AFTER_MS = 60_000;
/**
 * Minimum delay before a complete book is read, so that the stream already sends book updates when the snapshot is
 * taken.
 */
const RESYNC_PAUSE_MS = 20;
/**
 * Maximum delay of frames, and maximum lag behind a polled book, for a stream that counts as up. The delays of prompt
 * frames differ only by milliseconds.
 */
const LAG_MAX_MS = 2_000;
/** Maximum answer time for a read that confirms the order-by-order book; a slower answer may be outdated. */
const CONFIRM_WITHIN_MS = 1_000;
const BEHIND = 'the book of the stream is older than the polled book';
const SEQUENCE_RESET = 'the exchange counts its books anew';

const OLDER = unusedBook('the book is older than the previous book');
const TRADES_UNREAD: UnreadBook = {
  kind: 'unknown',
  reason: 'the trades before the polled book could not be read completely',
};

/** Start of a book read, and the time until its answer; the subsequent read of trades is not included. */
type TimedRead = { readonly startedAt: Millis; readonly tookMs: Millis };

const NO_STEPS: SteppedBook = {
  sequence: null,
  take: () => 'old',
  seed: () => 'no ids',
  markIncomplete: () => undefined,
};

export class MarketDataSupervisor {
  readonly #options: MarketDataSupervisorOptions;
  readonly #stepped: SteppedBook;
  readonly clockOffset = new ClockOffset();
  readonly #anew = new SequenceReset();
  #source: BookSource = 'none';
  #isUp = false;
  #stopped = false;
  /**
   * Whether this connection sends complete books. If true, the supervisor need not read a complete book at the start.
   */
  #sendsBooks = false;
  /** Newest sequence number reported to the user; older data is never reported. */
  #newest = -1n;
  /** Time at which the stream's book fell behind the polled book; `null` if it is not behind. */
  #behindSince: Millis | null = null;
  /** Time of the stream's last confirmation of the book. */
  #freshAt: Millis = -Infinity;
  /** Latest time, by the option `time`, for which a frame's send time or a poll proves that this connection is current. */
  #provenAt: Millis = -Infinity;
  /** Whether a frame of this connection had a send time. */
  #isTimed = false;
  #readAt: Millis = -Infinity;
  #reading = false;
  #reads = 0;
  #underway: Promise<unknown> = Promise.resolve();
  #keepsPolling = false;
  #pollTimer: Timer | null = null;
  #resyncAt: Millis = -Infinity;
  #resyncTimer: Timer | null = null;
  /** Number of complete books read since the stream last provided the book for at least a minute. */
  #resyncs = 0;
  #liveSince: Millis | null = null;

  constructor(options: MarketDataSupervisorOptions) {
    this.#options = options;
    this.#stepped = options.stepped ?? NO_STEPS;
  }

  /** Starts the stream. The caller must poll too, with `poll` or `keepPolling`. */
  start(): void {
    this.#options.stream?.start(news => this.#guard(() => this.#onNews(news)));
  }

  /** Stops the stream, the polls and all callbacks to the user. Resolves when a pending read has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#resyncTimer?.stop();
    this.#pollTimer?.stop();
    this.#options.stream?.close();
    await this.#underway.catch(() => undefined);
  }

  get source(): BookSource {
    return this.#source;
  }

  /** Whether the stream has just confirmed that the book is current. */
  get isFresh(): boolean {
    const { clock, pollMs } = this.#options;
    // The same sum as in `#pollWhenDue`: a difference may round to less, and the poll would be due for ever.
    return this.#source === 'stream' && clock.elapsed() < this.#freshAt + pollMs();
  }

  /**
   * State of the polls; `null` if no poll is wanted, because the stream has just confirmed the book or a read is under
   * way.
   */
  get pollState(): PollState | null {
    if (this.#reading || this.#stopped || this.isFresh) return null;
    const age = this.#options.clock.elapsed() - Math.max(this.#readAt, this.#freshAt);
    return { age, isOnStream: this.#source === 'stream' && this.#behindSince === null };
  }

  /** Number of book reads that were started. */
  get reads(): number {
    return this.#reads;
  }

  /** Polls whenever a poll is due, until `stop`. */
  keepPolling(): void {
    this.#keepsPolling = true;
    this.#pollWhenDue();
  }

  /** Reads the book over REST, unless the stream has just confirmed the book or a read was recent. */
  async poll(): Promise<void> {
    const { clock, polls, pollMs, stream, trades, user } = this.#options;
    const now = clock.elapsed();
    if (this.#behindSince !== null && now - this.#behindSince >= LAG_MAX_MS) {
      this.#behindSince = null;
      stream?.restart(BEHIND);
    }
    if (this.#reading || this.#stopped) return;
    if (this.isFresh && !trades?.needsPages) return;
    // A complete book that was read for the stream also counts as a poll.
    if (now - this.#readAt >= pollMs() / 2) await this.#read(polls === 'levels' || this.#stepped.sequence !== null);
    await user.alsoPoll?.();
  }

  /**
   * Reads a complete book for comparison with the stream; also counts as a poll. Resolves to `null` if the book could
   * not be read now.
   */
  async check(): Promise<BookSnapshot | null> {
    return this.#reading || this.#stopped ? null : this.#read(false);
  }

  /** Discards all data received or queued until now as unreliable, and restarts the stream. */
  rejectAsUnreliable(reason: string): void {
    const { stream } = this.#options;
    if (this.#stopped || stream === undefined) return;
    this.#lose(reason);
    stream.restart(reason);
  }

  #pollWhenDue(): void {
    // A pending read calls this method again when the read ends.
    if (!this.#keepsPolling || this.#stopped || this.#reading) return;
    const { clock, onBroken, pollMs, trades } = this.#options;
    const since = this.isFresh && !trades?.needsPages ? this.#freshAt : this.#readAt;
    this.#pollTimer?.stop();
    this.#pollTimer = clock.after(Math.max(0, since + pollMs() - clock.elapsed()), () => {
      this.poll()
        .catch(onBroken)
        .finally(() => this.#pollWhenDue());
    });
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.onBroken(error);
    }
  }

  #onNews(news: StreamNews): void {
    const { trades, user } = this.#options;
    user.onNews?.(news);
    if (this.#stopped) return;
    switch (news.kind) {
      case 'up':
        this.#isUp = true;
        this.#sendsBooks = false;
        trades?.up();
        return this.#resyncSoon();
      case 'down':
        this.#isUp = false;
        this.#isTimed = false;
        this.#provenAt = -Infinity;
        this.clockOffset.reset();
        trades?.down();
        this.#lose(news.reason);
        return this.#pollWhenDue();
      case 'fault':
        this.#lose(`a stream frame could not be read: ${news.reason}`);
        return this.#resyncSoon();
      case 'alive':
        return this.#isProven && !this.#isWaking ? this.#confirm() : undefined;
      case 'trades':
        trades?.addStreamTrades(news.trades);
        return user.onTrades?.(news.trades);
      case 'diff':
        return this.#onStep(news.diff);
      case 'book':
        return this.#onBook(news.snapshot, news.sentAt);
    }
  }

  #onStep(diff: BookDiff): void {
    switch (this.#stepped.take(diff)) {
      case 'applied':
        this.#options.user.onStep?.(diff);
        if (this.#waits && diff.sequence > this.#newest) this.#newest = diff.sequence;
        if (this.#isPrompt(diff.sentAt)) this.#confirm(null, diff.sentAt ?? null);
        return;
      case 'gap':
        this.#lose('a frame was lost');
        return this.#resyncSoon();
      case 'held':
      case 'old':
        return;
    }
  }

  /** Handles a complete book from a stream that sends complete books instead of single changes. */
  #onBook(book: BookSnapshot, sentAt: Millis | undefined): void {
    const { time, user } = this.#options;
    this.#sendsBooks = true;
    const isPrompt = this.#isPrompt(sentAt);
    if (this.#countsAnew(book)) return;
    if (!isPrompt || book.sequence < this.#newest) return;
    const unfit = user.takeBook(book, false);
    if (unfit !== null) return user.onUnread(damagedBook(unfit));
    this.#newest = book.sequence;
    this.#heard();
    const at = sentAt === undefined ? time() : Math.min(time(), this.clockOffset.toLocalTime(sentAt));
    user.onBook(at, 'stream', sentAt ?? null);
  }

  get #waits(): boolean {
    return this.#options.ahead === 'wait';
  }

  get #isWaking(): boolean {
    return this.#options.isWaking?.() ?? false;
  }

  /**
   * Whether the frame arrived promptly. Newer frames may still be queued behind a delayed frame. A frame without a send
   * time is at least as new as the previous frame, unless no frame of the connection has a time; then it counts as
   * prompt.
   */
  #isPrompt(sentAt: Millis | undefined): boolean {
    if (this.#isWaking) return false;
    const now = this.#options.time();
    if (sentAt === undefined) {
      if (!this.#isTimed) this.#provenAt = now;
      return this.#isProven;
    }
    this.#isTimed = true;
    const lag = this.clockOffset.recordMessage(now, sentAt);
    this.#provenAt = Math.max(this.#provenAt, now - lag);
    return lag < LAG_MAX_MS;
  }

  /** Whether data that arrives on this connection now is known to be no older than the maximum delay. */
  get #isProven(): boolean {
    return this.#options.time() - this.#provenAt < LAG_MAX_MS;
  }

  /** Reports the stream's book as current after a frame or poll, unless a poll has read a newer book. */
  #confirm(polledAt: Millis | null = null, sentAt: Millis | null = null): void {
    const sequence = this.#stepped.sequence;
    if (sequence === null || sequence < this.#newest) return;
    this.#newest = sequence;
    this.#options.user.onCurrent(this.#heard(), polledAt, sentAt);
  }

  /** Records that the stream confirmed its book. Returns the source of the book before this confirmation. */
  #heard(): BookSource {
    const was = this.#source;
    this.#freshAt = this.#options.clock.elapsed();
    this.#behindSince = null;
    this.#source = 'stream';
    if (was !== 'stream') this.#liveSince = this.#freshAt;
    return was;
  }

  #lose(reason: string): void {
    const { clock, trades, user } = this.#options;
    const was = this.#source;
    this.#stepped.markIncomplete();
    trades?.markUncertain();
    if (this.#liveSince !== null && clock.elapsed() - this.#liveSince >= GOOD_AFTER_MS) this.#resyncs = 0;
    this.#liveSince = null;
    this.#behindSince = null;
    this.#source = 'poll';
    user.onLost(reason, was);
  }

  /** Whether the stream sends book updates, and a complete book is needed before the updates can be applied. */
  get #needsWhole(): boolean {
    return this.#isUp && !this.#sendsBooks && this.#stepped !== NO_STEPS && this.#stepped.sequence === null;
  }

  /**
   * Schedules the read of a complete book if one is needed before book updates can be applied. The interval between
   * these reads doubles after each read.
   */
  #resyncSoon(): void {
    if (this.#resyncTimer !== null || this.#stopped || !this.#needsWhole) return;
    const { clock, onBroken } = this.#options;
    const every = Math.min(RESYNC_EVERY_MAX_MS, RESYNC_EVERY_MS * 2 ** Math.min(Math.max(0, this.#resyncs - 1), 10));
    this.#resyncTimer = clock.after(Math.max(RESYNC_PAUSE_MS, this.#resyncAt + every - clock.elapsed()), () => {
      this.#resyncTimer = null;
      this.#resync().catch(onBroken);
    });
  }

  async #resync(): Promise<void> {
    if (!this.#needsWhole) return;
    // A pending poll ends soon, and two reads at once could be answered in reverse order.
    if (!this.#reading) {
      this.#resyncAt = this.#options.clock.elapsed();
      await this.#read(false);
      this.#resyncs++;
    }
    this.#resyncSoon();
  }

  /** Reads a book, aggregated by levels or complete. Resolves to `null` if the read returned no usable book. */
  #read(aggregate: boolean): Promise<BookSnapshot | null> {
    const reading = this.#readOf(aggregate);
    this.#underway = reading;
    return reading;
  }

  async #readOf(aggregate: boolean): Promise<BookSnapshot | null> {
    const { book, clock, exchange, time, trades, user } = this.#options;
    this.#reading = true;
    this.#reads++;
    const startedAt = time();
    this.#readAt = clock.elapsed();
    try {
      const outcome = await exchange.orderBook(book, aggregate);
      const tookMs = time() - startedAt;
      // Trades are read after the book and reported before it, so that every execution precedes the levels that it
      // changed.
      const isWithout = trades?.needsPages && !this.#stopped && !(await trades.fill());
      if (this.#stopped) return null;
      // Polled levels are used even if their trades could not be read, because the next read returns the trades. The
      // start of a stream needs the book and its trades.
      if (outcome.kind !== 'done' || (isWithout && !aggregate)) {
        user.onUnread(outcome.kind !== 'done' ? outcome : TRADES_UNREAD);
        return null;
      }
      this.#countsAnew(outcome.value);
      if (aggregate) this.#polled(outcome.value, { startedAt, tookMs }, false);
      else this.#wholeBook(outcome.value, { startedAt, tookMs });
      return outcome.value;
    } finally {
      this.#reading = false;
      this.#pollWhenDue();
    }
  }

  /**
   * Returns whether the exchange has restarted its sequence numbers. If so, accepts the lower numbers and restarts the
   * stream.
   */
  #countsAnew({ sequence }: BookSnapshot): boolean {
    const { clock, stream, user } = this.#options;
    if (!this.#anew.recordRead(sequence, this.#newest, clock.elapsed())) return false;
    user.onCountedAnew?.(sequence, this.#newest);
    this.#newest = -1n;
    this.#lose(SEQUENCE_RESET);
    stream?.restart(SEQUENCE_RESET);
    return true;
  }

  #wholeBook(snapshot: BookSnapshot, timed: TimedRead): void {
    const { clock, user } = this.#options;
    const isOld = this.#waits && snapshot.sequence < this.#newest;
    // A connection that was lost during the read no longer needs a complete book.
    const seeding = this.#needsWhole && !isOld ? this.#stepped.seed(snapshot) : null;
    if (seeding === 'live') {
      this.#provenAt = timed.startedAt;
      if (this.#stepped.sequence! < this.#newest) this.#behindSince ??= clock.elapsed();
      // A slow answer may be older than every frame: then the next frame confirms the book.
      else if (timed.tookMs <= CONFIRM_WITHIN_MS) this.#confirm();
      return;
    }
    if (seeding !== null) user.onMisfit?.(seeding);
    this.#polled(snapshot, timed, true);
  }

  #polled(snapshot: BookSnapshot, { startedAt, tookMs }: TimedRead, whole: boolean): void {
    const { clock, user } = this.#options;
    const stepped = this.#stepped.sequence;
    if (stepped !== null && stepped === snapshot.sequence) {
      this.#provenAt = Math.max(this.#provenAt, startedAt);
      if (tookMs <= CONFIRM_WITHIN_MS) this.#confirm(startedAt);
      return;
    }
    // The stream's book includes later updates than the answer, so the answer is outdated.
    if (stepped !== null && stepped > snapshot.sequence) return;
    const shows = stepped === null || !this.#waits;
    if (snapshot.sequence < this.#newest) return user.onUnread(OLDER);
    const unfit = shows ? user.takeBook(snapshot, whole) : null;
    if (unfit !== null) return user.onUnread(damagedBook(unfit));
    // The polled book is newer and contains the bot's orders, so a recent confirmation by the stream no longer counts.
    this.#freshAt = -Infinity;
    this.#newest = snapshot.sequence;
    if (stepped !== null) this.#behindSince ??= clock.elapsed();
    if (this.#source === 'none') this.#source = 'poll';
    if (shows) user.onBook(startedAt, 'poll', null);
  }
}
