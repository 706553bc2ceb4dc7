/** Records one book of an exchange without its stream: the levels that a poll shows, and the trades by pages. */
import { amountFloor, instrumentOf, priceExact } from '../../core/index.ts';
import type { BookEntry, BookRules, Instrument, Millis } from '../../core/index.ts';
import { KIND, SIDE } from '../model/tape.ts';
import { ReorderBuffer } from './reorderBuffer.ts';
import { rulesOf } from './recorderTypes.ts';
import type { RecorderOptions, RecorderStatus } from './recorderTypes.ts';
import { TradeRecord } from './tradeRecord.ts';

export type PollRecorderOptions = Omit<RecorderOptions, 'stream' | 'checkEveryMs'> & {
  /** Between two rounds, each of a book and a page of trades. */
  readonly pollMs: Millis;
};

const FLUSH_MS = 400;
/** Polls that may fail before what lies between is a gap. */
const POLLS_MISSED = 3;
const RULES_EVERY = 400;

export class PollRecorder {
  readonly #options: PollRecorderOptions;
  readonly #outlet: ReorderBuffer;
  readonly #trades: TradeRecord;
  #rules: BookRules;
  #instrument: Instrument;
  readonly #levels = [new Map<number, number>(), new Map<number, number>()] as const;
  #sequence = -1n;
  /** Books in a row that were older than one before. */
  #older = 0;
  /** Exchange time of the last book that was read; null before the first. */
  #readAt: Millis | null;
  /** Our time of it. */
  #readElapsed: Millis = Infinity;
  #begunAt: Millis = Infinity;
  #resumed: boolean;
  #stopped = false;

  constructor(options: PollRecorderOptions) {
    this.#options = options;
    this.#rules = options.rules;
    this.#instrument = instrumentOf(options.rules);
    this.#outlet = new ReorderBuffer(options.sink, options.clock);
    this.#trades = new TradeRecord(this.#instrument);
    this.#readAt = options.resumedFrom;
    this.#resumed = options.resumedFrom !== null;
  }

  start(): void {
    void this.#loop(FLUSH_MS, () => this.#outlet.flush());
    void this.#loop(this.#options.pollMs, turn => this.#poll(turn));
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#outlet.flush(true);
  }

  get status(): RecorderStatus {
    const orders = this.#levels[0].size + this.#levels[1].size;
    return { ...this.#outlet.counts, orders, source: this.#begunAt < Infinity ? 'polled' : 'none' };
  }

  async #loop(ms: Millis, work: (turn: number) => unknown): Promise<void> {
    const { clock, onBroken } = this.#options;
    for (let turn = 0; !this.#stopped; turn++) {
      try {
        await work(turn);
      } catch (error) {
        onBroken(error);
        return;
      }
      await new Promise<void>(resolve => clock.after(ms, resolve));
    }
  }

  async #poll(turn: number): Promise<void> {
    const { exchange, clock, pollMs } = this.#options;
    const book = await exchange.orderBook(this.#rules.book, true);
    if (this.#stopped) return;
    // After the book and written before it: an execution comes before the levels that it changed.
    await this.#pollTrades();
    if (turn % RULES_EVERY === RULES_EVERY - 1) await this.#readRules();
    if (this.#stopped || book.kind !== 'done') return;
    // A late reply; an exchange that counts anew is believed after as many polls as may fail.
    if (book.value.sequence < this.#sequence && ++this.#older <= POLLS_MISSED) return;
    this.#older = 0;
    const local = clock.now();
    // By our own clock: a book may say when it was read or when it last changed, and a quiet one was read all the same.
    const elapsed = clock.elapsed();
    const isLate = elapsed - this.#readElapsed > POLLS_MISSED * pollMs + 1_000;
    this.#readElapsed = elapsed;
    const at = Math.max(book.value.updatedAt, this.#outlet.lastAt);
    if (this.#readAt !== null && (this.#resumed || isLate)) {
      const why = this.#resumed ? 'the recorder was not running' : 'no book could be read';
      this.#outlet.gap({ from: this.#readAt, to: at, why });
    }
    this.#resumed = false;
    this.#readAt = at;
    this.#sequence = book.value.sequence;
    if (this.#begunAt === Infinity) {
      this.#outlet.book(KIND.clear, SIDE.unknown, at, local, 0, 0, 0);
      this.#begunAt = at;
    }
    this.#show(SIDE.buy, book.value.bids, at, local);
    this.#show(SIDE.sell, book.value.asks, at, local);
  }

  /** Writes what differs from the picture before. */
  #show(side: 0 | 1, entries: readonly BookEntry[], at: Millis, local: Millis): void {
    const before = this.#levels[side];
    const now = new Map<number, number>();
    for (const { price, amount } of entries) {
      const ticks = priceExact(this.#instrument, price);
      if (ticks !== null) now.set(ticks, (now.get(ticks) ?? 0) + amountFloor(this.#instrument, amount));
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

  async #pollTrades(): Promise<void> {
    const missed = await this.#trades.missed(this.#options.exchange);
    if (missed === null || this.#stopped) return;
    const local = this.#options.clock.now();
    this.#trades.take(missed.trades, (side, at, price, amount, id) => {
      if (at >= this.#begunAt) this.#outlet.trade(side, at, local, price, amount, id, null);
    });
    if (!missed.whole)
      this.#outlet.dirt({
        what: 'trades of a long break',
        count: 1,
        done: 'left out: more than can be read afterwards',
      });
  }

  async #readRules(): Promise<void> {
    const books = await this.#options.exchange.availableBooks();
    const row = books.kind === 'done' ? books.value.find(({ book }) => book === this.#rules.book) : undefined;
    const rules = row && rulesOf(row);
    if (!rules || this.#stopped || JSON.stringify(rules) === JSON.stringify(this.#rules)) return;
    const isOtherTick = rules.tickSize !== this.#rules.tickSize;
    this.#rules = rules;
    this.#instrument = instrumentOf(rules);
    this.#outlet.rules(rules, this.#outlet.lastAt);
    this.#trades.rules(this.#instrument);
    if (!isOtherTick) return;
    // The next picture begins anew, in the new ticks.
    for (const side of this.#levels) side.clear();
    this.#begunAt = Infinity;
  }
}
