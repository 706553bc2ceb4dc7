/** Book of the embedded exchange: runs orders through the matching engine and publishes the results. */
import type { MarketFeed, AccountOrder } from '../markets/market.ts';
import {
  instrumentOf,
  lotOf,
  money,
  moneyOf,
  opposite,
  textOfMoney,
  UNITS_MAX,
  type Amount,
  type BookRules,
  type DecimalText,
  type Clock,
  type Instrument,
  type Millis,
  type Money,
  type Price,
  type Side,
  type Value,
} from '../../core/index.ts';
import type { FeeSchedule } from './books.ts';
import { COMMANDS_MAX, EngineQueue } from '../matching/engineQueue.ts';
import {
  SYNTHETIC_OWNER,
  MatchingBook,
  ORDERS_MAX,
  type ExecutionSink,
  type EngineTimeInForce,
} from '../matching/matching.ts';
import { resolved, type Modification } from './modification.ts';
import { derivedOid } from '../wire/oid.ts';
import { isActive, isWaiting, stopLock, unfilled, type VenueOrder } from './order.ts';
import type { Switches } from '../switches/switches.ts';
import { TradeHistory } from './tradeHistory.ts';

/** Change of one order in a book event, as the diff-orders channel publishes it (public-facts 12.5). */
export type BookChange = {
  readonly oid: string;
  readonly side: Side;
  readonly price: Price;
  /** Open amount in lots; for a canceled order, the amount that was open at its cancellation. */
  readonly left: Amount;
  readonly status: 'open' | 'cancelled' | 'completed';
  readonly createdAt: Millis;
};

export type BookTrade = {
  readonly tid: number;
  readonly ordinal: number;
  readonly run: number;
  readonly price: Price;
  readonly amount: Amount;
  readonly makerOid: string;
  readonly takerOid: string;
  readonly takerSide: Side;
};

/** Change of a book by the matching engine: one step of the book's sequence. */
export type BookEvent = {
  readonly book: string;
  readonly instrument: Instrument;
  readonly at: Millis;
  readonly sequence: number;
  readonly changes: readonly BookChange[];
  readonly trades: readonly BookTrade[];
};

/** Execution in which at least one of the two orders belongs to an account. */
export type Execution = {
  readonly tid: number;
  /** Number of the trade in its book, from 1, without gaps. */
  readonly ordinal: number;
  readonly at: Millis;
  readonly price: Price;
  readonly amount: Amount;
  readonly makerSide: Side;
  /** Maker order; `null` if it is a synthetic order, which belongs to no account. */
  readonly maker: VenueOrder | null;
  readonly taker: VenueOrder | null;
};

export type SyntheticFillListener = (id: number, side: Side, price: Price, amount: Amount, maker: boolean) => void;

/** Data and functions of the venue that each of its books uses. */
export interface BookHost {
  readonly clock: Clock;
  readonly switches: Switches;
  readonly listening: boolean;
  nextTid(): number;
  engineDelay(): Millis;
  settle(book: VenueBook, execution: Execution): void;
  finish(order: VenueOrder, status: 'completed' | 'cancelled'): void;
  /** Changes the amount that is locked for an order. Returns false if the account's available balance is too small. */
  relock(order: VenueOrder, lock: Money): boolean;
  releaseReserve(order: VenueOrder): void;
  emit(event: BookEvent): void;
  /** Called after each command of an account. */
  executed(): void;
}

/** Command of an account that waits for the matching engine. `replace`: `order` enters in the place of `old`. */
export type BookCommand =
  | { readonly kind: 'enter' | 'remove'; readonly order: VenueOrder }
  | { readonly kind: 'replace'; readonly order: VenueOrder; readonly old: VenueOrder }
  | { readonly kind: 'modify'; readonly order: VenueOrder; readonly change: Modification };

/** Numbers of a book that continue after a restart of the exchange. */
export type BookNumbers = { readonly ordinal: number; readonly run: number; readonly last: Price | 0 };

