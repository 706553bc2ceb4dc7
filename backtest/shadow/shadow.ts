/**
 * Shadow of one run of one book: compares each order's life with what the models expect on the recorded market, splits
 * the difference in money into parts, and feeds the detectors.
 *
 * The market is processed `LAG_MS` after the bot saw it, because the arrival of a request is only known after its
 * answer. Memory is bounded: it has the orders until they are settled, and the market of the last `LAG_MS`.
 */
import {
  HOUR_MS,
  amountFloor,
  emptyDepth,
  moneyOf,
  multiplyMoneyFloor,
  money,
  type Command,
  type Depth,
  type EngineEvent,
  type Instrument,
  type Millis,
  type Money,
  type OrderReport,
  type OwnTrade,
  type PlaceCommand,
  type Side,
} from '../../src/core/index.ts';
import type { FillModel } from '../../src/fills/index.ts';
import {
  CAUSES_IN_ORDER,
  DETECTORS,
  DETECTOR_NAMES,
  GAP_PARTS,
  type DetectorName,
  type DivergenceCause,
  type GapPart,
} from './causes.ts';
import { ALARM_THRESHOLD, addObservation } from './cusum.ts';
import { ExpectedFills, type ModelOrder } from './expectedFills.ts';
import {
  ALARMS_MAX,
  SHADOW_HOURS_MAX,
  LARGEST_MAX,
  LATENCY_REQUESTS,
  newSums,
  type GapSums,
  type ShadowAlarm,
  type ShadowMemory,
} from './memory.ts';
import type { LifeObserver, OrderLife, ScenarioOrder } from './orderLife.ts';

/** Delay of the market behind the recording, in ms; longer than nearly every request. */
const LAG_MS = 10_000;
/** Time for which a filled order keeps its place in the models, so that a later expected fill still counts, in ms. */
const GRACE_MS = 30_000;
/** Time after the end of an order until its late trades are known, in ms. */
const SETTLE_MS = 15_000;
/** Time after an unknown outcome until an order that no list has counts as never placed, in ms. */
const UNKNOWN_MS = 120_000;
/**
 * Maximum numbers of live orders and of market rows in memory. More live orders mean that the exchange's lists are
 * wrong.
 */
const LIVES_MAX = 5_000;
const MARKET_MAX = 100_000;
/** Maximum number of trade ids that are kept to recognize a repeated trade. */
const TIDS_MAX = 20_000;
/**
 * Orders that end within this time, in ms, are one observation of the fill model, because one taker can fill several of
 * them.
 */
const TOGETHER_MS = 10_000;
/** Maximum rounding difference of one fee or value at the exchange, as `Money`: two units of the eighth decimal. */
const ROUNDING = 2n * 10n ** 10n;

/** Time without a book of the stream after which the market counts as polled, in ms. */
const POLLED_MS = 5_000;

type MarketRow =
  | {
      readonly at: Millis;
      readonly kind: 'book';
      readonly bestBid: number;
      readonly bestAsk: number;
      /** Lots of others at the price of each of the bot's orders; `null` if the price is beyond the recorded levels. */
      readonly levels: readonly (readonly [life: OrderLife, shown: number | null])[];
      readonly isPolled: boolean;
    }
  | {
      readonly at: Millis;
      readonly kind: 'trade';
      readonly taker: Side;
      readonly price: number;
      readonly lots: number;
    };

/** Order that takes liquidity for a hedge, with the levels of the other side at its decision. */
type TakerLife = {
  readonly id: string;
  readonly side: Side;
  readonly at: Millis;
  readonly levels: readonly (readonly [price: number, lots: number])[];
  readonly mark: number;
  lots: number;
  paid: Money;
  fee: Money;
};

type PendingConversion = { readonly at: Millis; readonly mark: number; readonly value: Money; readonly size: Money };

export type ShadowOptions = {
  readonly run: number;
  readonly instrument: Instrument;
  readonly model: FillModel;
  readonly memory: ShadowMemory;
  /** Receives each alarm when it is raised. */
  readonly onAlarm?: (alarm: ShadowAlarm) => void;
  /** Receives the lives of orders at their measured times, for example to fit a fill model. */
  readonly observer?: LifeObserver;
};

