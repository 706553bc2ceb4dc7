/**
 * Other exchange inside a replay: an account whose immediate-or-cancel orders execute against the recorded depth of its
 * book. Every request takes the latency of that exchange in both directions.
 */
import {
  amountExact,
  DEPTH_LEVELS,
  emptyDepth,
  money,
  moneyOf,
  moneyOfAmount,
  moneyOfValue,
  priceExact,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  valueOf,
  type Amount,
  type Balance,
  type BookEntry,
  type Clock,
  type Depth,
  type Instrument,
  type Millis,
  type Money,
  type NewOrder,
  type OrderReport,
  type Outcome,
  type OwnTrade,
  type Price,
  type Side,
} from '../../src/core/index.ts';
import type { ElsewhereClient, StreamedBook } from '../../src/hedge/index.ts';
import type { Tape } from '../../src/tape/index.ts';
import { RecordedPrice } from '../rows/recordedPrice.ts';
import { Fees } from './fees.ts';

/** Options of the other exchange: plain data, so that a job can be sent to another thread. */
export type ElsewhereExchangeOptions = {
  /** Recording of its book, with depth. */
  readonly tape: Tape;
  /** Taker fee, as a fraction in decimal text. */
  readonly taker: string;
  /** Latency of the exchange, each way. */
  readonly latencyMs: Millis;
  /** Opening balances as decimal text, by currency. */
  readonly balances: Readonly<Record<string, string>>;
  /** Whether the bot receives the book as a stream; otherwise it requests a book for each hedge. */
  readonly isStreamed: boolean;
};

/** Upper bound of the only fee tier: more than any volume. */
const ANY_VOLUME = '999999999999999';
const NO_BOOK = 'the recording of the other exchange has no usable book at this time';

/** Order at its arrival. */
type Arrived = {
  readonly oid: string;
  readonly originId: string;
  readonly side: Side;
  readonly at: Millis;
};

/** Lots that orders have taken from the levels of one book. */
type Taken = { readonly changes: number; readonly lots: Readonly<Record<Side, Map<number, number>>> };

export class ElsewhereExchange implements ElsewhereClient {
  readonly takerRate: number;
  readonly #options: ElsewhereExchangeOptions;
  readonly #clock: Clock;
  readonly #fees: Fees;
  readonly #onTrade: (trade: OwnTrade) => void;
  /** Book at the exchange. */
  readonly #there: RecordedPrice;
  /** Book as the stream shows it to the bot. */
  readonly #seen: RecordedPrice;
  readonly #depth: Depth = emptyDepth(DEPTH_LEVELS);
  /**
   * Executions do not change the recorded book. What they took is hidden until the recording shows a newer book, so that
   * no level is taken twice.
   */
  #taken: Taken = { changes: -1, lots: { buy: new Map(), sell: new Map() } };
  readonly #reports = new Map<string, OrderReport>();
  readonly #trades: OwnTrade[] = [];
  readonly #balances: Map<string, Money>;
  readonly #charged = new Map<string, Money>();

