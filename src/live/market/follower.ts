/** Follows another exchange's public book and trades, from the stream or polled, and says how fresh they are; it knows no account. */
import { L3Book } from '../../core/index.ts';
import type {
  Amount,
  BookDiff,
  BookSnapshot,
  Clock,
  Exchange,
  Instrument,
  MarketStream,
  Millis,
  Price,
  Side,
  StreamNews,
  Timer,
} from '../../core/index.ts';
import type { Log } from '../log.ts';
import { levelsOf } from './polledBook.ts';
import { PublicTradeFeed } from './publicTradeFeed.ts';
import type { TradeSink } from './publicTradeFeed.ts';

/** Where what is followed goes. An execution comes before the levels that it changed. */
export interface MarketSink extends TradeSink {
  /** No level is there any more but those that are set from here on; beyond `reach` they stay as they were. */
  clear(reach?: Readonly<Record<Side, Price>>): void;
  set(side: Side, price: Price, amount: Amount): void;
  /** Shows what was set since the last time. */
  flush(): void;
}

export type Queues = {
  /** Number of the newest order; null while single orders are not told. */
  arrivals(): number | null;
  /** Lots at a price of the orders that came up to an arrival. */
  lotsUpTo(side: Side, price: Price, arrival: number): number;
};

export type FollowerOptions = {
  readonly exchange: Pick<Exchange, 'orderBook' | 'trades'>;
  /** Without it books are polled only. */
  readonly stream?: MarketStream | undefined;
  readonly sink: MarketSink;
  readonly clock: Clock;
  readonly log: Log;
  readonly instrument: Instrument;
  /** Between two reads of the book while they are needed; more when `readsPerMinute` does not allow for them and for the trades. */
  readonly pollMs: Millis;
  readonly readsPerMinute: number;
  /** Told when what the sink shows becomes the market of now, and when it is so no more. */
  readonly onFresh: (isFresh: boolean) => void;
  /** A belief about our own code is broken. */
  readonly onBroken: (error: unknown) => void;
};

/** So much longer than a round of reads may a market be unconfirmed before it counts as stale. */
const ROUNDS_FRESH = 1.5;
const LOOK_EVERY_MS = 100;
/** A step that tells of executions waits so long for the trades frame of them, should that come later. */
const TRADES_WITHIN_MS = 250;
const STEPS_WAITING_MAX = 10_000;
/** Whole books are large: one in this time, so that a stream that keeps losing frames does not eat the budget. */
const RESYNC_EVERY_MS = 5_000;
/** Frames so much later than the quickest ones tell of the past. */
const LAG_MAX_MS = 2_000;
/** Books that are older than what is known are believed after this time: the exchange counts anew. */
const OLDER_FOR_MS = 10_000;
/** Price levels of a side in an aggregated book (public facts 4.3): behind the last of so many there may be more. */
const POLLED_LEVELS = 50;

