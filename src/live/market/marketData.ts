/** Market data for the engine: the stream by default, polled books whenever it is silent, behind or gone; each book has one source at a time. */
import { mayLive, opposite, L3Book, OrderBook } from '../../core/index.ts';
import type {
  BookDiff,
  BookSnapshot,
  EngineEvent,
  Millis,
  Side,
  StreamNews,
  StreamTrade,
  Timer,
} from '../../core/index.ts';
import { SequenceReset } from './sequenceReset.ts';
import type { MarketDataOptions, MarketDataStatus } from './marketDataOptions.ts';
import { oursIn } from '../account/ourOids.ts';
import { writeLevels } from './polledBook.ts';
import { EventDrivenReads } from '../account/eventDrivenReads.ts';
import { ReferenceReads } from './reference.ts';
import { amountOrNull, isFailed, priceOrNull } from '../account/reads.ts';

export type { MarketDataOptions, MarketDataStatus } from './marketDataOptions.ts';

/** Whole books cost public budget and are large: one in five seconds, and each time less often until a stream has been good for a minute. */
const RESYNC_EVERY_MS = 5_000;
const RESYNC_EVERY_MAX_MS = 60_000;
const GOOD_AFTER_MS = 60_000;
/** The stream is given a moment, so that the steps before the snapshot are there when it comes. */
const RESYNC_PAUSE_MS = 20;
/** A stream that is so far behind a polled book, or whose frames are so old, does not count as fresh. */
const LAG_MAX_MS = 2_000;
/** A slower answer says too little about now to make an unchanged book fresh. */
const CONFIRM_WITHIN_MS = 1_000;
const TRADE_EVERY_MS = 20_000;
/** Between two tellings of the stream's book, unless something else happens. */
const TELL_EVERY_MS = 100;

const PASSED_OVER = {
  kind: 'refused',
  code: 'passed over',
  message: 'the book is older than the last one, or a number in it does not fit',
  status: 200,
} as const;

export class MarketData {
  readonly #options: MarketDataOptions;
  /** The market's book as the engine was last told of it, or will be next; from one source at a time. */
  readonly #book = new OrderBook();
  readonly #feed: L3Book;
  readonly #prompt: EventDrivenReads;
  readonly #reference: ReferenceReads | null;
  #source: 'none' | 'poll' | 'stream' = 'none';
  #isUp = false;
  #stopped = false;
  /** Newest step of the book that the engine was shown; nothing older ever is. */
  #shown = -1n;
  readonly #anew = new SequenceReset();
  /** Since when the feed has been behind what was polled; null while it is not. */
  #behindSince: Millis | null = null;
  #freshAt: Millis = -Infinity;
  #readAt: Millis = -Infinity;
  #tradeAt: Millis = -Infinity;
  #resyncAt: Millis = -Infinity;
  #resyncTimer: Timer | null = null;
  /** Whole books read since the stream was last good for a while. */
  #resyncs = 0;
  #liveSince: Millis | null = null;
  #reading = false;
  /** The book has changed since the engine was told. */
  #untold = false;
  #toldAt: Millis = -Infinity;
  #tellTimer: Timer | null = null;
  /** Smallest difference seen between our clock and the exchange's, on this connection. */
  #offset = Infinity;

