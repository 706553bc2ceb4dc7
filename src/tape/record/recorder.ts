/** Records one book of an exchange: order by order from its stream, by whole books while that is not there, trades once each, and every gap as a gap. */
import { instrumentOf } from '../../core/index.ts';
import type {
  BookDiff,
  BookRules,
  BookSnapshot,
  Instrument,
  Millis,
  PublicTrade,
  StreamNews,
  Timer,
} from '../../core/index.ts';
import { advanced, OrderRecord } from './orderRecord.ts';
import type { RowCall } from './orderRecord.ts';
import { ReorderBuffer } from './reorderBuffer.ts';
import { rulesOf } from './recorderTypes.ts';
import type { RecorderOptions, RecorderStatus } from './recorderTypes.ts';
import { TradeRecord } from './tradeRecord.ts';

/** Twice in the second that may be lost. */
const FLUSH_MS = 400;
const CHECK_MS = 10 * 60_000;
const RULES_MS = 10 * 60_000;
/** Whole books are large: between two while the stream is down. */
const WHOLE_EVERY_MS = 10_000;
/** Between two tries to go on from one, at first and at most. */
const AGAIN_MS = 2_000;
const WHOLE_MAX_MS = 60_000;
/** The stream is given a moment, so that the steps before the whole book are there when it comes. */
const AFTER_UP_MS = 20;
const HELD_MAX = 50_000;
const OLDER_FOR_MS = 30_000;
/** The stream is so far behind a whole book that it does not count as there. */
const BEHIND_MAX_MS = 5_000;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #outlet: ReorderBuffer;
  readonly #orders: OrderRecord;
  readonly #trades: TradeRecord;
  #rules: BookRules;
  #instrument: Instrument;
  #isUp = false;
  #stopped = false;
  /** Step that the record stands at while the stream tells of every one; null while it does not. */
  #sequence: bigint | null = null;
  /** Of the stream: waiting for a whole book, or heard since one was asked for. */
  #held: BookDiff[] | null = null;
  #heldTrades: PublicTrade[] = [];
  /** Exchange time from which on something is missing; null while nothing is. */
  #gapFrom: Millis | null;
  #gapWhy = '';
  #reading = false;
  #wholeAt: Millis = -Infinity;
  #checkedAt: Millis = -Infinity;
  /** Newest step of the book that was seen, and since when only older ones are. */
  #highest = -1n;
  #olderSince: Millis | null = null;
  /** Whole books from which the stream could not go on, since it last did. */
  #tries = 0;
  /** Exchange time up to which nothing was missed. */
  #heardAt: Millis = -Infinity;
  /** Exchange time of the first row of the book. */
  #begunAt: Millis = Infinity;
  /** A whole book that is ahead of the stream, and since when. */
  #awaited: { readonly snapshot: BookSnapshot; readonly since: Millis } | null = null;
  /** Smallest difference seen between our clock and the exchange's. */
  #offset = Infinity;
  readonly #timers = new Set<Timer>();

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#rules = options.rules;
    this.#instrument = instrumentOf(options.rules);
    this.#outlet = new ReorderBuffer(options.sink, options.clock);
    this.#orders = new OrderRecord(this.#instrument);
    this.#trades = new TradeRecord(this.#instrument);
    this.#gapFrom = options.resumedFrom;
    this.#gapWhy = 'the recorder was not running';
  }

  start(): void {
    const { stream } = this.#options;
    stream.start(news => this.#guard(() => this.#hear(news)));
    this.#every(FLUSH_MS, () => this.#outlet.flush());
    this.#every(this.#options.rulesEveryMs ?? RULES_MS, () => this.#readRules());
    this.#every(1_000, () => this.#tend());
  }

  /** Resolves when everything heard so far is durable. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const timer of this.#timers) timer.stop();
    this.#options.stream.close();
    this.#endDirt();
    this.#outlet.flush(true);
  }

  get status(): RecorderStatus {
    const source = this.#sequence !== null ? 'stream' : this.#begunAt < Infinity ? 'polled' : 'none';
    return { ...this.#outlet.counts, orders: this.#orders.size, source };
  }

  #hear(news: StreamNews): void {
    if (this.#stopped) return;
    if (this.#sequence !== null && news.kind !== 'down') this.#heardAt = this.#exchangeTime();
    switch (news.kind) {
      case 'up':
        this.#isUp = true;
        this.#held = [];
        this.#heldTrades = [];
        this.#soon(Math.max(AFTER_UP_MS, this.#wholeAt + AGAIN_MS - this.#options.clock.elapsed()), () =>
          this.#readWhole(),
        );
        return;
      case 'down':
        this.#isUp = false;
        this.#lose(news.reason);
        return;
      case 'fault':
        this.#lose(`a frame could not be read: ${news.reason}`);
        return;
      // Levels say nothing of single orders.
      case 'book':
      case 'alive':
        return;
      case 'trades':
        if (this.#sequence !== null) this.#write(news.trades);
        else if (this.#heldTrades.length < HELD_MAX) this.#heldTrades.push(...news.trades);
        return;
      case 'diff':
        this.#hearDiff(news.diff);
        return;
    }
  }

  #hearDiff(diff: BookDiff): void {
    const local = this.#options.clock.now();
    if (diff.sentAt !== undefined) this.#offset = Math.min(this.#offset, local - diff.sentAt);
    if (this.#held !== null) {
      this.#held.push(diff);
      if (this.#held.length > HELD_MAX) this.#held = this.#held.slice(-HELD_MAX / 2);
    }
    if (this.#sequence === null || diff.sequence <= this.#sequence) return;
    if (diff.sequence !== this.#sequence + 1n) {
      this.#lose(`steps ${this.#sequence + 1n} to ${diff.sequence - 1n} were lost`);
      this.#held = [diff];
      return;
    }
    this.#sequence = diff.sequence;
    this.#highest = diff.sequence;
    this.#orders.apply(diff, this.#rowsAt(diff.sentAt ?? this.#exchangeTime(), local));
    if (this.#awaited?.snapshot.sequence === diff.sequence) this.#compare(this.#awaited.snapshot, []);
  }

  /** From here on something is missing, until a whole book tells how things stand. */
  #lose(why: string): void {
    if (this.#sequence !== null) {
      this.#options.log(`${this.#rules.book}: a gap begins: ${why}`);
      this.#gapFrom = Math.max(this.#outlet.lastAt, this.#heardAt);
      this.#gapWhy = why;
    }
    this.#sequence = null;
    this.#awaited = null;
    this.#held = this.#isUp ? [] : null;
  }

  /** Looks after everything that is due: a try to go on, a picture while the stream is down, a check while it is up. */
  #tend(): void {
    const { clock, stream, checkEveryMs = CHECK_MS } = this.#options;
    const now = clock.elapsed();
    if (this.#awaited && now - this.#awaited.since > BEHIND_MAX_MS) {
      this.#awaited = null;
      stream.restart('its book is behind the one that was read');
    }
    if (this.#reading) return;
    const pause = this.#isUp ? Math.min(WHOLE_MAX_MS, AGAIN_MS * 2 ** Math.min(this.#tries, 10)) : WHOLE_EVERY_MS;
    const isDue = this.#sequence === null ? now - this.#wholeAt >= pause : now - this.#checkedAt >= checkEveryMs;
    if (isDue) this.#readWhole();
  }

  #readWhole(): void {
    if (this.#reading || this.#stopped) return;
    this.#reading = true;
    this.#wholeAt = this.#options.clock.elapsed();
    if (this.#sequence !== null) this.#held = [];
    this.#read()
      .catch(this.#options.onBroken)
      .finally(() => (this.#reading = false));
  }

  async #read(): Promise<void> {
    const { exchange } = this.#options;
    const book = await exchange.orderBook(this.#rules.book, false);
    // After the book: then every trade that it shows the effect of is among them.
    const missed = await this.#trades.missed(exchange);
    if (this.#stopped) return;
    if (book.kind !== 'done' || missed === null) {
      this.#options.log(`${this.#rules.book}: a whole book or trades could not be read; trying again`);
      return;
    }
    this.#guard(() => {
      this.#write(missed.trades);
      if (!missed.whole) this.#note('trades of a long break', 'left out: more than can be read afterwards');
      this.#take(book.value);
    });
  }

  #take(snapshot: BookSnapshot): void {
    const held = this.#held ?? [];
    const { sequence } = snapshot;
    if (this.#sequence !== null) {
      if (sequence > this.#sequence) this.#awaited = { snapshot, since: this.#options.clock.elapsed() };
      else this.#compare(snapshot, held);
      return;
    }
    // A reply from before what is known would turn the book back; an exchange that counts anew is believed after a while.
    if (sequence < this.#highest && held.length === 0) {
      this.#olderSince ??= this.#options.clock.elapsed();
      if (this.#options.clock.elapsed() - this.#olderSince < OLDER_FOR_MS) return;
    }
    this.#olderSince = null;
    this.#highest = sequence;
    const later = held.filter(diff => diff.sequence > sequence);
    const first = held[0];
    const fits =
      (!first || first.sequence <= sequence + 1n) &&
      later.every((diff, i) => diff.sequence === sequence + 1n + BigInt(i));
    this.#picture(snapshot);
    this.#tries++;
    if (!this.#isUp || !fits) return;
    this.#tries = 0;
    for (const diff of later)
      this.#orders.apply(diff, this.#rowsAt(diff.sentAt ?? this.#exchangeTime(), this.#options.clock.now()));
    this.#sequence = later.at(-1)?.sequence ?? sequence;
    this.#held = null;
    this.#gapFrom = null;
    this.#checkedAt = this.#options.clock.elapsed();
    this.#write(this.#heldTrades);
    this.#heldTrades = [];
    this.#options.log(`${this.#rules.book}: recording from the stream, ${this.#orders.size} orders`);
  }

  /** A whole book with nothing known between it and what was known before: a gap up to here; the next begins here. */
  #picture(snapshot: BookSnapshot): void {
    const local = this.#options.clock.now();
    this.#offset = Math.min(this.#offset, local - snapshot.updatedAt);
    const at = Math.max(this.#exchangeTime(), this.#outlet.lastAt);
    if (this.#gapFrom !== null) this.#outlet.gap({ from: this.#gapFrom, to: at, why: this.#gapWhy });
    const row = this.#rowsAt(at, local);
    if (this.#begunAt < Infinity) this.#orders.become(snapshot, row);
    else {
      this.#orders.become(snapshot, () => undefined);
      this.#orders.restate(row);
      this.#begunAt = at;
    }
    this.#gapFrom = at;
    this.#gapWhy = 'the stream was not there: the book is known at the ends of this gap only';
  }

  /** The record stands at the book's step, or beyond it by `since`: both must then say the same. */
  #compare(snapshot: BookSnapshot, since: readonly BookDiff[]): void {
    this.#held = null;
    this.#awaited = null;
    const checkedFrom = this.#checkedAt;
    this.#checkedAt = this.#options.clock.elapsed();
    const at = Math.max(this.#exchangeTime(), this.#outlet.lastAt);
    const differences = this.#orders.become(advanced(snapshot, since), this.#rowsAt(at, this.#options.clock.now()));
    if (differences === 0) return;
    const ago = this.#checkedAt - checkedFrom;
    this.#note('books that had drifted from the exchange', 'set right, and a gap since the last check', differences);
    this.#outlet.gap({ from: at - ago, to: at, why: `the book had drifted in ${differences} orders` });
  }

  /** Without those from before the first book: nothing stands behind them. */
  #write(trades: readonly PublicTrade[]): void {
    const local = this.#options.clock.now();
    this.#trades.take(trades, (side, at, price, amount, id, maker) => {
      if (!(at >= this.#begunAt)) return;
      const order = maker === null ? null : this.#orders.numberOf(maker);
      this.#outlet.trade(side, at, local, price, amount, id, order);
    });
  }

  #rowsAt(at: Millis, local: Millis): RowCall {
    this.#outlet.beginStep();
    return (kind, side, price, amount, id) => this.#outlet.book(kind, side, at, local, price, amount, id);
  }

  /** Now, on the exchange's clock, as well as the quickest frame so far tells it. */
  #exchangeTime(): Millis {
    const now = this.#options.clock.now();
    return Number.isFinite(this.#offset) ? now - this.#offset : now;
  }

  async #readRules(): Promise<void> {
    const { exchange, log } = this.#options;
    const books = await exchange.availableBooks();
    if (this.#stopped || books.kind !== 'done') return;
    const row = books.value.find(({ book }) => book === this.#rules.book);
    if (!row) {
      log(`${this.#rules.book}: the exchange lists it no more`);
      return;
    }
    const rules = rulesOf(row);
    if (JSON.stringify(rules) === JSON.stringify(this.#rules)) return;
    log(`${rules.book}: the rules changed (tick ${this.#rules.tickSize} to ${rules.tickSize})`);
    const isOtherTick = rules.tickSize !== this.#rules.tickSize;
    const at = Math.max(this.#exchangeTime(), this.#outlet.lastAt);
    this.#rules = rules;
    this.#instrument = instrumentOf(rules);
    this.#outlet.rules(rules, at);
    this.#orders.rules(this.#instrument);
    this.#trades.rules(this.#instrument);
    if (isOtherTick && this.#begunAt < Infinity) this.#orders.restate(this.#rowsAt(at, this.#options.clock.now()));
  }

  #note(what: string, done: string, count = 1): void {
    this.#outlet.dirt({ what, count, done });
  }

  #endDirt(): void {
    const { offTick } = this.#orders;
    const { offGrid } = this.#trades;
    if (offTick > 0) this.#note('orders between two ticks', 'set to the tick towards the other side', offTick);
    if (offGrid > 0) this.#note('trades between two ticks', 'left out', offGrid);
  }

  #every(ms: Millis, work: () => void | Promise<void>): void {
    this.#soon(ms, () => {
      this.#every(ms, work);
      return work();
    });
  }

  #soon(ms: Millis, work: () => void | Promise<void>): void {
    const timer = this.#options.clock.after(ms, () => {
      this.#timers.delete(timer);
      this.#guard(() => void Promise.resolve(work()).catch(this.#options.onBroken));
    });
    this.#timers.add(timer);
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.onBroken(error);
    }
  }
}