/** Maximum number of untriggered stop orders per book. */
export const STOPS_MAX = 10_000;
const TIME_IN_FORCE: Readonly<Record<VenueOrder['timeInForce'], EngineTimeInForce>> = {
  goodtillcancelled: 'GTC',
  immediateorcancel: 'IOC',
  fillorkill: 'FOK',
  postonly: 'postOnly',
};
const RATE_ONE = 100_000_000n;

export class VenueBook implements ExecutionSink {
  /**
   * Current rules. After a change of the rules, the matching engine still counts in the ticks and lots with which the
   * book was opened.
   */
  rules: BookRules;
  instrument: Instrument;
  fees: FeeSchedule;
  readonly engine: MatchingBook;
  readonly history = new TradeHistory();
  readonly queue: EngineQueue<BookCommand>;
  readonly syntheticFillListeners: SyntheticFillListener[] = [];
  readonly cancels: (() => void)[] = [];
  readonly feed: MarketFeed = { delayMs: 0, silentUntil: -Infinity, isWithheld: false };
  /** Time of the last change of the book. Before the first change, the time at which the book was opened. */
  changedAt: Millis;
  readonly #host: BookHost;
  readonly #salt: number;
  /** Resting account orders by engine id. */
  readonly #resting = new Map<number, VenueOrder>();
  #stops: VenueOrder[] = [];
  #runningStops = false;
  // Fields of the operation in progress.
  #matching = false;
  #taker: VenueOrder | null = null;
  #ordinal = 0;
  #run = 0;
  /** Price of the last trade of the operation; 0 before its first trade. */
  #runPrice: Price | 0 = 0;
  #takerSide: Side = 'buy';
  #takerValue = 0n;
  #sequenceBefore = 0;
  #changes: BookChange[] = [];
  #trades: BookTrade[] = [];

  /** Opens a book. `lot` is the unit of amounts; if it is `null`, the unit follows from the rules. */
  constructor(
    host: BookHost,
    rules: BookRules,
    fees: FeeSchedule,
    salt: number,
    firstSequence: number,
    lot: DecimalText | null = null,
  ) {
    this.#host = host;
    this.rules = rules;
    this.instrument = instrumentOf(rules, lot ?? lotOf(rules));
    this.fees = fees;
    this.#salt = salt;
    this.engine = new MatchingBook(this, firstSequence);
    this.changedAt = host.clock.now();
    this.queue = new EngineQueue(host.clock, command => {
      this.#executeCommand(command, order => this.enter(order));
      host.executed();
    });
  }

  /** Tick for the prices of new orders, in the quote currency: a multiple of the matching engine's tick. */
  get orderTick(): Money {
    return moneyOf(this.rules.tickSize);
  }

  /**
   * Changes rules and fees, effective immediately; resting orders stay. Throws a RangeError if the rules are invalid,
   * the tick is not a multiple of the opening tick, or the maximum amount has too many lots to count exactly.
   */
  change(rules: BookRules, fees: FeeSchedule): void {
    instrumentOf(rules);
    const { tick, tickMoney, lot, lotMoney } = this.instrument;
    if (moneyOf(rules.tickSize) % tickMoney !== 0n)
      throw new RangeError(
        `tick_size: expected a multiple of ${tick}, the original tick size of ${rules.book}, found ${rules.tickSize}`,
      );
    const largest = money(BigInt(UNITS_MAX) * lotMoney);
    if (moneyOf(rules.maximumAmount) > largest)
      throw new RangeError(
        `maximum_amount: expected at most ${textOfMoney(largest)}, the limit for the lot size ${lot} of ${rules.book}, found ${rules.maximumAmount}; start the embedded exchange with this maximum_amount instead`,
      );
    this.instrument = instrumentOf({ ...rules, tickSize: tick }, lot);
    this.rules = rules;
    this.fees = fees;
  }

  get stops(): readonly VenueOrder[] {
    return this.#stops;
  }

  /** Whether the book cannot accept more orders. */
  get full(): boolean {
    return this.#stops.length >= STOPS_MAX || this.engine.size >= ORDERS_MAX - COMMANDS_MAX;
  }

