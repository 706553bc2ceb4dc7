/**
 * Recorder of one book by levels, from an exchange without a stream of orders: complete books from the stream, or
 * polled books; trades from the stream, or from pages of trades.
 */
import {
  damageWithinDepth,
  instrumentOf,
  lotOf,
  priceExact,
  shownAmount,
  shownSum,
  TooLarge,
  type BookEntry,
  type BookRules,
  type BookSnapshot,
  type DecimalText,
  type Instrument,
  type MarketStream,
  type Millis,
  type Price,
  type Timer,
} from '../../core/index.ts';
import { MarketDataSupervisor, PublicTradeTail } from '../../marketdata/index.ts';
import { KIND, SIDE } from '../model/tape.ts';
import { changedRules, RULES_EVERY_MS } from './recordedRules.ts';
import { ReorderBuffer } from './reorderBuffer.ts';
import type { RecorderOptions, RecorderStatus } from './recorderTypes.ts';
import { TradeRecord } from './tradeRecord.ts';

export type LevelRecorderOptions = Omit<RecorderOptions, 'stream' | 'checkEveryMs' | 'wholeEveryMs'> & {
  /** Stream of complete books and trades. If absent, both are polled. */
  readonly stream?: MarketStream | undefined;
  /** Whether pages of trades fill the gaps of the stream. Default: true. */
  readonly hasTradePages?: boolean;
  /** Interval of polling a book and a page of trades, in ms. */
  readonly pollMs: Millis;
};

const FLUSH_MS = 400;
/** Number of missed polls after which a gap is recorded. */
const POLLS_MISSED = 3;

export class LevelRecorder {
  readonly #options: LevelRecorderOptions;
  readonly #outlet: ReorderBuffer;
  readonly #trades: TradeRecord;
  readonly #market: MarketDataSupervisor;
  readonly #lot: DecimalText;
  #rules: BookRules;
  #instrument: Instrument;
  readonly #levels = [new Map<number, number>(), new Map<number, number>()] as const;
  /** Last book that was recorded; `null` before the first book. */
  #last: BookSnapshot | null = null;
  /** Exchange time of the last book that was read; `null` before the first book. */
  #readAt: Millis | null;
  /** Time on the local elapsed-time clock at which the last book was read, in ms; Infinity before the first book. */
  #readElapsed: Millis = Infinity;
  #begunAt: Millis = Infinity;
  /** Exchange time of the last book before the stream was lost; `null` while the stream is up, and without a stream. */
  #lostFrom: Millis | null = null;
  /** Exchange time of the last book before a trade could not be read; `null` if no trade is missing. */
  #tradesLostFrom: Millis | null = null;
  /** Book of the stream message that is being processed; `null` if the message has no book. */
  #streamed: BookSnapshot | null = null;
  /** Number of levels and trades whose price is not a multiple of the tick. */
  #offTick = 0;
  #resumed: boolean;
  #stopped = false;
  readonly #timers = new Map<string, Timer>();

