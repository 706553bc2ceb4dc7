/** Supervises the market data of one book: the stream while it is there and prompt, polled books while it is silent, behind or gone; never anything older after something newer. */
import type { BookDiff, BookSnapshot, Millis, StreamNews, Timer } from '../core/index.ts';
import { ClockOffset } from './clockOffset.ts';
import { SequenceReset } from './sequenceReset.ts';
import { damagedBook, passedOver } from './polledBook.ts';
import type { BookSource, MarketDataSupervisorOptions, SteppedBook, UnreadBook } from './supervisorTypes.ts';

/** Whole books cost public budget and are large: one in five seconds, and each time less often until a stream has been good for a minute. */
const RESYNC_EVERY_MS = 5_000;
const RESYNC_EVERY_MAX_MS = 60_000;
const GOOD_AFTER_MS = 60_000;
/** The stream is given a moment, so that the steps before the snapshot are there when it comes. */
const RESYNC_PAUSE_MS = 20;
/** A stream that is so far behind a polled book, or whose frames are so old, does not count as there: prompt ones differ by milliseconds. */
const LAG_MAX_MS = 2_000;
/** A slower answer says too little about now to make an unchanged book fresh. */
const CONFIRM_WITHIN_MS = 1_000;
const BEHIND = 'its book is behind the polled one';
const ANEW = 'the exchange counts its books anew';

const OLDER = passedOver('the book is older than the last one');
const TRADES_UNREAD: UnreadBook = { kind: 'unknown', reason: 'the trades before it could not be read to their end' };

const NO_STEPS: SteppedBook = {
  sequence: null,
  take: () => 'old',
  seed: () => 'no ids',
  lose: () => undefined,
};

export class MarketDataSupervisor {
  readonly #options: MarketDataSupervisorOptions;
  readonly #stepped: SteppedBook;
  readonly clockOffset = new ClockOffset();
  readonly #anew = new SequenceReset();
  #source: BookSource = 'none';
  #isUp = false;
  #stopped = false;
  /** This connection tells whole books: none is read to begin from. */
  #sendsBooks = false;
  /** Newest step that the user knows of; nothing older is ever told. */
  #newest = -1n;
  /** Since when the stepped book has been behind what was polled; null while it is not. */
  #behindSince: Millis | null = null;
  /** When the stream last confirmed its book. */
  #freshAt: Millis = -Infinity;
  #readAt: Millis = -Infinity;
  #reading = false;
  #underway: Promise<unknown> = Promise.resolve();
  #keepsPolling = false;
  #pollTimer: Timer | null = null;
  #resyncAt: Millis = -Infinity;
  #resyncTimer: Timer | null = null;
  /** Whole books read since the stream was last good for a while. */
  #resyncs = 0;
  #liveSince: Millis | null = null;

  constructor(options: MarketDataSupervisorOptions) {
    this.#options = options;
    this.#stepped = options.stepped ?? NO_STEPS;
  }

  /** Hears the stream. Polls are the caller's, by `poll` or `keepPolling`. */
  start(): void {
    this.#options.stream?.start(news => this.#guard(() => this.#hear(news)));
  }

  /** Tells nothing more. Resolves when a read under way has ended. */
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

  /** The stream has just confirmed that its book is the book of now. */
  get isFresh(): boolean {
    const { clock, pollMs } = this.#options;
    return this.#source === 'stream' && clock.elapsed() - this.#freshAt < pollMs();
  }

  /** Polls when it is due, from now until the stop. */
  keepPolling(): void {
    this.#keepsPolling = true;
    this.#pollWhenDue();
  }

