/**
 * Collector of the figures in the report of a replay, by the exchange's clock. The profit is exact; distributions and
 * series are approximated in bounded memory.
 */
import {
  amount as lotsOf,
  approximately,
  MARKOUT_LEVELS_MAX,
  Markouts,
  money,
  Position,
  price as ticksOf,
  type Instrument,
  type MarkoutCurve,
  type Millis,
  type Money,
  type Profit,
  type Side,
} from '../../src/core/index.ts';
import { isClosed, SpreadHours, type Gap, type WideHours } from '../../src/tape/index.ts';
import { Absence, type Missing } from './missingQuotes.ts';
import { Buckets } from './buckets.ts';
import { Durations, TimeByValue } from './distributions.ts';
import { Fees, type FeeOptions } from '../exchange/fees.ts';
import type { TradedVolume } from '../exchange/tradedVolume.ts';
import { GapIterator } from '../rows/gapIterator.ts';
import { Hours, type Hour } from './hours.ts';
import { NO_ASK, NO_BID, type OwnOrder } from '../exchange/ownOrders.ts';
import type { RequestBudget } from '../exchange/requestBudget.ts';
import { Returns } from './returns.ts';
import { BUY } from '../rows/rows.ts';
import type { TickBook } from '../rows/tickBook.ts';
import type { Watcher } from '../exchange/watcher.ts';

export type CollectOptions = {
  readonly instrument: Instrument;
  /** Time of the first row of the tape. */
  readonly from: Millis;
  /** Time of the last row of the tape. */
  readonly to: Millis;
  readonly gaps: readonly Gap[];
  readonly fees: FeeOptions;
  /** Volume that the account has traded at the exchange, if several books share it. */
  readonly volume?: TradedVolume;
  readonly budget: RequestBudget;
  /** Price at price index 0, in ticks. */
  readonly base: number;
  /** Initial inventory beyond the target, in the base currency. */
  readonly opening: Money;
};

/** Statistics of the orders at one level of one side; `level` starts at 1. Amounts are in lots, times in ms. */
export type LevelOrders = {
  readonly side: Side;
  readonly level: number;
  readonly rested: number;
  readonly restedLots: number;
  readonly filledLots: number;
  /** Number of orders with at least one execution. */
  readonly touched: number;
  /** Number of orders that were filled completely. */
  readonly filled: number;
  /** Mean amount ahead of the orders in the queue on arrival; `null` if no queue position is known. */
  readonly aheadLots: number | null;
  /** Times from the arrival in the book to the first execution. */
  readonly queued: Durations;
  /** Lifetimes of the orders that ended without an execution. */
  readonly unfilled: Durations;
};

export type Collected = {
  /** Profit at the exchange's mid price and clock; its parts add up exactly. */
  readonly profit: Profit;
  readonly position: Money;
  readonly cash: Money;
  readonly drawdown: { readonly most: Money; readonly at: Millis | null };
  readonly returns: Returns;
  readonly markouts: readonly MarkoutCurve[];
  /**
   * Value of the hedges on the other exchange at the mid price 60 s later, after their fees, in the quote currency; 0 if
   * there are none. A hedge without a known mid price counts with the mean of the others.
   */
  readonly hedgesAfterMinute: number;
  readonly levels: readonly LevelOrders[];
  readonly queued: Durations;
  /** Time in ms at each position in lots. */
  readonly positionTime: TimeByValue;
  /** Time-weighted mean size of the position, in lots. */
  readonly positionMeanLots: number;
  readonly spreads: { readonly marketBps: number | null; readonly oursBps: number | null };
  /** Hours of the day whose spread is far wider than in the other hours; `null` if there are none. */
  readonly wideHours: WideHours | null;
  /** Share of the samples with a resting bid, with a resting ask, and with both. */
  readonly quoted: { readonly bid: number; readonly ask: number; readonly both: number };
  /** Largest number of requests that were sent in any minute. */
  readonly requestsMost: number;
  readonly requestsAllowed: number;
  /** Reasons why a side had no live order, with their durations, longest first. */
  readonly missing: readonly Missing[];
  readonly hours: readonly Hour[];
  readonly series: Buckets<SeriesName>;
};