  /** `onTrade` receives each execution at its time at the exchange. */
  constructor(options: ElsewhereExchangeOptions, clock: Clock, onTrade: (trade: OwnTrade) => void) {
    const { tape, taker, balances } = options;
    this.#options = options;
    this.#clock = clock;
    this.#onTrade = onTrade;
    this.#there = new RecordedPrice(tape);
    this.#seen = new RecordedPrice(tape);
    this.#fees = new Fees(tape.instrument, {
      tiers: [{ volume: ANY_VOLUME, maker: taker, taker }],
      volume30d: '0',
    });
    this.takerRate = this.#fees.takerRate;
    const { major, minor } = tape.instrument;
    this.#balances = new Map([major, minor].map(currency => [currency, moneyOf(balances[currency] ?? '0')]));
  }

  get instrument(): Instrument {
    return this.#options.tape.instrument;
  }

  /** Balances of the account, by currency. */
  get holdings(): ReadonlyMap<string, Money> {
    return this.#balances;
  }

  /** Fees that the account has paid, by currency. */
  get fees(): ReadonlyMap<string, Money> {
    return this.#charged;
  }

  /** Executions so far. */
  get trades(): readonly OwnTrade[] {
    return this.#trades;
  }

  /** Returns the book of the stream as the bot knows it now; `null` if it is unknown. `undefined` without a stream. */
  get streamed(): (() => StreamedBook | null) | undefined {
    if (!this.#options.isStreamed) return undefined;
    return () => {
      const [now, { latencyMs }] = [this.#clock.now(), this.#options];
      this.#seen.moveTo(now - latencyMs);
      if (!this.#seen.isKnown) return null;
      const at = this.#clock.elapsed() - (now - latencyMs - this.#seen.at);
      return { instrument: this.instrument, depth: this.#depthOf(this.#seen), at };
    };
  }

  orderBook: ElsewhereClient['orderBook'] = () =>
    this.#ask(() => {
      const { symbol: book } = this.instrument;
      if (!this.#isKnown()) return { kind: 'unknown', reason: NO_BOOK };
      const { bids, asks, bidPrices, bidAmounts, askPrices, askAmounts } = this.#depthOf(this.#there);
      const rows = (count: number, prices: Float64Array, amounts: Float64Array): readonly BookEntry[] =>
        Array.from({ length: count }, (_, i) => ({
          price: textOfPrice(this.instrument, prices[i] as Price),
          amount: textOfAmount(this.instrument, amounts[i] as Amount),
        }));
      return answered({
        ...{ book, sequence: BigInt(this.#there.changes), updatedAt: this.#clock.now() },
        ...{ bids: rows(bids, bidPrices, bidAmounts), asks: rows(asks, askPrices, askAmounts) },
      });
    });

  place: ElsewhereClient['place'] = (order, isWanted) => {
    if (isWanted !== undefined && !isWanted())
      return Promise.resolve({ kind: 'refused', code: 'not-sent', message: 'the order is no longer wanted' });
    return this.#ask(() => this.#execute(order));
  };

  lookUp: ElsewhereClient['lookUp'] = of =>
    this.#ask(() => {
      const ids = 'oids' in of ? of.oids : of.originIds;
      return answered(
        [...this.#reports.values()].filter(({ oid, originId }) => [oid, originId].some(id => ids.includes(id!))),
      );
    });

  orderTrades: ElsewhereClient['orderTrades'] = of =>
    this.#ask(() =>
      answered(this.#trades.filter(({ oid, originId }) => ('oid' in of ? oid === of.oid : originId === of.originId))),
    );

  /** Cancels nothing, because no order rests. */
  cancel: ElsewhereClient['cancel'] = () => this.#ask(() => answered([]));

  balances(): Promise<Outcome<readonly Balance[]>> {
    return this.#ask(() =>
      answered(
        [...this.holdings].map(([currency, sum]) => {
          const total = textOfMoney(sum);
          return { currency, total, locked: '0', available: total };
        }),
      ),
    );
  }

  /** Sends a request, which the exchange processes on arrival. Resolves with the answer when it is back. */
  #ask<T>(work: () => Outcome<T>): Promise<Outcome<T>> {
    const { latencyMs } = this.#options;
    return new Promise(resolve => {
      this.#clock.after(latencyMs, () => {
        const outcome = work();
        this.#clock.after(latencyMs, () => resolve(outcome));
      });
    });
  }

  #isKnown(): boolean {
    this.#there.moveTo(this.#clock.now());
    return this.#there.isKnown;
  }

  #execute({ book, side, price: priceText, major, originId }: NewOrder): Outcome<{ readonly oid: string }> {
    const { instrument } = this;
    if (book !== instrument.symbol) return rejection('book', `expected the book ${instrument.symbol}, found ${book}`);
    if (this.#reports.has(originId))
      return { ...rejection('id', `an order has the id ${originId}`), meaning: 'duplicate id' };
    const [price, lots] = [priceExact(instrument, priceText), amountExact(instrument, major)];
    if (price === null || lots === null) return rejection('units', 'price or amount is off the grid of the book');
    if (lots < instrument.amountMin || lots > instrument.amountMax || valueOf(price, lots) < instrument.valueMin)
      return rejection('amount', 'amount or value of the order is outside the limits of the book');
    const spent = side === 'sell' ? moneyOfAmount(instrument, lots) : moneyOfValue(instrument, valueOf(price, lots));
    if (spent > (this.#balances.get(side === 'sell' ? instrument.major : instrument.minor) ?? 0n))
      return rejection('balance', 'the balance is below the amount of the order');
    const oid = `e${this.#reports.size + 1}`;
    const at = this.#clock.now();
    const filled = this.#isKnown() ? this.#take({ oid, originId, side, at }, price, lots) : 0;
    this.#reports.set(originId, {
      ...{ book, oid, originId, side, type: 'limit', status: filled === lots ? 'completed' : 'cancelled' },
      ...{ price: priceText, originalAmount: major, createdAt: at },
      unfilledAmount: textOfAmount(instrument, (lots - filled) as Amount),
    });
    return answered({ oid });
  }

  /** Executes an order against the recorded levels up to its limit price. Returns the filled lots. */
  #take(order: Arrived, limit: Price, lots: Amount): number {
    const { side } = order;
    const levels = this.#there.levelsFor(side);
    let left: number = lots;
    for (let i = 0; i < levels.length && left > 0; i++) {
      const price = levels.priceAt(i) as Price;
      if (side === 'sell' ? price < limit : price > limit) break;
      const part = Math.min(left, levels.amountAt(i) - this.#takenFrom(this.#there, side, price));
      if (!(part > 0)) continue;
      left -= part;
      this.#hide(side, price, part);
      this.#book(order, price, part as Amount);
    }
    return lots - left;
  }

  #book({ oid, originId, side, at }: Arrived, price: Price, lots: Amount): void {
    const { instrument } = this;
    const { major: base, minor: quote } = instrument;
    const { major, minor, fee } = this.#fees.fill(side, price, lots, true);
    const feeCurrency = side === 'buy' ? base : quote;
    const sign = side === 'buy' ? 1n : -1n;
    add(this.#balances, base, sign * major);
    add(this.#balances, quote, -sign * minor);
    add(this.#balances, feeCurrency, -fee);
    add(this.#charged, feeCurrency, fee);
    const trade: OwnTrade = {
      ...{ book: instrument.symbol, tid: `e${this.#trades.length + 1}`, oid, originId, createdAt: at, side },
      ...{ price: textOfPrice(instrument, price), major: textOfMoney(major), minor: textOfMoney(minor) },
      ...{ feeAmount: textOfMoney(fee), feeCurrency, maker: false },
    };
    this.#trades.push(trade);
    this.#onTrade(trade);
  }

  #hide(side: Side, price: number, lots: number): void {
    const { changes } = this.#there;
    if (this.#taken.changes !== changes) this.#taken = { changes, lots: { buy: new Map(), sell: new Map() } };
    const taken = this.#taken.lots[side];
    taken.set(price, (taken.get(price) ?? 0) + lots);
  }

  /** Returns the lots that orders of this side have taken from a level of the book that `cursor` shows. */
  #takenFrom(cursor: RecordedPrice, side: Side, price: number): number {
    return this.#taken.changes === cursor.changes ? (this.#taken.lots[side].get(price) ?? 0) : 0;
  }

  /** Returns the best levels that a cursor shows. The result is reused by the next call. */
  #depthOf(cursor: RecordedPrice): Depth {
    const depth = this.#depth;
    const fill = (side: Side, prices: Float64Array, amounts: Float64Array): number => {
      const levels = cursor.levelsFor(side);
      let count = 0;
      for (let i = 0; i < levels.length && count < DEPTH_LEVELS; i++) {
        const price = levels.priceAt(i);
        const lots = levels.amountAt(i) - this.#takenFrom(cursor, side, price);
        if (!(lots > 0)) continue;
        prices[count] = price;
        amounts[count++] = lots;
      }
      return count;
    };
    depth.bids = fill('sell', depth.bidPrices, depth.bidAmounts);
    depth.asks = fill('buy', depth.askPrices, depth.askAmounts);
    return depth;
  }
}

const answered = <T>(value: T): Outcome<T> => ({ kind: 'done', value });
const rejection = (code: string, message: string) => ({ kind: 'refused', code, message }) as const;

function add(sums: Map<string, Money>, currency: string, change: bigint): void {
  sums.set(currency, money((sums.get(currency) ?? 0n) + change));
}