  /** Reads the book over REST, unless the stream has just told of it or a read has just been. */
  async poll(): Promise<void> {
    const { clock, polls, pollMs, stream, trades, user } = this.#options;
    const now = clock.elapsed();
    if (this.#behindSince !== null && now - this.#behindSince >= LAG_MAX_MS) {
      this.#behindSince = null;
      stream?.restart(BEHIND);
    }
    if (this.#reading || this.#stopped) return;
    if (this.isFresh && !trades?.needsPages) return;
    // A whole book that was read for the stream was a poll too.
    if (now - this.#readAt >= pollMs() / 2) await this.#read(polls === 'levels' || this.#stepped.sequence !== null);
    await user.alsoPoll?.();
  }

  /** Reads a whole book beside the stream, to compare; null when it could not be read now. What it says is taken as a poll. */
  async check(): Promise<BookSnapshot | null> {
    return this.#reading || this.#stopped ? null : this.#read(false);
  }

  /** What was heard before, or waits to be heard, says nothing about now. */
  distrust(reason: string): void {
    const { stream } = this.#options;
    if (this.#stopped || stream === undefined) return;
    this.#lose(reason);
    stream.restart(reason);
  }

  #pollWhenDue(): void {
    // The end of a read calls again.
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

  #hear(news: StreamNews): void {
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
        this.clockOffset.reset();
        trades?.down();
        this.#lose(news.reason);
        return this.#pollWhenDue();
      case 'fault':
        this.#lose(`a frame could not be read: ${news.reason}`);
        return this.#resyncSoon();
      case 'alive':
        return this.#isWaking ? undefined : this.#confirm();
      case 'trades':
        trades?.hear(news.trades);
        return user.onTrades?.(news.trades);
      case 'diff':
        return this.#hearStep(news.diff);
      case 'book':
        return this.#hearBook(news.snapshot);
    }
  }

  #hearStep(diff: BookDiff): void {
    switch (this.#stepped.take(diff)) {
      case 'applied':
        this.#options.user.onStep?.(diff);
        if (this.#waits && diff.sequence > this.#newest) this.#newest = diff.sequence;
        if (this.#isPrompt(diff.sentAt)) this.#confirm();
        return;
      case 'gap':
        this.#lose('a frame was lost');
        return this.#resyncSoon();
      case 'held':
      case 'old':
        return;
    }
  }

  /** A book without steps. */
  #hearBook(book: BookSnapshot): void {
    const { time, user } = this.#options;
    this.#sendsBooks = true;
    const isPrompt = this.#isPrompt(book.updatedAt);
    if (this.#countsAnew(book)) return;
    if (!isPrompt || book.sequence < this.#newest) return;
    const unfit = user.takeBook(book, false);
    if (unfit !== null) return user.onUnread(damagedBook(unfit));
    this.#newest = book.sequence;
    this.#heard();
    user.onBook(Math.min(time(), this.clockOffset.ours(book.updatedAt)), 'stream');
  }

  get #waits(): boolean {
    return this.#options.ahead === 'wait';
  }

  get #isWaking(): boolean {
    return this.#options.isWaking?.() ?? false;
  }

  /** False for a frame that was long on its way: then there may be newer ones behind it. */
  #isPrompt(sentAt: Millis | undefined): boolean {
    if (this.#isWaking || sentAt === undefined) return !this.#isWaking;
    return this.clockOffset.saw(this.#options.time(), sentAt) < LAG_MAX_MS;
  }

  /** The exchange has just been heard: what the stepped book holds is the book of now, unless a poll has seen more. */
  #confirm(polledAt: Millis | null = null): void {
    const sequence = this.#stepped.sequence;
    if (sequence === null || sequence < this.#newest) return;
    this.#newest = sequence;
    this.#options.user.onCurrent(this.#heard(), polledAt);
  }

  /** Returns the source before. */
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
    this.#stepped.lose();
    trades?.doubt();
    if (this.#liveSince !== null && clock.elapsed() - this.#liveSince >= GOOD_AFTER_MS) this.#resyncs = 0;
    this.#liveSince = null;
    this.#behindSince = null;
    this.#source = 'poll';
    user.onLost(reason, was);
  }

  /** The stream tells steps, and there is no book yet that they go on from. */
  get #needsWhole(): boolean {
    return this.#isUp && !this.#sendsBooks && this.#stepped !== NO_STEPS && this.#stepped.sequence === null;
  }

  /** A whole book as soon as the bound on them allows. */
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
    if (this.#stopped || !this.#needsWhole) return;
    // A poll that is under way ends soon; the two must not overtake each other.
    if (!this.#reading) {
      this.#resyncAt = this.#options.clock.elapsed();
      await this.#read(false);
      this.#resyncs++;
    }
    this.#resyncSoon();
  }

  /** Reads a book, by levels or whole; null when that brought nothing. */
  #read(aggregate: boolean): Promise<BookSnapshot | null> {
    const reading = this.#readOf(aggregate);
    this.#underway = reading;
    return reading;
  }