export class Shadow {
  readonly #options: ShadowOptions;
  readonly #memory: ShadowMemory;
  readonly #instrument: Instrument;
  readonly #modelled: ExpectedFills;
  readonly #measured: ExpectedFills;
  readonly #lives = new Map<string, OrderLife>();
  readonly #byOid = new Map<string, OrderLife>();
  readonly #takers = new Map<string, TakerLife>();
  /** Ids of the latest trades of the account. */
  readonly #tids = new Set<string>();
  readonly #conversions = new Map<string, PendingConversion>();
  readonly #depth: Depth = emptyDepth(50);
  #market: MarketRow[] = [];
  #nextRow = 0;
  /** Time up to which the market was processed. */
  #processed: Millis = -Infinity;
  #at: Millis | null = null;
  #makerRate = 0n;
  #takerRate = 0n;
  /** Best prices of the processed market, in ticks; 0 if none. `#bid` and `#ask` are of the last book that arrived. */
  #best = { bid: 0, ask: 0 };
  #bid = 0;
  #ask = 0;
  /** Time of the last book of the stream. Polled books come without the trades that explain their changes. */
  #streamedAt: Millis = -Infinity;
  /** Whether the stream was lost, and the bot has not yet reported all trades that the stream missed. */
  #areTradesLate = false;
  /** Median times of the first requests, in ms; `null` until there are enough. */
  #usual: Readonly<Record<'placements' | 'cancels', Millis | null>>;
  #lastTrade: { readonly at: Millis; readonly taker: Side } | null = null;
  #jointObservation: { readonly until: Millis; actual: number; expected: number } | null = null;

  constructor(options: ShadowOptions) {
    this.#options = options;
    this.#memory = options.memory;
    this.#instrument = options.instrument;
    this.#modelled = new ExpectedFills(options.model);
    this.#measured = new ExpectedFills(options.model);
    const { placements, cancels } = options.memory.latency;
    this.#usual = { placements: medianOf(placements.times), cancels: medianOf(cancels.times) };
  }

