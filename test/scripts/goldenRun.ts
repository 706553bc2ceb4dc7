/** The golden run: a plain two-sided quote on a recorded market, whose every count and amount is known from an independent engine. */
import { power } from '../../src/fills/index.ts';
import { SimulatedExchange } from '../../backtest/exchange/simulatedExchange.ts';
import { constantLatency } from '../../backtest/rows/latency.ts';
import { LocalOrders } from '../../backtest/replay/localOrders.ts';
import { LOCAL } from '../../backtest/exchange/ownOrders.ts';
import { BUY, FLAG, SELL, type MarketRows, type SideIndex } from '../../backtest/rows/rows.ts';
import { RowWindow } from '../../backtest/rows/rowWindow.ts';
import { TickBook } from '../../backtest/rows/tickBook.ts';
import { wholeOrders } from './wholeOrders.ts';

/** Times in the unit of the rows. */
export type GoldenOptions = {
  readonly halfSpreadTicks: number;
  readonly interval: number;
  readonly latency: number;
  readonly orderLots: number;
  readonly positionMaxLots: number;
};

export type GoldenCounts = {
  readonly steps: number;
  readonly submits: number;
  readonly cancels: number;
  readonly fills: number;
  readonly positionLots: number;
  readonly volumeLots: number;
  /** In tick-lots. */
  readonly cash: bigint;
  /** Of all executions, in tick-lots. */
  readonly turnover: bigint;
};

/** Over rows in memory, or over rows that slide past. */
export function runGolden(rows: MarketRows | RowWindow, options: GoldenOptions): GoldenCounts {
  if (!(rows instanceof RowWindow)) return new GoldenRun(rows, null, options).run();
  rows.load(-Infinity, 0);
  return new GoldenRun(rows.rows, rows, options).run();
}

class GoldenRun {
  readonly #rows: MarketRows;
  readonly #window: RowWindow | null;
  readonly #options: GoldenOptions;
  readonly #exchange: SimulatedExchange;
  readonly #orders: LocalOrders;
  readonly #book: TickBook;
  #next = 0;
  #steps = 0;
  #submits = 0;
  #cancels = 0;
  #fills = 0;
  #position = 0;
  #volume = 0;
  readonly #cash = new TickLots();
  readonly #turnover = new TickLots();
  readonly #onFill = (order: { readonly side: SideIndex; readonly place: number }, lots: number): void => {
    const sign = order.side === BUY ? 1 : -1;
    const value = (order.place + this.#rows.base) * lots;
    this.#fills++;
    this.#position += sign * lots;
    this.#volume += lots;
    this.#cash.add(-sign * value);
    this.#turnover.add(value);
  };

  constructor(rows: MarketRows, window: RowWindow | null, options: GoldenOptions) {
    this.#rows = rows;
    this.#window = window;
    this.#options = options;
    const latency = constantLatency(options.latency, options.latency);
    const queue = power(2);
    this.#exchange = new SimulatedExchange(rows, { name: 'golden', queue, rule: wholeOrders(queue) }, latency);
    this.#orders = new LocalOrders(this.#exchange, latency);
    this.#book = new TickBook(rows);
  }

  run(): GoldenCounts {
    let now = this.#rows.length === 0 ? 0 : this.#rows.at[0]!;
    for (;;) {
      now += this.#options.interval;
      if (this.#window !== null) this.#load(this.#window, now);
      // Requests leave at these moments only: between them each end may live through its own rows alone.
      this.#exchange.runTo(now);
      this.#readRows(now);
      this.#orders.hear(now, this.#onFill);
      if (this.#exchange.isDone && this.#exchange.answers.count === 0 && this.#next >= this.#rows.length) break;
      this.#steps++;
      this.#decide(now);
    }
    return {
      steps: this.#steps,
      submits: this.#submits,
      cancels: this.#cancels,
      fills: this.#fills,
      positionLots: this.#position,
      volumeLots: this.#volume,
      cash: this.#cash.total,
      turnover: this.#turnover.total,
    };
  }

  #load(window: RowWindow, time: number): void {
    const moved = window.load(time, Math.min(this.#next, this.#exchange.next));
    if (moved === 0) return;
    this.#next -= moved;
    this.#exchange.moved(moved);
  }

  #readRows(time: number): void {
    const { local, place, lots, flags } = this.#rows;
    const book = this.#book;
    let row = this.#next;
    while (local[row]! <= time) {
      const flag = flags[row]!;
      if ((flag & FLAG.trade) === 0) {
        if ((flag & FLAG.sell) !== 0) book.setAsk(place[row]!, lots[row]!);
        else book.setBid(place[row]!, lots[row]!);
      }
      row++;
    }
    this.#next = row;
  }

  #decide(now: number): void {
    this.#orders.forgetDone();
    const { bid, ask, last } = this.#book;
    if (bid === 0 || ask === last) return;
    const { halfSpreadTicks, orderLots, positionMaxLots } = this.#options;
    const mid = (bid + ask) / 2;
    const skew = 0.5 * (this.#position / orderLots);
    const wantBid = Math.min(Math.floor(mid - halfSpreadTicks - skew), bid);
    const wantAsk = Math.max(Math.ceil(mid + halfSpreadTicks - skew), ask);
    const buys = this.#position < positionMaxLots;
    const sells = this.#position > -positionMaxLots;
    let bidTaken = false;
    let askTaken = false;
    for (const order of this.#orders.orders) {
      // An order on its way out still holds its price.
      if (order.place === wantBid) bidTaken = true;
      if (order.place === wantAsk) askTaken = true;
      if (order.state !== LOCAL.live) continue;
      const wanted = order.side === BUY ? buys && order.place === wantBid : sells && order.place === wantAsk;
      if (wanted) continue;
      this.#cancels++;
      this.#orders.cancel(now, order);
    }
    if (buys && !bidTaken) this.#place(now, BUY, wantBid, orderLots);
    if (sells && !askTaken) this.#place(now, SELL, wantAsk, orderLots);
  }

  #place(now: number, side: SideIndex, place: number, lots: number): void {
    this.#submits++;
    this.#orders.place(now, side, place, lots);
  }
}

const EXACT_MAX = 2 ** 52;

/** A sum of tick-lots: a number while that is exact, carried over into a bigint before it is not. */
class TickLots {
  #low = 0;
  #carried = 0n;

  add(tickLots: number): void {
    if (!Number.isSafeInteger(tickLots)) throw new RangeError(`${tickLots} tick-lots are not exact`);
    if (!(Math.abs(this.#low) < EXACT_MAX && Math.abs(tickLots) < EXACT_MAX)) {
      this.#carried += BigInt(this.#low);
      this.#low = 0;
    }
    this.#low += tickLots;
  }

  get total(): bigint {
    return this.#carried + BigInt(this.#low);
  }
}
