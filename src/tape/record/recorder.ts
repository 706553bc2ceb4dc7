/**
 * Recorder of one book: orders from its stream, complete books while the stream is down, every trade once, and every
 * gap.
 */
import {
  counted,
  instrumentOf,
  lotOf,
  StepSequence,
  type BookDiff,
  type BookRules,
  type BookSnapshot,
  type DecimalText,
  type Millis,
  type SeedResult,
  type StreamNews,
  type Timer,
} from '../../core/index.ts';
import { MarketDataSupervisor, PublicTradeTail, type BookSource } from '../../marketdata/index.ts';
import { advanced, isOrderByOrder, OrderRecord, unfitFor, type RowCall } from './orderRecord.ts';
import { changedRules, RULES_EVERY_MS } from './recordedRules.ts';
import { ReorderBuffer } from './reorderBuffer.ts';
import type { RecorderOptions, RecorderStatus } from './recorderTypes.ts';
import { TradeRecord, type TradeCall } from './tradeRecord.ts';

/** Interval of flushes in ms. A crash must lose at most a second of data. */
const FLUSH_MS = 400;
const CHECK_MS = 10 * 60_000;
const WHOLE_EVERY_MIN_MS = 10_000;
/**
 * Delay before the first complete book is requested, in ms, so that the stream is connected by then. Otherwise the tape
 * would start with a gap.
 */