  /** Receives an input of the engine, and the commands with which the engine answered. */
  see(event: EngineEvent, commands: readonly Command[]): void {
    const { at } = event;
    if (this.#at !== null && at > this.#at) this.#memory.observedMs += at - this.#at;
    this.#at = at;
    this.#apply(event);
    for (const command of commands) {
      if (command.kind === 'place') this.#place(command, at);
      if (command.kind === 'cancel') for (const id of command.ids) this.#cancelDecided(id, at);
    }
    this.#advance(at - LAG_MS);
  }

  /** Ends the run: settles every order with what is known. */
  end(): void {
    if (this.#at === null) return;
    for (const life of this.#lives.values()) life.endedAt ??= this.#at;
    this.#advance(Infinity);
    for (const life of [...this.#lives.values()]) this.#settle(life);
    for (const taker of [...this.#takers.values()]) this.#settleTaker(taker);
    this.#flushTogether();
  }

  /** Records the first decision that differs from the recording. */
  decisionDiffers(at: Millis, text: string): void {
    if (this.#memory.decision !== null) return;
    this.#memory.decision = { run: this.#options.run, at, text };
    this.#raise('decision', 'decisions', at, text);
  }

  #apply(event: EngineEvent): void {
    switch (event.kind) {
      case 'book':
        this.#book(event);
        break;
      case 'public trade':
        this.#publicTrade(event);
        break;
      case 'history':
        this.#areTradesLate = false;
        break;
      case 'history gap':
        this.#areTradesLate = event.isOpen;
        if (event.isOpen) this.#losesTrades();
        break;
      case 'rules':
        this.#makerRate = BigInt(event.makerRate);
        this.#takerRate = BigInt(event.takerRate);
        break;
      case 'placed': {
        const life = this.#lives.get(event.id);
        if (life === undefined) break;
        life.answeredAt = event.at;
        if (event.outcome.kind === 'done') {
          this.#byOid.set(event.outcome.value.oid, life);
          this.#request('placements', event.at - life.decidedAt, event.at);
        }
        if (event.outcome.kind === 'unknown') {
          life.isUnknown = true;
          life.isMeasured = false;
        }
        if (event.outcome.kind === 'refused') {
          life.isRejected = true;
          life.endedAt ??= event.at;
        }
        break;
      }
      case 'canceled':
        if (event.outcome.kind !== 'done') break;
        for (const oid of event.outcome.value) {
          const life = this.#byOid.get(oid) ?? this.#lives.get(oid);
          if (life === undefined || life.canceled !== null) continue;
          life.canceled = { startedAt: event.startedAt, at: event.at };
          life.endedAt ??= event.at;
        }
        {
          const first = event.ids.map(id => this.#lives.get(id)).find(life => life?.canceled?.at === event.at);
          const decided = first?.cancelDecidedAt ?? null;
          if (decided !== null) this.#request('cancels', event.at - decided, event.at);
        }
        break;
      case 'open orders':
        for (const order of event.orders) this.#orderReport(order, event.at);
        if (event.complete) this.#absent(event);
        break;
      case 'looked up':
        if (event.outcome.kind === 'done') for (const order of event.outcome.value) this.#orderReport(order, event.at);
        break;
      case 'trades':
        for (const trade of event.trades) this.#ownTrade(trade, event.at);
        break;
      case 'conversion':
        this.#conversion(event);
        break;
      case 'restore':
      case 'timer':
      case 'reference':
      case 'source':
      case 'witness':
      case 'book removed':
      case 'balances':
      case 'balances unread':
      case 'take':
      case 'hedge':
      case 'transfer':
      case 'elsewhere':
      case 'stop':
      case 'halt':
      case 'pause':
      case 'pause over':
      case 'reduce':
      case 'reduced':
      case 'slept':
      case 'sentinel':
      case 'resume':
        break;
    }
  }

  #book({ at, startedAt, book }: Extract<EngineEvent, { kind: 'book' }>): void {
    book.depth(this.#depth);
    const { bids, asks, bidPrices, askPrices } = this.#depth;
    this.#bid = bids > 0 ? bidPrices[0]! : 0;
    this.#ask = asks > 0 ? askPrices[0]! : 0;
    const isPolled = startedAt !== null;
    if (!isPolled) this.#streamedAt = at;
    const lives = [...this.#lives.values()];
    if (!this.#isStreamed(at)) for (const life of lives) life.isMeasured = false;
    const levels = lives.map(life => [life, this.#shown(life.side, life.price)] as const);
    this.#push({ at, kind: 'book', bestBid: this.#bid, bestAsk: this.#ask, levels, isPolled });
  }

  #isStreamed(at: Millis): boolean {
    return !this.#areTradesLate && at - this.#streamedAt <= POLLED_MS;
  }

  /** Returns the lots at a price of the last book; `null` if the price is beyond the recorded levels. */
  #shown(side: Side, price: number): number | null {
    const { bids, asks, bidPrices, bidAmounts, askPrices, askAmounts } = this.#depth;
    const [count, prices, amounts, sign] =
      side === 'buy' ? [bids, bidPrices, bidAmounts, -1] : [asks, askPrices, askAmounts, 1];
    for (let i = 0; i < count; i++) {
      if (prices[i] === price) return amounts[i]!;
      if (prices[i]! * sign > price * sign) return 0;
    }
    return count === prices.length ? null : 0;
  }

  /** Handles trades that are missing or were reported late: the fills of the current orders cannot be measured. */
  #losesTrades(): void {
    this.#streamedAt = -Infinity;
    for (const life of this.#lives.values()) life.isMeasured = false;
  }

  #publicTrade({ at, price, amount, side }: Extract<EngineEvent, { kind: 'public trade' }>): void {
    // Trades that are reported late, after an outage, do not show what the current queues traded.
    if (amount === undefined || side === undefined || this.#areTradesLate) return this.#losesTrades();
    const isSameTaker = this.#lastTrade?.taker === side && at - this.#lastTrade.at <= 200;
    this.#lastTrade = { at, taker: side };
    const resting: Side = side === 'buy' ? 'sell' : 'buy';
    const isAtOwn = [...this.#lives.values()].some(life => life.side === resting && life.price === price);
    const best = side === 'buy' ? this.#ask : this.#bid;
    if (!isSameTaker && !isAtOwn && best > 0 && this.#isStreamed(at))
      this.#observe('tradesOffBook', price === best ? 0 : 1, at);
    this.#push({ at, kind: 'trade', taker: side, price, lots: amount });
  }

  #place({ id, side, price, amount, takes }: PlaceCommand, at: Millis): void {
    if (takes === true) {
      const { bids, asks, bidPrices, bidAmounts, askPrices, askAmounts } = this.#depth;
      const [count, prices, lots] = side === 'sell' ? [bids, bidPrices, bidAmounts] : [asks, askPrices, askAmounts];
      const levels = Array.from({ length: count }, (_, i) => [prices[i]!, lots[i]!] as const);
      this.#takers.set(id, {
        ...{ id, side, at, levels, mark: this.#midOr(price), lots: 0, paid: money(0n), fee: money(0n) },
      });
      return;
    }
    if (this.#lives.size >= LIVES_MAX) return;
    const scenario = (fills: ExpectedFills): ScenarioOrder => ({ fills, state: 'coming', order: null });
    const life: OrderLife = {
      ...{ id, side, price, lots: amount, decidedAt: at, answeredAt: null, cancelDecidedAt: null, canceled: null },
      ...{
        endedAt: null,
        isFilled: false,
        isRejected: false,
        isUnknown: false,
        isTimed: false,
        firstFilledAt: null,
        filled: 0,
        trades: 0,
        traded: 0,
      },
      ...{ paid: money(0n), fee: money(0n), feeExpected: money(0n), shown: this.#shown(side, price) },
      isMeasured: this.#isStreamed(at),
      modelled: scenario(this.#modelled),
      measured: scenario(this.#measured),
    };
    this.#lives.set(id, life);
    this.#memory.counts.orders++;
  }

  #cancelDecided(id: string, at: Millis): void {
    const life = this.#lives.get(id);
    if (life !== undefined) life.cancelDecidedAt ??= at;
  }

  /** Compares the exchange's time of an order with the bot's clock, once. */
  #orderReport({ oid, originId, createdAt }: OrderReport, at: Millis): void {
    const life = (originId === undefined ? undefined : this.#lives.get(originId)) ?? this.#byOid.get(oid);
    if (life !== undefined) this.#byOid.set(oid, life);
    if (life === undefined || life.isTimed || life.answeredAt === null) return;
    life.isTimed = true;
    const memory = this.#memory;
    memory.wholeSeconds &&= createdAt % 1_000 === 0;
    const arrived = (life.decidedAt + life.answeredAt) / 2;
    const apart = createdAt - arrived + (memory.wholeSeconds ? 500 : 0);
    // An order can reach the exchange at any time between decision and answer.
    const uncertaintyMs = (life.answeredAt - life.decidedAt) / 2;
    this.#observe('clock', Math.sign(apart) * Math.max(0, Math.abs(apart) - uncertaintyMs), at);
  }

  /** Ends orders that a complete list no longer has, or never had. */
  #absent({ at, startedAt, orders }: Extract<EngineEvent, { kind: 'open orders' }>): void {
    const listed = new Set(orders.flatMap(({ oid, originId }) => [this.#byOid.get(oid)?.id, originId]));
    for (const life of this.#lives.values()) {
      // A placement with an unknown outcome can still be executed later.
      const since = life.answeredAt === null ? Infinity : life.answeredAt + (life.isUnknown ? UNKNOWN_MS : 0);
      if (life.endedAt === null && since < startedAt && !listed.has(life.id)) life.endedAt = at;
    }
  }

  #ownTrade(trade: OwnTrade, at: Millis): void {
    const { instrument } = this.#options;
    if (trade.book !== instrument.symbol || this.#tids.has(trade.tid)) return;
    // Reads overlap, so that a trade can be in several events.
    this.#tids.add(trade.tid);
    if (this.#tids.size > TIDS_MAX) this.#tids.delete(this.#tids.values().next().value!);
    const taker = trade.originId === undefined ? undefined : this.#takers.get(trade.originId);
    const life =
      (trade.originId === undefined ? undefined : this.#lives.get(trade.originId)) ?? this.#byOid.get(trade.oid);
    const owner = life ?? taker;
    if (owner === undefined) {
      this.#memory.counts.earlier++;
      return;
    }
    const [paid, lots] = [moneyOf(trade.minor), amountFloor(instrument, trade.major)];
    const inQuote = trade.feeCurrency === instrument.minor;
    const isKnown = inQuote || trade.feeCurrency === instrument.major;
    const rate = trade.maker ? this.#makerRate : this.#takerRate;
    const expectedRate = life === undefined ? rate : this.#makerRate;
    const charged = moneyOf(trade.feeAmount);
    const base = inQuote ? paid : moneyOf(trade.major);
    const due = money((base * expectedRate) / 100_000_000n);
    const apart = charged - due;
    const isRounding = apart <= ROUNDING && -apart <= ROUNDING;
    const inMinor = (sum: Money): Money => (inQuote ? sum : multiplyMoneyFloor(sum, moneyOf(trade.price)));
    const expected = isKnown ? inMinor(due) : money(0n);
    const fee = isKnown ? inMinor(charged) : money(0n);
    if (isKnown && base > 0n) this.#observe('fees', isRounding ? 0 : (10_000 * Number(apart)) / Number(base), at);
    this.#memory.counts.fills++;
    if (life === undefined) {
      if (taker === undefined) return;
      taker.lots += lots;
      taker.paid = money(taker.paid + paid);
      taker.fee = money(taker.fee + fee);
      return;
    }
    const executedAt = trade.createdAt + (this.#memory.wholeSeconds ? 500 : 0);
    life.firstFilledAt ??= Math.min(Math.max(executedAt, life.decidedAt), at);
    life.filled += lots;
    life.trades++;
    life.paid = money(life.paid + paid);
    life.fee = money(life.fee + fee);
    life.feeExpected = money(life.feeExpected + expected);
    if (life.filled >= life.lots) {
      life.isFilled = true;
      life.endedAt ??= at;
    }
  }

  #conversion({ at, phase, conversion: { id, give, get } }: Extract<EngineEvent, { kind: 'conversion' }>): void {
    const { major, minor } = this.#instrument;
    const mark = this.#midOr(0);
    const price = money(BigInt(mark) * this.#instrument.tickMoney);
    const valueOf = (currency: string, sum: Money): Money | null =>
      currency === minor ? sum : currency === major && mark > 0 ? multiplyMoneyFloor(sum, price) : null;
    const [given, got] = [valueOf(give.currency, give.amount), valueOf(get.currency, get.amount)];
    if (phase === 'in flight' && given !== null && got !== null && this.#conversions.size < LIVES_MAX)
      this.#conversions.set(id, { at, mark, value: money(got - given), size: given });
    if (phase === 'failed') this.#conversions.delete(id);
    const pending = this.#conversions.get(id);
    if (phase !== 'done' || pending === undefined) return;
    this.#conversions.delete(id);
    // Both values use the mid price at the start, so that only the executed amounts count.
    const then = money(BigInt(pending.mark) * this.#instrument.tickMoney);
    const value = ({ currency, amount }: typeof give): Money =>
      currency === minor ? amount : multiplyMoneyFloor(amount, then);
    this.#hedged(id, at, pending.value, money(value(get) - value(give)), pending.size);
  }

  /**
   * Books the expected and actual result of a hedge. `size`: value of the hedge, to which the detector relates the
   * difference.
   */
  #hedged(id: string, at: Millis, expected: Money, actual: Money, size: Money): void {
    this.#memory.counts.hedges++;
    if (size > 0n) this.#observe('hedges', (10_000 * Number(actual - expected)) / Number(size), at);
    this.#add(id, at, expected, actual, { hedge: money(actual - expected) });
  }

  #settleTaker(taker: TakerLife): void {
    this.#takers.delete(taker.id);
    if (!(taker.lots > 0)) return;
    const { tickLotMoney } = this.#instrument;
    let left = taker.lots;
    let swept = 0n;
    let last = taker.levels[0]?.[0] ?? 0;
    for (const [price, lots] of taker.levels) {
      const part = Math.min(left, lots);
      swept += BigInt(price) * BigInt(part);
      left -= part;
      last = price;
      if (left === 0) break;
    }
    swept += BigInt(last) * BigInt(left);
    const expectedPaid = money(swept * tickLotMoney);
    const held = money(BigInt(taker.mark) * BigInt(taker.lots) * tickLotMoney);
    const sign = taker.side === 'buy' ? 1n : -1n;
    const expectedFee = money((expectedPaid * this.#takerRate) / 100_000_000n);
    const expected = money(sign * (held - expectedPaid) - expectedFee);
    const actual = money(sign * (held - taker.paid) - taker.fee);
    this.#hedged(taker.id, taker.at, expected, actual, held);
  }

  /** Returns the mid price of the last book in ticks, rounded down; `fallback` if there is none. */
  #midOr(fallback: number): number {
    return this.#bid > 0 && this.#ask > 0 ? Math.floor((this.#bid + this.#ask) / 2) : fallback;
  }

  #push(row: MarketRow): void {
    this.#market.push(row);
    if (this.#market.length - this.#nextRow > MARKET_MAX) this.#advance(this.#market[this.#nextRow]!.at);
  }

  /** Processes the market up to a time, and settles the orders that ended long enough before. */
  #advance(until: Millis): void {
    for (; this.#nextRow < this.#market.length && this.#market[this.#nextRow]!.at <= until; this.#nextRow++)
      this.#row(this.#market[this.#nextRow]!);
    if (this.#nextRow > 4_096) {
      this.#market = this.#market.slice(this.#nextRow);
      this.#nextRow = 0;
    }
    if (until === Infinity) {
      this.#requests(this.#at!);
      return;
    }
    this.#requests(until);
    for (const life of this.#lives.values()) {
      if (life.endedAt !== null && until >= life.endedAt + (life.isFilled ? GRACE_MS : 0) + SETTLE_MS)
        this.#settle(life);
    }
    for (const taker of this.#takers.values()) if (until >= taker.at + SETTLE_MS) this.#settleTaker(taker);
  }

  #row(row: MarketRow): void {
    this.#requests(row.at);
    if (row.kind === 'trade') {
      const { taker, price, lots, at } = row;
      for (const life of this.#lives.values()) {
        const isReached =
          life.side === 'buy' ? taker === 'sell' && price <= life.price : taker === 'buy' && price >= life.price;
        if (isReached && life.decidedAt <= at) life.traded += lots;
      }
      this.#modelled.trade(taker, price, lots, at);
      this.#measured.trade(taker, price, lots, at);
      this.#options.observer?.traded(taker, price, lots, at);
      return;
    }
    this.#best = { bid: row.bestBid, ask: row.bestAsk };
    // A polled book includes the bot's own orders, so its levels are not used.
    if (row.isPolled) return;
    for (const [life, shown] of row.levels) {
      life.shown = shown;
      for (const { fills, order, state } of [life.modelled, life.measured])
        if (order !== null && state === 'resting') fills.level(order, shown);
      this.#options.observer?.levelShown(life, shown);
    }
  }

  /** Applies the arrivals of placements and cancels in both scenarios up to a time. */
  #requests(until: Millis): void {
    this.#processed = Math.max(this.#processed, until);
    for (const life of this.#lives.values()) {
      this.#applyRequests(life, life.modelled, this.#modelledTimes(life), until);
      this.#applyRequests(life, life.measured, measuredTimes(life, this.#modelledTimes(life)), until);
    }
  }

  #applyRequests(life: OrderLife, one: ScenarioOrder, times: ArrivalTimes, until: Millis): void {
    if (one.state === 'coming' && times.leaves <= times.arrives && times.leaves <= until) one.state = 'gone';
    if (one.state === 'coming' && times.arrives <= until) {
      const { side, price, lots } = life;
      const crosses = side === 'buy' ? this.#best.ask > 0 && price >= this.#best.ask : price <= this.#best.bid;
      if (life.isRejected || crosses) one.state = 'gone';
      else {
        one.order = one.fills.join(side, price, lots, times.arrives, life.shown);
        one.state = 'resting';
        if (one === life.measured) this.#options.observer?.rested(life, times.arrives);
      }
    }
    if (one.state === 'resting' && times.leaves <= until) {
      one.fills.leave(one.order!);
      one.state = 'gone';
      if (one === life.measured) this.#options.observer?.left(life);
    }
  }

  #modelledTimes(life: OrderLife): ArrivalTimes {
    const { placements, cancels: cancel } = this.#usual;
    const own = life.answeredAt === null ? 0 : life.answeredAt - life.decidedAt;
    const arrives = life.decidedAt + (placements ?? own) / 2;
    if (life.isFilled) return { arrives, leaves: life.endedAt! + GRACE_MS };
    if (life.cancelDecidedAt === null) return { arrives, leaves: life.endedAt ?? Infinity };
    if (cancel === null) return { arrives, leaves: Math.max(measuredLeave(life), arrives) };
    return { arrives, leaves: Math.max(life.cancelDecidedAt + cancel / 2, arrives) };
  }

  #settle(life: OrderLife): void {
    for (const one of [life.modelled, life.measured]) if (one.state === 'resting') one.fills.leave(one.order!);
    this.#options.observer?.settled(life, measuredTimes(life, this.#modelledTimes(life)).leaves);
    this.#lives.delete(life.id);
    for (const [oid, other] of this.#byOid) if (other === life) this.#byOid.delete(oid);
    const at = life.endedAt ?? this.#processed;
    const filledOf = (order: ModelOrder | null) => (order === null ? 0 : life.lots - order.left);
    const actual = life.filled;
    let [q0, q1] = [filledOf(life.modelled.order), filledOf(life.measured.order)];
    let q2 = Math.min(actual, Math.max(life.traded, q1));
    if (!life.isMeasured) {
      this.#memory.counts.unmeasured++;
      [q0, q1, q2] = [actual, actual, actual];
    } else {
      this.#memory.lots.actual += actual;
      this.#memory.lots.expected += q0;
      if (actual > 0) this.#observe('missingTrades', (actual - q2) / actual, at);
      this.#fills(actual, q1, at);
    }
    if (actual === 0 && q0 === 0 && q1 === 0) return;
    const { tickLotMoney } = this.#instrument;
    const mark =
      this.#best.bid > 0 && this.#best.ask > 0 ? Math.floor((this.#best.bid + this.#best.ask) / 2) : life.price;
    const sign = life.side === 'buy' ? 1n : -1n;
    const worth = (lots: number): bigint => BigInt(mark) * BigInt(lots) * tickLotMoney;
    const cost = (lots: number): bigint => BigInt(life.price) * BigInt(lots) * tickLotMoney;
    const valued = (lots: number): bigint =>
      sign * (worth(lots) - cost(lots)) - (cost(lots) * this.#makerRate) / 100_000_000n;
    const v3 = sign * (worth(actual) - cost(actual)) - life.feeExpected;
    const v4 = sign * (worth(actual) - cost(actual)) - life.fee;
    const v5 = sign * (worth(actual) - life.paid) - life.fee;
    const [v0, v1, v2] = [valued(q0), valued(q1), valued(q2)];
    const rest = v5 - v4;
    const isRounding = rest <= ROUNDING * BigInt(life.trades) && -rest <= ROUNDING * BigInt(life.trades);
    if (actual > 0) this.#observe('rest', isRounding ? 0 : (10_000 * Number(rest)) / Number(cost(actual)), at);
    this.#add(life.id, at, money(v0), money(v5), {
      latency: money(v1 - v0),
      fill: money(v2 - v1),
      book: money(v3 - v2),
      fee: money(v4 - v3),
      unexplained: money(rest),
    });
  }

  /** Adds a settled order to the observation of orders that end within `TOGETHER_MS`. */
  #fills(actual: number, expected: number, at: Millis): void {
    if (this.#jointObservation !== null && at > this.#jointObservation.until) this.#flushTogether();
    this.#jointObservation ??= { until: at + TOGETHER_MS, actual: 0, expected: 0 };
    this.#jointObservation.actual += actual;
    this.#jointObservation.expected += expected;
  }

  #flushTogether(): void {
    if (this.#jointObservation === null) return;
    const { actual, expected, until } = this.#jointObservation;
    this.#jointObservation = null;
    const most = Math.max(actual, expected);
    if (most > 0) this.#observe('fills', (actual - expected) / most, until);
  }

  #add(id: string, at: Millis, expected: Money, actual: Money, parts: Partial<Record<GapPart, Money>>): void {
    const { memory } = this.#options;
    const from = Math.floor(at / HOUR_MS) * HOUR_MS;
    let hour = memory.hours.findLast(one => one.from === from);
    if (hour === undefined) {
      hour = { from, ...newSums() };
      memory.hours = [...memory.hours, hour].sort((a, b) => a.from - b.from).slice(-SHADOW_HOURS_MAX);
    }
    for (const sums of [memory.total, hour]) addTo(sums, expected, actual, parts);
    const gap = actual - expected;
    if (gap === 0n) return;
    const own = newSums();
    addTo(own, expected, actual, parts);
    const size = ({ gap: text }: { readonly gap: string }) => Math.abs(Number(text));
    memory.largest = [...memory.largest, { id, at, gap: gap.toString(), parts: own.parts }]
      .sort((a, b) => size(b) - size(a))
      .slice(0, LARGEST_MAX);
  }

  #request(kind: 'placements' | 'cancels', took: Millis, at: Millis): void {
    this.#memory.counts.requests++;
    const { times } = this.#memory.latency[kind];
    if (times.length < LATENCY_REQUESTS) {
      times.push(took);
      this.#usual = { ...this.#usual, [kind]: medianOf(times) };
    }
    this.#observe(kind, took, at);
  }

  #observe(name: DetectorName, value: number, at: Millis): void {
    const detection = DETECTORS[name];
    const state = this.#memory.detectors[name];
    if (!addObservation(state, detection, value)) return;
    const direction = state.above >= state.below ? 'above' : 'below';
    const normal = 'learned' in detection ? state.mean : detection.mean;
    this.#raise(
      detection.cause,
      name,
      at,
      `${name}: stays ${direction} its normal value of ${shortNumber(normal)} ${detection.unit}; last ${shortNumber(value)} ${detection.unit}`,
    );
  }

  #raise(cause: DivergenceCause, detector: ShadowAlarm['detector'], at: Millis, text: string): void {
    const { memory, run, onAlarm } = this.#options;
    // The alarm of a basic cause can come after those of its consequences, so a quarter of the height is enough.
    const suspected = causesAbove(memory, ALARM_THRESHOLD / 4);
    const after = suspected.filter(other => CAUSES_IN_ORDER.indexOf(other) < CAUSES_IN_ORDER.indexOf(cause));
    const alarm = { run, at, cause, detector, text, after };
    memory.alarms = [...memory.alarms, alarm].slice(-ALARMS_MAX);
    memory.alarmCounts[cause] = (memory.alarmCounts[cause] ?? 0) + 1;
    onAlarm?.(alarm);
  }
}

/** Returns the raised causes, the most basic first. */
export const raisedCauses = (memory: ShadowMemory): readonly DivergenceCause[] => causesAbove(memory, Infinity);

/** Returns the causes that are raised or have a detector of at least this height, the most basic first. */
function causesAbove(memory: ShadowMemory, height: number): readonly DivergenceCause[] {
  const found = new Set<DivergenceCause>(memory.decision === null ? [] : ['decision']);
  for (const name of DETECTOR_NAMES) {
    const { isRaised, above, below } = memory.detectors[name];
    if (isRaised || Math.max(above, below) >= height) found.add(DETECTORS[name].cause);
  }
  return CAUSES_IN_ORDER.filter(cause => found.has(cause));
}

/** Times at which a placement and its end reach the exchange. */
type ArrivalTimes = { readonly arrives: Millis; readonly leaves: Millis };

/** Returns the times of the actual requests; an unanswered placement has its modeled time. */
function measuredTimes(life: OrderLife, modelled: ArrivalTimes): ArrivalTimes {
  const arrives = life.answeredAt === null ? modelled.arrives : (life.decidedAt + life.answeredAt) / 2;
  return { arrives, leaves: Math.max(measuredLeave(life), arrives) };
}

function measuredLeave({ canceled, endedAt, isFilled }: OrderLife): Millis {
  if (isFilled) return endedAt! + GRACE_MS;
  return canceled === null ? (endedAt ?? Infinity) : (canceled.startedAt + canceled.at) / 2;
}

function medianOf(times: readonly number[]): number | null {
  if (times.length < LATENCY_REQUESTS) return null;
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

function addTo(sums: GapSums, expected: Money, actual: Money, parts: Partial<Record<GapPart, Money>>): void {
  const plus = (text: string, sum: bigint): string => (BigInt(text) + sum).toString();
  sums.expected = plus(sums.expected, expected);
  sums.actual = plus(sums.actual, actual);
  for (const part of GAP_PARTS) sums.parts[part] = plus(sums.parts[part], parts[part] ?? 0n);
}

const shortNumber = (x: number): string => String(Number(x.toPrecision(3)));