  /** Returns the oid of an order in the matching engine. */
  oidOf(id: number, owner: number): string {
    return owner === SYNTHETIC_OWNER ? derivedOid(this.#salt, id) : this.#resting.get(id)!.oid;
  }

  /** Sends a command to the matching engine after the engine delay. */
  submit(command: BookCommand): void {
    this.queue.submit(this.#host.engineDelay(), command);
  }

  /** Numbers to store, so that `resume` can continue them. */
  get numbers(): BookNumbers {
    return { ordinal: this.#ordinal, run: this.#run, last: this.history.last };
  }

  /** Continues the numbers of an earlier process. */
  resume({ ordinal, run, last }: BookNumbers): void {
    [this.#ordinal, this.#run, this.history.last] = [ordinal, run, last];
  }

  /**
   * Enters an order of an earlier process: at the end of the queue of its price, or among the stop orders. Never
   * matches.
   */
  restore(order: VenueOrder): void {
    if (isWaiting(order)) {
      this.#stops.push(order);
      return;
    }
    const { side, price, account, createdAt } = order;
    if (this.engine.crosses(side, price))
      throw new Error(`book ${this.rules.book}: the stored order ${order.oid} crosses another stored order`);
    order.engineId = this.engine.place(side, price, unfilled(order), 'GTC', account.owner, createdAt);
    this.#resting.set(order.engineId, order);
  }

  /** Enters a new order: matches it, or stores a stop order until a trade reaches its stop price. */
  enter(order: VenueOrder): void {
    if (!isActive(order)) return;
    if (!isWaiting(order)) this.#execute(order);
    else this.#stops.push(order);
    this.#runStops();
  }

  /**
   * Executes a command that was due while the market was unknown, without fills: a limit order rests, and an order that
   * would take liquidity is canceled. If `isTaker`, the order crossed the last known book, so it is always canceled.
   */
  executeUnseen(command: BookCommand, isTaker = false): void {
    this.#executeCommand(command, order => {
      if (!isActive(order)) return;
      const { type, timeInForce, side, price } = order;
      const rests = type === 'limit' && (timeInForce === 'goodtillcancelled' || timeInForce === 'postonly');
      if (isWaiting(order)) this.#stops.push(order);
      else if (!rests || isTaker || this.engine.crosses(side, price)) this.#host.finish(order, 'cancelled');
      else {
        order.status = 'open';
        this.restore(order);
      }
    });
  }

  /**
   * Removes an order that rests in the book, or a stop order that is not triggered. Does nothing if the order has
   * finished.
   */
  remove(order: VenueOrder): void {
    if (!isActive(order)) return;
    if (isWaiting(order)) this.#stops = this.#stops.filter(o => o !== order);
    else if (order.engineId > 0) {
      this.#begin(null, order.side);
      const left = this.engine.cancel(order.engineId);
      this.#resting.delete(order.engineId);
      this.#note(order, left, 'cancelled');
      this.#commit();
    }
    this.#host.finish(order, 'cancelled');
    for (const call of this.cancels) call();
  }

  /**
   * Modifies an order in place (v4). If the modification fails, the order stays unchanged, or is canceled if
   * `change.cancel` is set.
   */
  modify(order: VenueOrder, change: Modification): void {
    this.#host.releaseReserve(order);
    if (!isActive(order)) return;
    if (!this.#modified(order, change) && change.cancel) this.remove(order);
    this.#runStops();
  }

  /** Places a simulator order, as `Marketplace.place` documents. */
  placeSynthetic(
    side: Side,
    price: Price,
    amount: Amount,
    timeInForce: EngineTimeInForce,
  ): { id: number; traded: Amount; rested: Amount } {
    if (this.#matching)
      throw new Error(
        `book ${this.rules.book}: a market simulator placed an order while another order was being matched`,
      );
    const at = this.#host.clock.now();
    this.#begin(null, side);
    const id = this.engine.place(side, price, amount, timeInForce, SYNTHETIC_OWNER, at);
    const { traded, rested } = this.engine;
    if (rested > 0) this.#notifySyntheticFill(id, { side, price, at }, rested, 'open');
    this.#commit();
    if (traded > 0) this.#runStops();
    // The stop orders that this order triggered may already have matched part of its resting amount.
    return { id, traded, rested: rested > 0 ? this.engine.leftOf(id) : rested };
  }

  cancelSynthetic(id: number): Amount {
    const found = this.#host.listening ? this.engine.find(id) : undefined;
    this.#begin(null, 'buy');
    const left = this.engine.cancel(id);
    if (found) this.#notifySyntheticFill(id, found, left, 'cancelled');
    this.#commit();
    return left;
  }

  reduceSynthetic(id: number, by: Amount): Amount {
    const found = this.#host.listening ? this.engine.find(id) : undefined;
    const before = this.engine.leftOf(id);
    this.#begin(null, 'buy');
    const left = this.engine.reduce(id, by);
    if (found) this.#notifySyntheticFill(id, found, left > 0 ? left : before, left > 0 ? 'open' : 'cancelled');
    this.#commit();
    return left;
  }

  /** Enlarges a simulator order, as `FollowedPlace.enlarge` documents. */
  enlargeSynthetic(id: number, by: Amount): void {
    const found = this.#host.listening ? this.engine.find(id) : undefined;
    this.#begin(null, 'buy');
    const left = this.engine.enlarge(id, by);
    if (found) this.#notifySyntheticFill(id, found, left, 'open');
    this.#commit();
  }

  /** Fills a resting order that the market simulator has chosen, as `FollowedPlace.hit` documents. */
  hit(id: number, amount: Amount): void {
    const found = this.engine.find(id);
    if (this.#matching || !found)
      throw new Error(
        `book ${this.rules.book}: cannot fill order ${id}, because the order is no longer in the book or another order is being matched`,
      );
    this.#begin(null, opposite(found.side));
    this.engine.hit(id, amount, this.#host.clock.now());
    this.#commit();
    this.#runStops();
  }

  /** Returns the resting account orders of a side, best price first, then oldest first. */
  accountOrders(side: Side): AccountOrder[] {
    const orders: AccountOrder[] = [];
    for (const [id, order] of this.#resting) {
      const found = order.side === side ? this.engine.find(id) : undefined;
      if (found) orders.push({ id, oid: order.oid, price: order.price, left: this.engine.leftOf(id), at: found.at });
    }
    return orders.sort((a, b) => (side === 'buy' ? b.price - a.price : a.price - b.price));
  }

  executed(
    makerId: number,
    makerOwner: number,
    takerId: number,
    _takerOwner: number,
    price: Price,
    amount: Amount,
    makerLeft: Amount,
    makerAt: Millis,
  ): void {
    const host = this.#host;
    const at = host.clock.now();
    const maker = makerOwner === SYNTHETIC_OWNER ? null : this.#resting.get(makerId)!;
    const taker = this.#taker;
    const makerSide = opposite(this.#takerSide);
    const tid = host.nextTid();
    const ordinal = ++this.#ordinal;
    if (price !== this.#runPrice) this.#run++;
    this.#runPrice = price;
    const run = this.#run;
    this.history.add({ tid, ordinal, run, at, price, amount, makerSide });
    if (taker) this.#takerValue += BigInt(price) * BigInt(amount);
    if (host.listening) {
      const makerOid = maker ? maker.oid : derivedOid(this.#salt, makerId);
      const takerOid = taker ? taker.oid : derivedOid(this.#salt, takerId);
      this.#trades.push({ tid, ordinal, run, price, amount, makerOid, takerOid, takerSide: this.#takerSide });
      this.#changes.push({
        oid: makerOid,
        side: makerSide,
        price,
        left: makerLeft,
        status: makerLeft > 0 ? 'open' : 'completed',
        createdAt: makerAt,
      });
    }
    if (maker || taker) host.settle(this, { tid, ordinal, at, price, amount, makerSide, maker, taker });
    if (maker) {
      if (makerLeft > 0) maker.status = 'partially filled';
      else {
        this.#resting.delete(makerId);
        host.finish(maker, 'completed');
      }
    }
    for (const call of this.syntheticFillListeners) {
      if (!maker) call(makerId, makerSide, price, amount, true);
      if (!taker) call(takerId, this.#takerSide, price, amount, false);
    }
  }

  prevented(makerId: number, _owner: number, left: Amount): void {
    const maker = this.#resting.get(makerId)!;
    this.#resting.delete(makerId);
    this.#note(maker, left, 'cancelled');
    this.#host.finish(maker, 'cancelled');
  }

  #executeCommand(command: BookCommand, enter: (order: VenueOrder) => void): void {
    const { kind, order } = command;
    switch (kind) {
      case 'enter':
        enter(order);
        break;
      case 'remove':
        this.remove(order);
        break;
      case 'replace': {
        const gone = !isActive(command.old);
        this.remove(command.old);
        if (gone && this.#host.switches.replaceRace === 'dropped') this.remove(order);
        else enter(order);
        break;
      }
      case 'modify':
        this.modify(order, command.change);
        break;
    }
  }

  #execute(order: VenueOrder): void {
    if (order.type === 'market') {
      this.#sweep(order);
      return;
    }
    if (order.fillMax === 0) {
      this.#host.finish(order, 'cancelled');
      return;
    }
    this.#begin(order, order.side);
    const timeInForce = TIME_IN_FORCE[order.timeInForce];
    const id = this.engine.place(
      order.side,
      order.price,
      Math.min(unfilled(order), order.fillMax ?? Infinity) as Amount,
      timeInForce,
      order.account.owner,
      order.createdAt,
    );
    this.#conclude(order, id);
    this.#commit();
  }

  /** Updates an order after its match: the order rests or is finished. */
  #conclude(order: VenueOrder, id: number): void {
    const rested = this.engine.rested;
    if (rested > 0) {
      order.engineId = id;
      order.status = order.filled > 0 ? 'partially filled' : 'open';
      this.#resting.set(id, order);
      this.#note(order, rested, 'open');
    } else {
      this.#host.finish(order, unfilled(order) === 0 ? 'completed' : 'cancelled');
    }
  }

  /** Executes a market order, bounded by its amount or value, its account's funds and its slippage tolerance. */
  #sweep(order: VenueOrder): void {
    const { instrument, account, side } = order;
    const held =
      order.locked + (side === 'buy' ? account.available(instrument.minor) : account.available(instrument.major));
    const funds = side === 'buy' ? held / instrument.tickLotMoney : held / instrument.lotMoney;
    const asked = order.minor === undefined ? null : order.minor / instrument.tickLotMoney;
    const budget = side === 'buy' ? (asked !== null && asked < funds ? asked : funds) : asked;
    const lots = asked === null ? BigInt(order.original) : BigInt(Number.MAX_SAFE_INTEGER);
    const amount = Number(side === 'sell' && funds < lots ? funds : lots) as Amount;
    const limit = this.#slippageLimit(order);
    let spent = false;
    if (amount > 0 && limit !== null) {
      this.#begin(order, side);
      this.engine.take(side, limit, amount, budget as Value | null, account.owner, order.createdAt);
      const best = side === 'buy' ? this.engine.bestAsk() : this.engine.bestBid();
      spent = asked !== null && best > 0 && asked - this.#takerValue < BigInt(best);
      this.#commit();
    }
    this.#host.finish(order, (asked === null ? order.filled >= order.original : spent) ? 'completed' : 'cancelled');
  }

  /** Returns the worst price that a market order may take, or null if there is no reference price. */
  #slippageLimit(order: VenueOrder): Price | null {
    const buy = order.side === 'buy';
    if (order.slippage === undefined) return (buy ? Number.MAX_SAFE_INTEGER : 1) as Price;
    const best = buy ? this.engine.bestAsk() : this.engine.bestBid();
    const reference =
      this.#host.switches.slippageReference === 'last' && this.history.last > 0 ? this.history.last : best;
    return reference > 0 ? slipped(reference as Price, order.side, order.slippage) : null;
  }

  #modified(order: VenueOrder, change: Modification): boolean {
    const target = resolved(order, change, this.#host.switches);
    if (target === null) return false;
    if (isWaiting(order)) {
      if (!this.#host.relock(order, target.lock)) return false;
      const { price, original, minor, stop } = target;
      Object.assign(order, { price, original, minor, stop, updatedAt: this.#host.clock.now() });
      return true;
    }
    if (order.engineId === 0) return false;
    if (order.timeInForce === 'postonly' && this.engine.crosses(order.side, target.price)) return false;
    const before = { price: order.price, left: this.engine.leftOf(order.engineId) };
    if (!this.#host.relock(order, target.lock)) return false;
    const left = (target.original - order.filled) as Amount;
    const keeps =
      this.#host.switches.modifyPriority === 'kept when reduced' && target.price === before.price && left < before.left;
    order.price = target.price;
    order.original = target.original;
    order.updatedAt = this.#host.clock.now();
    this.#begin(order, order.side);
    if (keeps) {
      this.engine.reduce(order.engineId, (before.left - left) as Amount);
      this.#note(order, left, 'open');
      this.#commit();
      return true;
    }
    const id = order.engineId;
    this.#resting.delete(id);
    order.engineId = 0;
    this.engine.modify(id, order.price, left, TIME_IN_FORCE[order.timeInForce], () => {
      this.#note(order, before.left, 'cancelled', before.price);
      this.#commit();
      this.#begin(order, order.side);
    });
    this.#conclude(order, id);
    this.#commit();
    return true;
  }

  /**
   * Triggers the stop orders that the last trade reached, oldest first. Each stop order is fully processed before the
   * next.
   */
  #runStops(): void {
    if (this.#runningStops || this.#stops.length === 0) return;
    this.#runningStops = true;
    for (let order = this.#reached(); order; order = this.#reached()) {
      this.#stops = this.#stops.filter(o => o !== order);
      order.triggeredAt = this.#host.clock.now();
      order.updatedAt = order.triggeredAt;
      const funded = this.#host.relock(
        order,
        order.locked > 0n ? order.locked : stopLock({ ...order, amount: order.original, stop: order.stop! }),
      );
      if (funded) this.#execute(order);
      else this.#host.finish(order, 'cancelled');
    }
    this.#runningStops = false;
  }

  #reached(): VenueOrder | undefined {
    const last = this.history.last;
    if (last === 0) return undefined;
    return this.#stops.find(o => (o.stopUp === true ? last >= o.stop! : last <= o.stop!));
  }

  #begin(taker: VenueOrder | null, side: Side): void {
    this.#sequenceBefore = this.engine.sequence;
    this.engine.selfTrade = this.#host.switches.selfTrade;
    this.#matching = true;
    this.#taker = taker;
    this.#takerSide = side;
    this.#takerValue = 0n;
    this.#runPrice = 0;
  }

  #commit(): void {
    this.#matching = false;
    this.#taker = null;
    if (this.engine.sequence !== this.#sequenceBefore) this.changedAt = this.#host.clock.now();
    if (this.#changes.length === 0) return;
    const { book } = this.rules;
    const event = {
      book,
      instrument: this.instrument,
      at: this.#host.clock.now(),
      sequence: this.engine.sequence,
      changes: this.#changes,
      trades: this.#trades,
    };
    this.#changes = [];
    this.#trades = [];
    this.#host.emit(event);
  }

  #note(order: VenueOrder, left: Amount, status: BookChange['status'], price = order.price): void {
    if (!this.#host.listening) return;
    this.#changes.push({ oid: order.oid, side: order.side, price, left, status, createdAt: order.createdAt });
  }

  #notifySyntheticFill(
    id: number,
    where: { side: Side; price: Price; at: Millis },
    left: Amount,
    status: BookChange['status'],
  ): void {
    if (!this.#host.listening) return;
    const oid = derivedOid(this.#salt, id);
    this.#changes.push({ oid, side: where.side, price: where.price, left, status, createdAt: where.at });
  }
}

/**
 * Returns the reference price, moved against the taker by the share `slippage` (in parts of 10^-8) and rounded toward
 * the reference price.
 */
export function slipped(reference: Price, side: Side, slippage: bigint): Price {
  const scaled = BigInt(reference) * (side === 'buy' ? RATE_ONE + slippage : RATE_ONE - slippage);
  const ticks = side === 'buy' ? scaled / RATE_ONE : (scaled + RATE_ONE - 1n) / RATE_ONE;
  return Math.max(1, Number(ticks)) as Price;
}