const SERIES = {
  profit: 'last',
  profitLeast: 'min',
  profitMost: 'max',
  spread: 'last',
  inventory: 'last',
  fees: 'last',
  kept60: 'sum',
  hedged60: 'sum',
  hedging: 'last',
  drawdown: 'max',
  position: 'last',
  positionLeast: 'min',
  positionMost: 'max',
  middle: 'last',
  marketBps: 'sum',
  marketLooks: 'sum',
  oursBps: 'sum',
  oursLooks: 'sum',
  looks: 'sum',
  bidLooks: 'sum',
  askLooks: 'sum',
  requests: 'max',
  boughtLots: 'sum',
  boughtTickLots: 'sum',
  soldLots: 'sum',
  soldTickLots: 'sum',
} as const;
export type SeriesName = keyof typeof SERIES;

type ProfitNumbers = Readonly<Record<'profit' | 'spread' | 'inventory' | 'fees' | 'hedging', number>>;

/** Sampling interval in ms; shares of time are shares of samples. */
const LOOK_MS = 1000;
/** Time after a fill at which its value is measured for the net after 60 s. */
export const AFTER_SECONDS = 60;

export class Collector implements Watcher {
  dueAt: Millis;
  readonly #absence: Absence;
  readonly #hours: Hours;
  readonly #profitNow = (): Profit => this.#position.profit();
  readonly #options: CollectOptions;
  readonly #position: Position;
  readonly #fees: Fees;
  /** Fee rates of the executions whose notices the bot has not received, in order. */
  readonly #charged: number[] = [];
  readonly #gaps: GapIterator;
  readonly #closed: GapIterator;
  readonly #spreadHours = new SpreadHours();
  readonly #markouts = new Markouts({
    onMarkout: (horizon, bps, value, at) => {
      if (horizon === AFTER_SECONDS) this.#series.put('kept60', at, (bps * value) / 10_000);
    },
  });
  /** Markouts of the hedges on the other exchange; `null` before the first one. */
  #hedgeMarkouts: Markouts | null = null;
  /** Approximate value of these hedges, of those with a known mid price 60 s later, and the gain of the latter by then. */
  readonly #hedges = { value: 0, known: 0, gain: 0 };
  readonly #series: Buckets<SeriesName>;
  readonly #returns: Returns;
  readonly #positionTime: TimeByValue;
  readonly #levels: Level[] = Array.from({ length: 2 * MARKOUT_LEVELS_MAX }, () => new Level());
  readonly #queued = new Durations();
  /** Size of one lot, in the base currency. */
  readonly #lot: number;
  /** Size of one tick, in the quote currency. */
  readonly #tick: number;
  /** Last profit as numbers, cached because the profit rarely changes. */
  #last: { readonly of: Profit; readonly parts: ProfitNumbers } | null = null;
  #lookAt: Millis;
  #since: Millis;
  #lots: number;
  #sizeTime = 0;
  #tids = 0;
  #peak = 0n;
  #fall = 0n;
  #fallAt: Millis | null = null;
  #market = 0;
  #marketLooks = 0;
  #ours = 0;
  #oursLooks = 0;
  #looks = 0;
  #bidLooks = 0;
  #askLooks = 0;
  #bothLooks = 0;
  #requestsMost = 0;

  constructor(options: CollectOptions) {
    const { instrument, from, to, gaps, fees, volume, opening } = options;
    this.#options = options;
    this.#position = new Position(instrument, opening);
    this.#fees = new Fees(instrument, fees, volume);
    this.#gaps = new GapIterator(gaps);
    this.#closed = new GapIterator(gaps.filter(isClosed));
    this.#series = new Buckets(from, LOOK_MS, SERIES);
    this.#returns = new Returns(from);
    this.#positionTime = new TimeByValue(1);
    this.#absence = new Absence(from);
    this.#hours = new Hours(from, to);
    this.#lot = approximately(instrument.lotMoney);
    this.#tick = approximately(instrument.tickMoney);
    this.#lookAt = from;
    this.#since = from;
    this.#lots = this.#inLots();
    this.dueAt = from;
  }

  /**
   * Whether `explain` must be called: at the last sample a side had no live order, or a time without an order has no
   * reason yet.
   */
  get isMissing(): boolean {
    return this.#absence.isOpen;
  }

  look(at: Millis, book: TickBook, ownBid: number, ownAsk: number): void {
    const { bid, ask, last } = book;
    const known = bid > 0 && ask < last && !this.#gaps.isIn(at);
    const midTicks = known ? (bid + ask) / 2 + this.#options.base : 0;
    this.#markouts.advanceTo(at, midTicks);
    this.#hedgeMarkouts?.advanceTo(at, midTicks);
    if (at >= this.#lookAt) {
      if (known) this.#position.mark(2 * midTicks);
      this.#sample(at, midTicks, known ? ask - bid : 0, ownBid, ownAsk);
      this.#lookAt = at >= this.#options.to ? Infinity : Math.min(at + LOOK_MS, this.#options.to);
    }
    this.#schedule();
  }

  rested(order: OwnOrder): void {
    const level = this.#levelOf(order);
    level.rested++;
    level.restedLots += order.lots;
    // The queue position of an order is unknown until the book shows the order.
    if (order.front < Infinity) {
      level.ahead += order.front;
      level.known++;
    }
  }

  filled(order: OwnOrder, lots: number, at: Millis, mid: number, place: number): void {
    const { base } = this.#options;
    const ticks = place + base;
    const midTicks = mid === 0 ? 0 : mid / 2 + base;
    // A taker order was never in a queue, and is not counted as a quote.
    if (!order.takes) this.#quoted(order, lots, at);
    this.#hold(at);
    this.#hours.reach(at, this.#profitNow);
    if (midTicks > 0) this.#position.mark(2 * midTicks);
    const value = this.#book(order, lots, at, ticks);
    this.#hours.filled(value);
    this.#lots = this.#inLots();
    const bought = order.side === BUY;
    if (!order.takes)
      this.#markouts.fill(at, bought ? 'buy' : 'sell', order.level, ticks, approximately(value), midTicks);
    this.#fell(at);
    this.#series.put(bought ? 'boughtLots' : 'soldLots', at, lots);
    this.#series.put(bought ? 'boughtTickLots' : 'soldTickLots', at, lots * ticks);
    this.#holding(at);
    this.#schedule();
  }

  /**
   * Books an executed conversion; `mid` is twice the mid price, as a price index, or 0 if unknown. Returns its cost
   * against the mid price, in the quote currency; positive if the bot paid.
   */
  converted(major: Money, minor: Money, at: Millis, mid: number): Money {
    const shownAt = Math.min(at, this.#options.to);
    this.#hold(shownAt);
    this.#hours.reach(shownAt, this.#profitNow);
    if (mid > 0) this.#position.mark(mid + 2 * this.#options.base);
    const before = this.#position.profit().hedging;
    this.#position.convert(major, minor);
    if (!this.#position.isExplained())
      throw new Error('after a conversion, the parts of the profit do not add up to the change of equity');
    this.#lots = this.#inLots();
    this.#fell(shownAt);
    this.#holding(shownAt);
    this.#schedule();
    return money(before - this.#position.profit().hedging);
  }

  /**
   * Books an execution on the other exchange as `converted` does, and measures its value 60 s later. A move of the mid
   * price changes the values of a fill and of its hedge in opposite directions.
   */
  hedgedElsewhere(major: Money, minor: Money, at: Millis, mid: number): Money {
    const cost = this.converted(major, minor, at, mid);
    const [base, value] = [Math.abs(approximately(major)), Math.abs(approximately(minor))];
    if (!(base > 0 && value > 0)) return cost;
    this.#hedgeMarkouts ??= new Markouts({
      onMarkout: (horizon, bps, weight, filledAt) => {
        if (horizon !== AFTER_SECONDS) return;
        const gain = (bps * weight) / 10_000;
        this.#hedges.known += weight;
        this.#hedges.gain += gain;
        this.#series.put('hedged60', filledAt, gain);
      },
    });
    const midTicks = mid === 0 ? 0 : mid / 2 + this.#options.base;
    this.#hedges.value += value;
    this.#hedgeMarkouts.fill(at, major > 0n ? 'buy' : 'sell', null, value / base / this.#tick, value, midTicks);
    this.#schedule();
    return cost;
  }

  /** Removes and returns the fee rate of the oldest execution whose notice the bot had not received. */
  takeCharged(): number {
    const rate = this.#charged.shift();
    if (rate === undefined) throw new Error('the bot received an execution that the exchange has not charged');
    return rate;
  }

  /** Change of the account's balances since the start, in each currency. */
  get moved(): { readonly major: Money; readonly minor: Money } {
    return { major: money(this.#position.inventory - this.#options.opening), minor: this.#position.cash };
  }

  canceled(order: OwnOrder, at: Millis): void {
    if (order.left === order.lots) this.#levelOf(order).unfilled.add(at - order.restedAt);
  }

  #quoted(order: OwnOrder, lots: number, at: Millis): void {
    const level = this.#levelOf(order);
    if (order.left + lots === order.lots) {
      level.touched++;
      level.queued.add(at - order.restedAt);
      this.#queued.add(at - order.restedAt);
    }
    if (order.left === 0) level.filled++;
    level.filledLots += lots;
  }

  /** Records why the bid and the ask are missing at a decision. */
  explain(bid: string, ask: string): void {
    this.#absence.explain(bid, ask);
  }

  /** Returns the results; must be called after the last row of the tape. */
  end(): Collected {
    const { to } = this.#options;
    this.#hold(to);
    const sides = ['buy', 'sell'] as const;
    const looks = Math.max(1, this.#looks);
    return {
      profit: this.#position.profit(),
      position: this.#position.inventory,
      cash: this.#position.cash,
      drawdown: { most: money(this.#fall), at: this.#fallAt },
      returns: this.#returns,
      markouts: this.#markouts.curves(),
      hedgesAfterMinute: this.#hedges.known > 0 ? (this.#hedges.gain * this.#hedges.value) / this.#hedges.known : 0,
      levels: this.#levels
        .map((level, i) => level.shown(sides[i < MARKOUT_LEVELS_MAX ? 0 : 1], (i % MARKOUT_LEVELS_MAX) + 1))
        .filter(({ rested }) => rested > 0),
      queued: this.#queued,
      positionTime: this.#positionTime,
      positionMeanLots: to > this.#options.from ? this.#sizeTime / (to - this.#options.from) : 0,
      spreads: {
        marketBps: this.#marketLooks > 0 ? this.#market / this.#marketLooks : null,
        oursBps: this.#oursLooks > 0 ? this.#ours / this.#oursLooks : null,
      },
      wideHours: this.#spreadHours.wide(),
      quoted: { bid: this.#bidLooks / looks, ask: this.#askLooks / looks, both: this.#bothLooks / looks },
      requestsMost: this.#requestsMost,
      requestsAllowed: this.#options.budget.perMinute,
      missing: this.#absence.end(),
      hours: this.#hours.end(this.#position.profit()),
      series: this.#series,
    };
  }

  /**
   * Books one execution and returns its value. Throws if the parts of the profit do not add up to the change of equity
   * exactly.
   */
  #book(order: OwnOrder, lots: number, at: Millis, ticks: number): Money {
    const { instrument } = this.#options;
    const side: Side = order.side === BUY ? 'buy' : 'sell';
    const price = ticksOf(ticks);
    // A trade in another book may have changed the tier.
    this.#fees.review();
    const rate = this.#fees.rate(order.takes);
    this.#charged.push(rate);
    const { major, minor, fee } = this.#fees.fill(side, price, lotsOf(lots), order.takes, rate);
    this.#fees.traded(minor, at);
    this.#position.fill({
      tid: String(++this.#tids),
      id: String(order.id),
      oid: String(order.id),
      at,
      book: instrument.symbol,
      side,
      price,
      major,
      minor,
      fee,
      feeIn: side === 'buy' ? 'major' : 'minor',
      maker: !order.takes,
    });
    if (!this.#position.isExplained())
      throw new Error(`after fill ${this.#tids}, the parts of the profit do not add up to the change of equity`);
    return minor;
  }

  #sample(at: Millis, midTicks: number, width: number, ownBid: number, ownAsk: number): void {
    const { budget } = this.#options;
    const series = this.#series;
    const parts = this.#shown(this.#position.profit());
    const { profit } = parts;
    // Index of the bucket for all values below.
    const stretch = series.stretchAt(at);
    const { columns } = series;
    this.#fell(at, stretch);
    this.#hours.reach(at, this.#profitNow);
    this.#returns.look(at, profit);
    columns.profit[stretch] = profit;
    series.putIn(stretch, 'profitLeast', profit);
    series.putIn(stretch, 'profitMost', profit);
    columns.spread[stretch] = parts.spread;
    columns.inventory[stretch] = parts.inventory;
    columns.fees[stretch] = parts.fees;
    columns.hedging[stretch] = parts.hedging;
    const held = this.#lots * this.#lot;
    columns.position[stretch] = held;
    series.putIn(stretch, 'positionLeast', held);
    series.putIn(stretch, 'positionMost', held);
    // A missing quote does not count while the market is closed.
    if (this.#closed.isIn(at)) return this.#absence.skip(at);
    const hasBid = ownBid !== NO_BID;
    const hasAsk = ownAsk !== NO_ASK;
    this.#absence.look(at, hasBid, hasAsk);
    this.#looks++;
    columns.looks[stretch]! += 1;
    if (hasBid) {
      columns.bidLooks[stretch]! += 1;
      this.#bidLooks++;
    }
    if (hasAsk) {
      columns.askLooks[stretch]! += 1;
      this.#askLooks++;
    }
    if (hasBid && hasAsk) this.#bothLooks++;
    this.#hours.look(hasBid && hasAsk);
    const used = budget.usedAt(at);
    this.#requestsMost = Math.max(this.#requestsMost, used);
    series.putIn(stretch, 'requests', used);
    if (midTicks === 0) return;
    columns.middle[stretch] = midTicks * this.#tick;
    const marketBps = (width * 10_000) / midTicks;
    this.#market += marketBps;
    this.#spreadHours.put(at, marketBps);
    this.#marketLooks++;
    columns.marketBps[stretch]! += marketBps;
    columns.marketLooks[stretch]! += 1;
    if (!(hasBid && hasAsk)) return;
    const oursBps = ((ownAsk - ownBid) * 10_000) / midTicks;
    this.#ours += oursBps;
    this.#oursLooks++;
    columns.oursBps[stretch]! += oursBps;
    columns.oursLooks[stretch]! += 1;
  }

  #shown(of: Profit): ProfitNumbers {
    if (this.#last?.of === of) return this.#last.parts;
    const parts = {
      profit: approximately(of.total),
      spread: approximately(of.spread),
      inventory: approximately(of.inventory),
      fees: approximately(of.fees),
      hedging: approximately(of.hedging),
    };
    this.#last = { of, parts };
    return parts;
  }

  /** Updates the drawdown, which is the largest fall of the profit below its maximum so far. */
  #fell(at: Millis, stretch = this.#series.stretchAt(at)): void {
    const { total } = this.#position.profit();
    if (total > this.#peak) this.#peak = total;
    const fall = this.#peak - total;
    this.#series.putIn(stretch, 'drawdown', fall === 0n ? 0 : approximately(money(fall)));
    if (fall <= this.#fall) return;
    this.#fall = fall;
    this.#fallAt = at;
  }

  /** Counts the time since the last update, until `at`, as spent at the current position. */
  #hold(at: Millis): void {
    const passed = at - this.#since;
    this.#since = at;
    this.#positionTime.add(this.#lots, passed);
    this.#sizeTime += Math.abs(this.#lots) * passed;
  }

  /** Records the position in the series of minimum and maximum positions. */
  #holding(at: Millis): void {
    const held = this.#lots * this.#lot;
    this.#series.put('positionLeast', at, held);
    this.#series.put('positionMost', at, held);
  }

  #inLots(): number {
    return approximately(this.#position.inventory) / this.#lot;
  }

  #levelOf({ side, level }: OwnOrder): Level {
    return this.#levels[side * MARKOUT_LEVELS_MAX + Math.min(level, MARKOUT_LEVELS_MAX - 1)]!;
  }

  #schedule(): void {
    const due = Math.min(this.#markouts.dueAt, this.#hedgeMarkouts?.dueAt ?? Infinity);
    this.dueAt = Math.min(this.#lookAt, due <= this.#options.to ? due : Infinity);
  }
}

class Level {
  rested = 0;
  restedLots = 0;
  filledLots = 0;
  touched = 0;
  filled = 0;
  ahead = 0;
  /** Number of orders with a known queue position. */
  known = 0;
  readonly queued = new Durations();
  readonly unfilled = new Durations();

  shown(side: Side, level: number): LevelOrders {
    const { rested, restedLots, filledLots, touched, filled, queued, unfilled } = this;
    const aheadLots = this.known > 0 ? this.ahead / this.known : null;
    return { side, level, rested, restedLots, filledLots, touched, filled, aheadLots, queued, unfilled };
  }
}