  async #readOf(aggregate: boolean): Promise<BookSnapshot | null> {
    const { book, clock, exchange, time, trades, user } = this.#options;
    this.#reading = true;
    const startedAt = time();
    this.#readAt = clock.elapsed();
    try {
      const outcome = await exchange.orderBook(book, aggregate);
      // Read after the book and told before it: every execution comes before the levels that it changed.
      const isWithout = trades?.needsPages && !this.#stopped && !(await trades.fill());
      if (this.#stopped) return null;
      // Levels are worth more than their trades, which come with the next read; a stream begins with both.
      if (outcome.kind !== 'done' || (isWithout && !aggregate)) {
        user.onUnread(outcome.kind !== 'done' ? outcome : TRADES_UNREAD);
        return null;
      }
      this.#countsAnew(outcome.value);
      if (aggregate) this.#polled(outcome.value, startedAt, false);
      else this.#wholeBook(outcome.value, startedAt);
      return outcome.value;
    } finally {
      this.#reading = false;
      this.#pollWhenDue();
    }
  }

  /** An exchange that was started again counts from the beginning: after a while nothing older is told for that. */
  #countsAnew({ sequence }: BookSnapshot): boolean {
    const { clock, stream, user } = this.#options;
    if (!this.#anew.saw(sequence, this.#newest, clock.elapsed())) return false;
    user.onCountedAnew?.(sequence, this.#newest);
    this.#newest = -1n;
    this.#lose(ANEW);
    stream?.restart(ANEW);
    return true;
  }

  #wholeBook(snapshot: BookSnapshot, startedAt: Millis): void {
    const { clock, user } = this.#options;
    const isOld = this.#waits && snapshot.sequence < this.#newest;
    // The connection may have been lost while the book was on its way.
    const seeding = this.#needsWhole && !isOld ? this.#stepped.seed(snapshot) : null;
    if (seeding === 'live') {
      if (this.#stepped.sequence! >= this.#newest) this.#confirm();
      else this.#behindSince ??= clock.elapsed();
      return;
    }
    if (seeding !== null) user.onMisfit?.(seeding);
    this.#polled(snapshot, startedAt, true);
  }

  #polled(snapshot: BookSnapshot, startedAt: Millis, whole: boolean): void {
    const { clock, time, user } = this.#options;
    const stepped = this.#stepped.sequence;
    if (stepped !== null && stepped === snapshot.sequence) {
      if (time() - startedAt <= CONFIRM_WITHIN_MS) this.#confirm(startedAt);
      return;
    }
    // The stream may have overtaken the answer: then it says nothing about now.
    if (stepped !== null && stepped > snapshot.sequence) return;
    const shows = stepped === null || !this.#waits;
    if (snapshot.sequence < this.#newest) return user.onUnread(OLDER);
    const unfit = shows ? user.takeBook(snapshot, whole) : null;
    if (unfit !== null) return user.onUnread(damagedBook(unfit));
    // However lately the stream was heard: this book is ahead of it, and has our orders in it.
    this.#freshAt = -Infinity;
    this.#newest = snapshot.sequence;
    if (stepped !== null) this.#behindSince ??= clock.elapsed();
    if (this.#source === 'none') this.#source = 'poll';
    if (shows) user.onBook(startedAt, 'poll');
  }
}