  constructor(options: MarketDataOptions) {
    this.#options = options;
    const { engine } = options;
    this.#prompt = new EventDrivenReads(options);
    this.#reference = options.reference ? new ReferenceReads({ ...options, ...options.reference }) : null;
    this.#feed = new L3Book({
      instrument: options.instrument(),
      book: this.#book,
      pending: () => engine.liveOrders.filter(order => order.oid === null && mayLive(order)),
      onOwn: (oid, change) =>
        this.#prompt.seen(change === 'filled' ? { kind: 'traded', tid: null } : { kind: 'gone', oid }),
    });
  }

  start(): void {
    const { stream, onBroken } = this.#options;
    this.#reference?.start();
    stream?.start(news => {
      try {
        this.#hear(news);
      } catch (error) {
        onBroken(error);
      }
    });
  }

  /** Resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#resyncTimer?.stop();
    this.#tellTimer?.stop();
    this.#options.stream?.close();
    await Promise.all([this.#prompt.stop(), this.#reference?.stop()]);
  }

  /** A webhook told of money that came or went: the account is looked at. */
  moved(): void {
    this.#prompt.seen({ kind: 'moved' });
  }

  /** What was heard before, or waits to be heard, says nothing about now. */
  distrust(): void {
    const { stream } = this.#options;
    if (this.#stopped || stream === undefined) return;
    this.#lose('this process stood still');
    stream.restart('this process stood still');
  }

  get status(): MarketDataStatus {
    const { stream } = this.#options;
    const ahead = (side: Side) => (this.#source === 'stream' ? this.#feed.aheadOfBest(side) : null);
    return {
      streamUp: stream === undefined ? null : this.#source === 'stream',
      queueAhead: { buy: ahead('buy'), sell: ahead('sell') },
    };
  }

  /** Reads the book over REST unless the stream has just told of it. */
  async poll(): Promise<void> {
    const { clock, stream } = this.#options;
    const now = clock.elapsed();
    if (this.#behindSince !== null && now - this.#behindSince >= LAG_MAX_MS) {
      this.#behindSince = null;
      stream?.restart('its book is behind the polled one');
    }
    if (this.#reading || this.#stopped) return;
    if (this.#isFresh()) return;
    // A whole book that was read for the stream was a poll too.
    if (now - this.#readAt >= this.#options.timing.bookPollMs / 2) await this.#read(true);
    await this.#readTrade();
  }

  /**
   * To be called with every event before the engine takes it: it then decides on the newest book, and what it is told of our oids is
   * taken out of that book.
   */
  learn(event: EngineEvent): void {
    if (event.kind === 'book') return;
    let changed = false;
    for (const { oid, id } of oursIn(event, `${this.#options.instance}-`)) {
      if (this.#feed.own(oid, id)) changed = true;
    }
    if (this.#untold || (changed && this.#isFresh())) this.#tell(null);
  }

  #isFresh(): boolean {
    const { clock, timing } = this.#options;
    return this.#source === 'stream' && clock.elapsed() - this.#freshAt < timing.bookPollMs;
  }

  #hear(news: StreamNews): void {
    this.#options.onTurn();
    if (this.#stopped) return;
    switch (news.kind) {
      case 'up':
        this.#isUp = true;
        this.#resyncSoon();
        return;
      case 'down':
        this.#isUp = false;
        this.#offset = Infinity;
        this.#lose(news.reason);
        return;
      case 'fault':
        this.#lose(`a frame could not be read: ${news.reason}`);
        this.#resyncSoon();
        return;
      case 'alive':
        return this.#options.isWaking() ? undefined : this.#refresh();
      case 'trades':
        return this.#hearTrades(news.trades);
      case 'diff':
        return this.#hearDiff(news.diff);
      case 'book':
        return this.#options.isWaking() ? undefined : this.#polled(news.snapshot, this.#options.time());
    }
  }

  #hearDiff(diff: BookDiff): void {
    switch (this.#feed.take(diff)) {
      case 'applied':
        if (this.#isPrompt(diff.sentAt)) this.#refresh();
        return;
      case 'gap':
        this.#lose('a frame was lost');
        this.#resyncSoon();
        return;
      case 'held':
      case 'old':
        return;
    }
  }

  #hearTrades(trades: readonly StreamTrade[]): void {
    const { instrument, time, step } = this.#options;
    for (const trade of trades) {
      if (this.#feed.isOwn(trade.makerOid) || this.#feed.isOwn(trade.takerOid))
        this.#prompt.seen({ kind: 'traded', tid: trade.tid });
    }
    for (const { price: text, amount: lots, makerSide } of trades) {
      const price = priceOrNull(instrument(), text);
      const amount = amountOrNull(instrument(), lots);
      if (price && amount !== null)
        step({ kind: 'public trade', at: time(), price, amount, side: opposite(makerSide) });
    }
  }

  /** The exchange has just been heard: what the feed holds is the book of now. */
  #refresh(): void {
    const sequence = this.#feed.sequence;
    if (sequence === null || sequence < this.#shown) return;
    const { clock, log } = this.#options;
    this.#freshAt = clock.elapsed();
    this.#behindSince = null;
    this.#shown = sequence;
    this.#feed.show();
    if (this.#source !== 'stream') {
      this.#source = 'stream';
      this.#liveSince = this.#freshAt;
      log.info({ sequence: String(sequence), orders: this.#feed.size }, 'market data comes from the stream');
    }
    this.#tellSoon();
  }

  /** False for a frame that was long on its way: then there may be newer ones behind it. */
  #isPrompt(sentAt: Millis | undefined): boolean {
    if (this.#options.isWaking() || sentAt === undefined) return !this.#options.isWaking();
    const offset = this.#options.time() - sentAt;
    this.#offset = Math.min(this.#offset, offset);
    return offset - this.#offset < LAG_MAX_MS;
  }

  #lose(reason: string): void {
    this.#feed.lose();
    if (this.#liveSince !== null && this.#options.clock.elapsed() - this.#liveSince >= GOOD_AFTER_MS) this.#resyncs = 0;
    this.#liveSince = null;
    this.#behindSince = null;
    this.#untold = false;
    if (this.#source === 'poll') return;
    const wasStream = this.#source === 'stream';
    this.#source = 'poll';
    if (wasStream) this.#options.log.warn({ reason }, `market data is polled: ${reason}`);
    else this.#options.log.info({ reason }, `market data is polled until the stream is there: ${reason}`);
  }

  /** A whole book as soon as the bound on them allows. */
  #resyncSoon(): void {
    if (this.#resyncTimer !== null || this.#stopped || !this.#isUp || this.#feed.sequence !== null) return;
    const { clock } = this.#options;
    const every = Math.min(RESYNC_EVERY_MAX_MS, RESYNC_EVERY_MS * 2 ** Math.min(Math.max(0, this.#resyncs - 1), 10));
    this.#resyncTimer = clock.after(Math.max(RESYNC_PAUSE_MS, this.#resyncAt + every - clock.elapsed()), () => {
      this.#resyncTimer = null;
      this.#resync().catch(this.#options.onBroken);
    });
  }

  async #resync(): Promise<void> {
    if (this.#stopped || !this.#isUp || this.#feed.sequence !== null) return;
    // A poll that is under way ends soon; the two must not overtake each other.
    if (!this.#reading) {
      this.#resyncAt = this.#options.clock.elapsed();
      await this.#read(false);
      this.#resyncs++;
    }
    this.#resyncSoon();
  }

  /** Reads a book, by levels or whole; false when that brought nothing. */
  async #read(aggregate: boolean): Promise<boolean> {
    const { exchange, clock, book, note, time } = this.#options;
    this.#reading = true;
    const startedAt = time();
    this.#readAt = clock.elapsed();
    try {
      const outcome = await exchange.orderBook(book, aggregate);
      if (this.#stopped) return false;
      if (outcome.kind !== 'done') {
        note('order_book', outcome);
        return false;
      }
      this.#learnSequence(outcome.value);
      if (aggregate) this.#polled(outcome.value, startedAt);
      else this.#wholeBook(outcome.value, startedAt);
      return true;
    } finally {
      this.#reading = false;
    }
  }

  /** The last trade, now and then, while the stream does not tell of them. */
  async #readTrade(): Promise<void> {
    const { clock, instrument, note, reads, step } = this.#options;
    if (this.#source === 'stream' || clock.elapsed() - this.#tradeAt < TRADE_EVERY_MS) return;
    this.#tradeAt = clock.elapsed();
    const event = await reads.publicTrade(instrument());
    if (event === null) return;
    if (isFailed(event)) note('trades', event);
    else step(event);
  }

  /** An exchange that was started again counts from the beginning: after a while nothing older is shown for that. */
  #learnSequence({ sequence }: BookSnapshot): void {
    const { clock, log, stream } = this.#options;
    if (!this.#anew.saw(sequence, this.#shown, clock.elapsed())) return;
    log.warn({ sequence: String(sequence) }, `the exchange counts its books anew: ${sequence} follows ${this.#shown}`);
    this.#shown = -1n;
    this.#lose('the exchange counts its books anew');
    stream?.restart('the exchange counts its books anew');
  }

  #wholeBook(snapshot: BookSnapshot, startedAt: Millis): void {
    const { log } = this.#options;
    // The connection may have been lost while the book was on its way.
    const seeding = this.#isUp && this.#feed.sequence === null ? this.#feed.seed(snapshot) : null;
    if (seeding === 'live') {
      if (this.#feed.sequence! >= this.#shown) this.#refresh();
      else this.#behindSince ??= this.#options.clock.elapsed();
      return;
    }
    if (seeding !== null) log.info({ seeding }, `a whole book did not fit the stream: ${seeding}`);
    this.#polled(snapshot, startedAt);
  }

  #polled(snapshot: BookSnapshot, startedAt: Millis): void {
    const { clock, note, time } = this.#options;
    const fed = this.#feed.sequence;
    if (fed !== null && fed === snapshot.sequence) {
      if (time() - startedAt <= CONFIRM_WITHIN_MS) this.#refresh();
      return;
    }
    // The stream may have overtaken the answer: then it says nothing about now.
    if (fed !== null && fed > snapshot.sequence) return;
    if (snapshot.sequence < this.#shown || !writeLevels(snapshot, this.#options.instrument(), this.#book)) {
      note('order_book', PASSED_OVER);
      return;
    }
    this.#feed.hide();
    // However lately the stream was heard: this book is ahead of it, and has our orders in it.
    this.#freshAt = -Infinity;
    this.#shown = snapshot.sequence;
    if (fed !== null) this.#behindSince ??= clock.elapsed();
    if (this.#source === 'none') this.#source = 'poll';
    this.#tell(startedAt);
  }

  /** At once, but not again before a pause has passed: frames may come by the hundred, and each event is recorded. */
  #tellSoon(): void {
    const { clock } = this.#options;
    this.#untold = true;
    const pause = this.#toldAt + TELL_EVERY_MS - clock.elapsed();
    if (pause <= 0) this.#tell(null);
    else {
      this.#tellTimer ??= clock.after(pause, () => {
        this.#tellTimer = null;
        if (this.#untold && !this.#stopped) this.#tell(null);
      });
    }
  }

  #tell(startedAt: Millis | null): void {
    this.#untold = false;
    this.#toldAt = this.#options.clock.elapsed();
    this.#options.step({ kind: 'book', at: this.#options.time(), startedAt, book: this.#book });
  }
}