export class Follower {
  readonly #options: FollowerOptions;
  readonly #feed: L3Book;
  readonly #trades: PublicTradeFeed;
  #stopped = false;
  #isUp = false;
  #source: 'none' | 'poll' | 'stream' = 'none';
  #freshAt: Millis = -Infinity;
  #wasFresh = false;
  #looking: Timer | null = null;
  /** Step of the book that the sink shows. */
  #shown = -1n;
  #olderSince: Millis | null = null;
  /** Smallest difference seen between our clock and the exchange's, on this connection. */
  #offset = Infinity;
  /** Newest step that a poll has shown beyond the stream's; -1 when none has. */
  #ahead = -1n;
  #steps: { readonly diff: BookDiff; readonly due: Millis }[] = [];
  #stepTimer: Timer | null = null;
  #reading: Promise<void> | null = null;
  #roundTimer: Timer | null = null;
  #roundAt: Millis = -Infinity;
  #resyncAt: Millis = -Infinity;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#feed = new L3Book({ instrument: options.instrument, book: options.sink, pending: () => [] });
    this.#trades = new PublicTradeFeed({ ...options, bornOf: oid => this.#feed.bornOf(oid) });
  }

  start(): void {
    this.#options.stream?.start(news => this.#guard(() => this.#hear(news)));
    this.#round();
    this.#look();
  }

  /** Resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of [this.#roundTimer, this.#looking, this.#stepTimer]) timer?.stop();
    this.#options.stream?.close();
    await this.#reading;
  }

  /** The sink shows what the exchange showed a moment ago. */
  get isFresh(): boolean {
    return this.#options.clock.elapsed() - this.#freshAt < ROUNDS_FRESH * this.#everyMs + LOOK_EVERY_MS;
  }

  /** A round is a book, and while the stream is not there a page of trades. */
  get #everyMs(): Millis {
    const { pollMs, readsPerMinute } = this.#options;
    return Math.max(pollMs, ((this.#trades.needsPages ? 2 : 1) * 60_000) / readsPerMinute);
  }

  /** Places in the queues of the stream's book, for orders that are not in it. */
  get queues(): Queues {
    return {
      arrivals: () => (this.#source === 'stream' && this.#feed.sequence !== null ? this.#feed.arrivals : null),
      lotsUpTo: (side, price, arrival) => this.#feed.lotsUpTo(side, price, arrival),
    };
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.onBroken(error);
    }
  }

  #look(): void {
    const { clock, log, onFresh } = this.#options;
    if (this.isFresh !== this.#wasFresh) {
      this.#wasFresh = this.isFresh;
      if (this.#wasFresh) log.info({}, 'the followed market is there');
      else log.warn({}, 'the followed market is silent, behind or gone: it is not shown until it is back');
      onFresh(this.#wasFresh);
    }
    this.#looking = clock.after(LOOK_EVERY_MS, () => this.#guard(() => this.#look()));
  }

  #hear(news: StreamNews): void {
    if (this.#stopped) return;
    switch (news.kind) {
      case 'up':
        this.#isUp = true;
        this.#trades.up();
        this.#roundSoon();
        return;
      case 'down':
        this.#isUp = false;
        this.#offset = Infinity;
        this.#trades.down();
        this.#lose(news.reason);
        return;
      case 'fault':
        this.#lose(`a frame could not be read: ${news.reason}`);
        return;
      case 'alive':
        this.#heard();
        return;
      case 'trades':
        this.#trades.hear(news.trades);
        this.#takeSteps();
        return;
      case 'diff':
        this.#steps.push({ diff: news.diff, due: this.#options.clock.elapsed() + TRADES_WITHIN_MS });
        this.#takeSteps();
        return;
      case 'book':
        this.#polled(news.snapshot, false, this.#options.clock.elapsed());
        return;
    }
  }

  /** Takes the steps that wait for no trade any more, in their order. */
  #takeSteps(): void {
    const { clock } = this.#options;
    this.#stepTimer?.stop();
    this.#stepTimer = null;
    for (let next = this.#steps[0]; next; next = this.#steps[0]) {
      const waitMs = next.due - clock.elapsed();
      if (waitMs > 0 && this.#steps.length < STEPS_WAITING_MAX && !this.#isToldOf(next.diff)) {
        this.#stepTimer = clock.after(waitMs, () => this.#guard(() => this.#takeSteps()));
        return;
      }
      this.#steps.shift();
      this.#step(next.diff);
    }
  }

  /** Every execution that a step may tell of is known already. An order that shrinks was executed, or changed by its owner. */
  #isToldOf({ changes }: BookDiff): boolean {
    if (this.#feed.sequence === null) return true;
    return changes.every(
      change =>
        this.#trades.hasMet(change.oid) || (change.kind === 'gone' ? !change.filled : !this.#feed.has(change.oid)),
    );
  }

  #step(diff: BookDiff): void {
    switch (this.#feed.take(diff)) {
      case 'applied':
        this.#options.sink.flush();
        if (this.#isPrompt(diff.sentAt)) this.#heard();
        return;
      case 'gap':
        this.#lose('a frame was lost');
        return;
      case 'held':
      case 'old':
        return;
    }
  }

  #isPrompt(sentAt: Millis | undefined): boolean {
    if (sentAt === undefined) return true;
    const offset = this.#options.clock.now() - sentAt;
    this.#offset = Math.min(this.#offset, offset);
    return offset - this.#offset < LAG_MAX_MS;
  }

  /** The stream has just spoken: what it has told is the market of now, unless a poll has seen more. */
  #heard(): void {
    const { sequence } = this.#feed;
    if (sequence === null || sequence < this.#ahead) return;
    this.#ahead = -1n;
    this.#shown = sequence;
    this.#freshAt = this.#options.clock.elapsed();
    this.#trades.confirm();
    if (this.#source === 'stream') return;
    this.#source = 'stream';
    this.#options.log.info({ sequence: String(sequence) }, 'the followed market comes from the stream');
  }

  #lose(reason: string): void {
    this.#feed.lose();
    this.#steps = [];
    this.#ahead = -1n;
    if (this.#source === 'stream') {
      this.#source = 'poll';
      this.#options.log.warn({ reason }, `the followed market is polled: ${reason}`);
    }
    this.#roundSoon();
  }

  /** The next round at once, but not sooner than half the usual time after the last one. */
  #roundSoon(): void {
    if (this.#reading === null) this.#roundIn(this.#roundAt + this.#everyMs / 2 - this.#options.clock.elapsed());
  }

  #roundIn(ms: Millis): void {
    this.#roundTimer?.stop();
    if (!this.#stopped) this.#roundTimer = this.#options.clock.after(Math.max(0, ms), () => this.#round());
  }

  #round(): void {
    const { clock } = this.#options;
    const stillMs = this.#freshAt + this.#everyMs - clock.elapsed();
    // While the stream tells everything, it is asked after only when it is silent.
    if (this.#source === 'stream' && !this.#trades.needsPages && stillMs > 0) {
      this.#roundIn(stillMs);
      return;
    }
    this.#roundAt = clock.elapsed();
    this.#reading = this.#read()
      .catch(this.#options.onBroken)
      .finally(() => {
        this.#reading = null;
        this.#roundIn(this.#roundAt + this.#everyMs - clock.elapsed());
      });
  }

  async #read(): Promise<void> {
    const { clock, exchange, instrument, log } = this.#options;
    const startedAt = clock.elapsed();
    const isWhole = this.#isUp && this.#feed.sequence === null && startedAt - this.#resyncAt >= RESYNC_EVERY_MS;
    if (isWhole) this.#resyncAt = startedAt;
    const book = await exchange.orderBook(instrument.symbol, !isWhole);
    // Read after the book and told before it: every execution comes before the levels that it changed.
    if (this.#trades.needsPages && !this.#stopped) await this.#trades.read();
    if (this.#stopped) return;
    if (book.kind !== 'done') log.debug({ book }, 'the followed book could not be read');
    else if (!(isWhole && this.#seeded(book.value))) this.#polled(book.value, isWhole, startedAt);
  }

  #seeded(whole: BookSnapshot): boolean {
    // The connection may have been lost while the book was on its way.
    if (!this.#isUp || this.#feed.sequence !== null || this.#feed.seed(whole) !== 'live') return false;
    this.#olderSince = null;
    this.#feed.show();
    this.#options.sink.flush();
    this.#heard();
    return true;
  }

  #polled(snapshot: BookSnapshot, isWhole: boolean, startedAt: Millis): void {
    const { clock, log, stream } = this.#options;
    const { sequence } = snapshot;
    const fed = this.#feed.sequence;
    if (fed !== null && fed >= sequence) {
      if (fed === sequence) this.#freshAt = Math.max(this.#freshAt, startedAt);
      return;
    }
    if (fed !== null && this.#ahead < 0n) {
      // Its frame may be on the way; at the next round it is not.
      this.#ahead = sequence;
      return;
    }
    if (fed !== null) {
      this.#lose('its book is behind the polled one');
      stream?.restart('its book is behind the polled one');
    }
    if (sequence < this.#shown) {
      this.#olderSince ??= clock.elapsed();
      if (clock.elapsed() - this.#olderSince < OLDER_FOR_MS) return;
      log.warn({ sequence: String(sequence) }, 'the followed exchange counts its steps anew');
    }
    this.#olderSince = null;
    if (!this.#show(snapshot, isWhole)) {
      log.warn({}, 'a followed book was passed over: a number in it cannot be counted');
      return;
    }
    this.#shown = sequence;
    this.#freshAt = Math.max(this.#freshAt, startedAt);
    if (this.#source !== 'none') return;
    this.#source = 'poll';
    log.info({ sequence: String(sequence) }, 'the followed market is polled');
  }

  /** False, with nothing shown, when a number does not fit. */
  #show(snapshot: BookSnapshot, isWhole: boolean): boolean {
    const { instrument, sink } = this.#options;
    const levels = levelsOf(snapshot, instrument);
    if (levels === null) return false;
    const reach = (side: Side, all: number): Price => {
      const prices = levels.filter(([of]) => of === side).map(([, price]) => price);
      if (isWhole || prices.length < POLLED_LEVELS) return all as Price;
      return (side === 'buy' ? Math.min(...prices) : Math.max(...prices)) as Price;
    };
    sink.clear({ buy: reach('buy', 0), sell: reach('sell', Infinity) });
    for (const [side, price, lots] of levels) sink.set(side, price, lots);
    sink.flush();
    return true;
  }
}