const FIRST_AFTER_MS = 1_000;
/** Maximum number of trades that wait for the first book. */
const UNTIL_FIRST_MAX = 50_000;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #outlet: ReorderBuffer;
  readonly #steps = new StepSequence();
  readonly #orders: OrderRecord;
  readonly #trades: TradeRecord;
  readonly #market: MarketDataSupervisor;
  readonly #lot: DecimalText;
  #rules: BookRules;
  #stopped = false;
  /** Exchange time from which data is missing; `null` if no data is missing. */
  #gapFrom: Millis | null;
  #gapWhy = 'the recorder was not running';
  /** Exchange time up to which no data was missed. */
  #heardAt: Millis = -Infinity;
  /** Exchange time of the first row of the book. */
  #begunAt: Millis = Infinity;
  /** Trades received before the first row of the book. */
  readonly #untilFirst: Parameters<TradeCall>[] = [];
  /** Reason why the last book was rejected; each reason is logged once. */
  #complaint = '';
  #checkedAt: Millis = -Infinity;
  /**
   * State of a running check. `since`: steps since the request. `ahead`: the complete book, if it is ahead of the
   * record.
   */
  #check: { readonly since: BookDiff[]; ahead: BookSnapshot | null } | null = null;
  readonly #timers = new Set<Timer>();

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#rules = options.rules;
    this.#lot = options.lot ?? lotOf(options.rules);
    const instrument = instrumentOf(options.rules, this.#lot);
    this.#outlet = new ReorderBuffer(options.sink, options.clock);
    this.#orders = new OrderRecord(instrument);
    this.#trades = new TradeRecord(instrument, (...trade) => this.#writeTrade(...trade));
    this.#market = this.#supervisor();
    this.#gapFrom = options.resumedFrom;
  }

  #supervisor(): MarketDataSupervisor {
    const { clock, exchange, log, onBroken, rules, stream, wholeEveryMs = 0 } = this.#options;
    const { book } = rules;
    const steps = this.#steps;
    return new MarketDataSupervisor({
      exchange,
      stream,
      clock,
      book,
      stepped: {
        get sequence() {
          return steps.at;
        },
        take: diff => {
          const step = steps.take(diff);
          if (step === 'applied') this.#apply(diff);
          return step;
        },
        seed: whole => this.#seed(whole),
        markIncomplete: () => steps.reset(),
      },
      pollMs: () => Math.max(WHOLE_EVERY_MIN_MS, wholeEveryMs),
      polls: 'orders',
      ahead: 'wait',
      time: () => clock.elapsed(),
      trades: new PublicTradeTail({
        exchange,
        book,
        listener: {
          trade: trade => this.#trades.take(trade),
          unreadable: row => log(`${book}: a trade could not be read and is missing in the recording: ${row}`),
        },
      }),
      user: {
        onNews: news => this.#heard(news),
        onStep: diff => this.#compareAt(diff),
        onCurrent: () => undefined,
        takeBook: whole => {
          const unfit = unfitFor(whole);
          if (unfit === null) this.#writeSnapshot(whole);
          return unfit;
        },
        onBook: () => undefined,
        onLost: (reason, was) => this.#lost(reason, was),
        onUnread: why => {
          const what = why.kind === 'refused' ? why.message : why.reason;
          if (what !== this.#complaint)
            log(`${book}: the complete book or the trades could not be read (${what}); trying again`);
          this.#complaint = what;
        },
      },
      onBroken,
    });
  }

  start(): void {
    this.#market.start();
    this.#every(FLUSH_MS, () => this.#outlet.flush());
    this.#every(this.#options.rulesEveryMs ?? RULES_EVERY_MS, () => this.#readRules());
    this.#every(1_000, () => this.#checkWhenDue());
    this.#soon(FIRST_AFTER_MS, () => this.#market.keepPolling());
  }

  /** Stops the recorder and makes everything received so far durable. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const timer of this.#timers) timer.stop();
    void this.#market.stop();
    const to = this.#outlet.lastAt;
    if (this.#gapFrom !== null) this.#outlet.gap({ from: this.#gapFrom, to, why: this.#gapWhy });
    this.#endFlaws();
    this.#outlet.flush(true);
  }

  get status(): RecorderStatus {
    const source = this.#market.source === 'stream' ? 'stream' : this.#begunAt < Infinity ? 'polled' : 'none';
    return { ...this.#outlet.counts, orders: this.#orders.size, source };
  }

  #heard({ kind }: StreamNews): void {
    if (this.#steps.at !== null && kind !== 'down') this.#heardAt = this.#exchangeTime();
  }

  /** Starts a gap, which lasts until the next complete book. */
  #lost(reason: string, was: BookSource): void {
    this.#check = null;
    if (was !== 'stream') return;
    this.#options.log(`${this.#rules.book}: a gap begins: ${reason}`);
    this.#gapFrom = Math.max(this.#outlet.lastAt, this.#heardAt);
    this.#gapWhy = reason;
  }

  #seed(whole: BookSnapshot): SeedResult {
    if (!isOrderByOrder(whole)) return 'no ids';
    if (unfitFor(whole) !== null) return 'damaged';
    if (!this.#steps.reaches(whole.sequence)) return 'too old';
    this.#writeSnapshot(whole);
    for (const diff of this.#steps.begin(whole.sequence)) this.#apply(diff);
    this.#gapFrom = null;
    this.#checkedAt = this.#options.clock.elapsed();
    this.#options.log(
      `${this.#rules.book}: recording from the stream; the book has ${counted(this.#orders.size, 'order')}`,
    );
    return 'live';
  }

  #apply(diff: BookDiff): void {
    this.#orders.apply(diff, this.#rowsAt(diff.sentAt ?? this.#exchangeTime(), this.#options.clock.now()));
  }

  /** Writes the gap up to now, then a complete book. If data stays missing, the next gap starts at this book. */
  #writeSnapshot(whole: BookSnapshot): void {
    const { clock } = this.#options;
    this.#complaint = '';
    this.#market.clockOffset.recordMessage(clock.elapsed(), whole.updatedAt);
    const at = Math.max(this.#exchangeTime(), this.#outlet.lastAt);
    if (this.#gapFrom !== null) this.#outlet.gap({ from: this.#gapFrom, to: at, why: this.#gapWhy });
    const row = this.#rowsAt(at, clock.now());
    if (this.#begunAt < Infinity) this.#orders.become(whole, row);
    else {
      this.#orders.become(whole, () => undefined);
      this.#orders.restate(row);
      this.#begunAt = at;
      for (const trade of this.#untilFirst.splice(0)) this.#writeTrade(...trade);
    }
    this.#gapFrom = at;
    this.#gapWhy = 'the stream was down; the book was recorded only before and after this gap';
  }

  async #checkWhenDue(): Promise<void> {
    const { clock, checkEveryMs = CHECK_MS } = this.#options;
    if (this.#steps.at === null || this.#check !== null || clock.elapsed() - this.#checkedAt < checkEveryMs) return;
    const check = { since: [], ahead: null };
    this.#check = check;
    const whole = await this.#market.check();
    if (this.#check !== check) return;
    if (whole === null || unfitFor(whole) !== null) this.#check = null;
    else if (whole.sequence > this.#steps.at) this.#check.ahead = whole;
    else this.#compare(whole, this.#check.since);
  }

  #compareAt(diff: BookDiff): void {
    if (this.#check?.ahead?.sequence === diff.sequence) this.#compare(this.#check.ahead, []);
    else this.#check?.since.push(diff);
  }

  /**
   * Compares a complete book, to which the steps `since` are applied, with the record. If they differ, corrects the
   * record and records a gap.
   */
  #compare(whole: BookSnapshot, since: readonly BookDiff[]): void {
    this.#check = null;
    const { clock } = this.#options;
    const ago = clock.elapsed() - this.#checkedAt;
    this.#checkedAt = clock.elapsed();
    const at = Math.max(this.#exchangeTime(), this.#outlet.lastAt);
    const differences = this.#orders.become(advanced(whole, since), this.#rowsAt(at, clock.now()));
    if (differences === 0) return;
    this.#note(
      'recorded orders that differed from the exchange',
      'corrected; the time since the previous check is a gap',
      differences,
    );
    this.#outlet.gap({
      from: at - ago,
      to: at,
      why: `the recorded book differed from the exchange in ${counted(differences, 'order')}`,
    });
  }

  /**
   * Writes a trade. Until the book has its first row, trades wait. A trade earlier than that row is dropped, because
   * there is no book for the trade.
   */
  #writeTrade(...trade: Parameters<TradeCall>): void {
    const [side, at, price, amount, id, maker] = trade;
    if (this.#begunAt === Infinity) {
      this.#untilFirst.push(trade);
      // While no complete book arrives, only the newest trades are kept.
      if (this.#untilFirst.length > UNTIL_FIRST_MAX) this.#untilFirst.splice(0, UNTIL_FIRST_MAX / 2);
    }
    if (this.#stopped || !(at >= this.#begunAt)) return;
    const order = maker === null ? null : this.#orders.numberOf(maker);
    this.#outlet.trade(side, at, this.#options.clock.now(), price, amount, id, order);
  }

  #rowsAt(at: Millis, local: Millis): RowCall {
    this.#outlet.beginStep();
    return (kind, side, price, amount, id) => this.#outlet.book(kind, side, at, local, price, amount, id);
  }

  /** Returns the current time of the exchange's clock, estimated from the frame with the shortest delay so far. */
  #exchangeTime(): Millis {
    const { clock } = this.#options;
    return this.#market.clockOffset.theirs(clock.elapsed()) ?? clock.now();
  }

  async #readRules(): Promise<void> {
    const { clock, exchange, log } = this.#options;
    const rules = await changedRules(exchange, this.#rules, log);
    if (rules === null || this.#stopped) return;
    const isOtherTick = rules.tickSize !== this.#rules.tickSize;
    const at = Math.max(this.#exchangeTime(), this.#outlet.lastAt);
    this.#rules = rules;
    this.#outlet.rules(rules, at);
    const instrument = instrumentOf(rules, this.#lot);
    this.#orders.rules(instrument);
    this.#trades.rules(instrument);
    if (isOtherTick && this.#begunAt < Infinity) this.#orders.restate(this.#rowsAt(at, clock.now()));
  }

  #note(what: string, done: string, count = 1): void {
    this.#outlet.flaw({ what, count, done });
  }

  #endFlaws(): void {
    const { offTick } = this.#orders;
    const { offGrid } = this.#trades;
    if (offTick > 0)
      this.#note(
        'orders with a price between two ticks',
        'price set to the next tick towards the other side of the book',
        offTick,
      );
    if (offGrid > 0) this.#note('trades with a price between two ticks', 'left out', offGrid);
  }

  #every(ms: Millis, work: () => void | Promise<void>): void {
    this.#soon(ms, () => {
      this.#every(ms, work);
      return work();
    });
  }

  #soon(ms: Millis, work: () => void | Promise<void>): void {
    const { clock, onBroken } = this.#options;
    const timer = clock.after(ms, () => {
      this.#timers.delete(timer);
      try {
        void Promise.resolve(work()).catch(onBroken);
      } catch (error) {
        onBroken(error);
      }
    });
    this.#timers.add(timer);
  }
}