  constructor(options: LevelRecorderOptions) {
    this.#options = options;
    const { clock, exchange, log, onBroken, pollMs, resumedFrom, rules, sink, stream } = options;
    this.#rules = rules;
    this.#lot = options.lot ?? lotOf(rules);
    this.#instrument = instrumentOf(rules, this.#lot);
    this.#outlet = new ReorderBuffer(sink, clock);
    this.#trades = new TradeRecord(this.#instrument, (side, at, price, amount, id) => {
      if (at >= this.#begunAt && !this.#stopped) this.#outlet.trade(side, at, clock.now(), price, amount, id, null);
    });
    this.#readAt = resumedFrom;
    this.#resumed = resumedFrom !== null;
    this.#market = new MarketDataSupervisor({
      exchange,
      stream,
      clock,
      book: rules.book,
      pollMs: () => pollMs,
      polls: 'levels',
      ahead: 'wait',
      time: () => clock.elapsed(),
      trades: new PublicTradeTail({
        exchange,
        book: rules.book,
        hasPages: options.hasTradePages ?? true,
        listener: {
          trade: trade => this.#trades.take(trade),
          unreadable: row => {
            log(`${rules.book}: a trade could not be read and is missing in the recording: ${row}`);
            this.#tradesLostFrom ??= this.#readAt;
          },
        },
      }),
      user: {
        onNews: news => {
          this.#streamed = news.kind === 'book' ? news.snapshot : null;
        },
        onCurrent: () => undefined,
        takeBook: book => this.#take(book),
        onBook: () => undefined,
        onLost: () => {
          if (stream) this.#lostFrom ??= this.#readAt;
        },
        // A gap is recorded for the missing data when a book can be read again.
        onUnread: () => undefined,
      },
      onBroken,
    });
  }

  start(): void {
    this.#every('flush', FLUSH_MS, () => this.#outlet.flush());
    this.#every('rules', this.#options.rulesEveryMs ?? RULES_EVERY_MS, () => this.#readRules());
    this.#market.start();
    this.#market.keepPolling();
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const timer of this.#timers.values()) timer.stop();
    void this.#market.stop();
    const gap = this.#gapBefore(this.#isLate());
    if (gap !== null) this.#outlet.gap({ ...gap, to: this.#outlet.lastAt });
    const flaw = (what: string, count: number): void => {
      if (count > 0) this.#outlet.flaw({ what, count, done: 'left out' });
    };
    flaw('levels with a price between two ticks', this.#offTick);
    flaw('trades with a price between two ticks', this.#trades.offGrid);
    this.#outlet.flush(true);
  }

  get status(): RecorderStatus {
    const orders = this.#levels[0].size + this.#levels[1].size;
    const source = this.#market.source === 'stream' ? 'stream' : 'polled';
    return { ...this.#outlet.counts, orders, source: this.#begunAt < Infinity ? source : 'none' };
  }

  #every(what: string, ms: Millis, work: () => unknown): void {
    const { clock, onBroken } = this.#options;
    const turn = async (): Promise<void> => {
      await work();
      if (!this.#stopped) this.#every(what, ms, work);
    };
    this.#timers.set(
      what,
      clock.after(ms, () => void turn().catch(onBroken)),
    );
  }

  #take(book: BookSnapshot): string | null {
    const unfit = damageWithinDepth(book, this.#instrument);
    if (unfit !== null) return unfit;
    const { clock } = this.#options;
    const local = clock.now();
    const at = Math.max(book.updatedAt, this.#outlet.lastAt);
    const gap = this.#gapBefore(this.#isLate());
    this.#readElapsed = clock.elapsed();
    if (gap !== null) this.#outlet.gap({ ...gap, to: at });
    this.#lostFrom = this.#lostFrom === null || book === this.#streamed ? null : at;
    this.#tradesLostFrom = null;
    this.#resumed = false;
    this.#readAt = at;
    if (this.#last === null) {
      this.#begin(at, local);
      this.#begunAt = at;
    }
    this.#last = book;
    this.#write(book, at, local);
    return null;
  }

  /**
   * Whether the last book is too old. Its age is by the local clock, because the time in the book may be the time of its
   * last change. In a quiet market, this change can be long ago.
   */
  #isLate(): boolean {
    const { clock, pollMs } = this.#options;
    return clock.elapsed() - this.#readElapsed > POLLS_MISSED * pollMs + 1_000;
  }

  #begin(at: Millis, local: Millis): void {
    for (const side of this.#levels) side.clear();
    this.#outlet.book(KIND.clear, SIDE.unknown, at, local, 0, 0, 0);
  }

  #write({ bids, asks }: BookSnapshot, at: Millis, local: Millis): void {
    this.#show(SIDE.buy, bids, at, local);
    this.#show(SIDE.sell, asks, at, local);
  }

  /** Returns the gap since the last complete data, which a new book or the stop ends; `null` if no data is missing. */
  #gapBefore(isLate: boolean): { readonly from: Millis; readonly why: string } | null {
    if (this.#resumed)
      return this.#readAt === null ? null : { from: this.#readAt, why: 'the recorder was not running' };
    if (this.#lostFrom !== null)
      return {
        from: this.#lostFrom,
        why: 'the stream was down; the book was recorded only before and after this gap',
      };
    if (isLate && this.#readAt !== null) return { from: this.#readAt, why: 'no book could be read' };
    return this.#tradesLostFrom === null ? null : { from: this.#tradesLostFrom, why: 'some trades could not be read' };
  }

  /** Writes the changes of one side since the previous book. */
  #show(side: 0 | 1, entries: readonly BookEntry[], at: Millis, local: Millis): void {
    const before = this.#levels[side];
    const now = new Map<number, number>();
    for (const { price, amount } of entries) {
      const ticks = exactTick(this.#instrument, price);
      if (ticks === null) this.#offTick++;
      else now.set(ticks, shownSum(now.get(ticks) ?? 0, shownAmount(this.#instrument, amount)));
    }
    const write = (price: number, lots: number) => this.#outlet.book(KIND.level, side, at, local, price, lots, 0);
    for (const price of [...before.keys()]) {
      if (now.has(price)) continue;
      before.delete(price);
      write(price, 0);
    }
    for (const [price, lots] of now) {
      if (before.get(price) === lots) continue;
      before.set(price, lots);
      write(price, lots);
    }
  }

  async #readRules(): Promise<void> {
    const { exchange, log } = this.#options;
    const rules = await changedRules(exchange, this.#rules, log);
    if (rules === null || this.#stopped) return;
    const isOtherTick = rules.tickSize !== this.#rules.tickSize;
    const at = this.#outlet.lastAt;
    this.#rules = rules;
    this.#instrument = instrumentOf(rules, this.#lot);
    this.#outlet.rules(rules, at);
    this.#trades.rules(this.#instrument);
    if (!isOtherTick || this.#last === null) return;
    // The last book is recorded again in the new ticks, so that trades before the next book have a book.
    const local = this.#options.clock.now();
    this.#begin(at, local);
    this.#write(this.#last, at, local);
  }
}

/** Returns a price in ticks; `null` if it is between two ticks or out of range. */
function exactTick(instrument: Instrument, price: DecimalText): Price | null {
  try {
    return priceExact(instrument, price);
  } catch (error) {
    if (error instanceof TooLarge) return null;
    throw error;
  }
}
