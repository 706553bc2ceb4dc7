/** Exchange of a replay: the recorded book at exchange time, with the bot's resting orders, requests and answers. */
import type { Amount, Price, Side } from '../../src/core/index.ts';
import { ExchangeBook, type Resident } from './exchangeBook.ts';
import { Sweep, SWEEP_MS, type FillModel } from '../../src/fills/index.ts';
import { MESSAGE, MessageRing } from './messageRing.ts';
import type { Latency } from '../rows/latency.ts';
import { OwnSide, type OwnOrder } from './ownOrders.ts';
import { BUY, FLAG, SELL, type MarketRows, type SideIndex } from '../rows/rows.ts';
import type { TickBook } from '../rows/tickBook.ts';
import { NO_WATCHER, type Watcher } from './watcher.ts';

/** Time in ms during which the liquidity that the bot took stays unavailable. */
const TAKEN_MS = 60_000;

/**
 * Exchange of one replay. Orders are post-only limit orders, which are rejected if they would trade on arrival; taker
 * orders of hedges are the exception. Rows precede requests that arrive at the same time.
 */
export class SimulatedExchange implements Resident {
  readonly bids: OwnSide;
  readonly asks: OwnSide;
  readonly requests = new MessageRing();
  readonly answers = new MessageRing();
  readonly #there: ExchangeBook;
  readonly #model: FillModel;
  readonly #latency: Latency;
  readonly #watcher: Watcher;
  readonly #sweep = new Sweep(SWEEP_MS);
  readonly #ends: OwnOrder[] = [];
  readonly #onFill = (order: OwnOrder, lots: number): void => {
    const now = this.#now;
    const mid = this.#there.twiceMidBefore(now);
    this.#watcher.filled(order, lots, now, mid, order.place);
    this.answers.push(now + this.#latency.back(now), MESSAGE.filled, order, lots, now, mid);
    if (order.left === 0) this.#ends.push(order);
    // Stops the exchange, so that the bot receives the answer before it acts on later events.
    this.#there.stopBefore(this.dueAt);
  };
  /** Lots that the bot's taker orders consumed, by price index, with the time of the execution. */
  readonly #taken = new Map<number, { lots: number; at: number }>();
  #now = -Infinity;
  #eager = false;
  #aheadMs = 0;
  /** Time up to which the exchange advances. */
  #end = -Infinity;

  /** `market` contains rows that only this replay reads, or is a book that several replays share. */
  constructor(market: MarketRows | ExchangeBook, model: FillModel, latency: Latency, watcher = NO_WATCHER) {
    this.#there = market instanceof ExchangeBook ? market : new ExchangeBook(market);
    this.#model = model;
    this.#latency = latency;
    this.#watcher = watcher;
    this.bids = new OwnSide(BUY, this.#there.ownBidsAt);
    this.asks = new OwnSide(SELL, this.#there.ownAsksAt);
    this.#there.join(this);
  }

  get book(): TickBook {
    return this.#there.book;
  }

  /**
   * Maximum time, in ms, by which market rows were read beyond the arrival of a request. Above 0 only for cancels at
   * the time of a public trade (`pull.print`), because the bot receives the trade later than it happened.
   */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** Whether all rows are read and no request is in transit. */
  get isDone(): boolean {
    return this.#there.next >= this.#there.rows.length && this.requests.count === 0;
  }

  /** Twice the mid price of the recorded book, as a price index; 0 if a side is empty. */
  get twiceMid(): number {
    return this.#there.twiceMid;
  }

  /**
   * Price index of the public best bid, with the bot's orders and without executed liquidity; 0 if there is no bid.
   * `seenAsk` is the price index of the best ask, or the last index of the book if there is no ask.
   */
  get seenBid(): number {
    return Math.max(this.#bidLeft(), this.bids.best, 0);
  }

  get seenAsk(): number {
    return Math.min(this.#askLeft(), this.asks.best, this.book.last);
  }

  /**
   * Calls `visit` for each level that is not consumed, best first, until `visit` returns false. `total` is without the
   * bot's orders; `base` is the price at price index 0, in ticks.
   */
  eachLevel(base: number, side: Side, visit: (price: Price, total: Amount) => boolean): void {
    const { book } = this;
    if (side === 'buy') {
      for (let place = this.#bidLeft(); place > 0; place = book.bidBelow(place))
        if (!visit((place + base) as Price, book.bids[place]! as Amount)) return;
    } else {
      for (let place = this.#askLeft(); place < book.last; place = book.askAbove(place))
        if (!visit((place + base) as Price, book.asks[place]! as Amount)) return;
    }
  }

  /** Index of the next row to process. */
  get next(): number {
    return this.#there.next;
  }

  /** Adjusts the index of the next row after all rows were moved `places` indices to the front. */
  moved(places: number): void {
    this.#there.moved(places);
  }

  /** Processes all rows and requests up to and including `time`. */
  runTo(time: number): void {
    this.aim(time, false);
    this.run();
  }

  /** Advances like `runTo`, but stops at the first answer that arrives at the bot. Returns the time reached. */
  runToAnswer(time: number): number {
    this.aim(time, true);
    return this.run();
  }

  /** Advances to the target that `aim` has set; returns the time reached. */
  run(): number {
    const there = this.#there;
    do there.readTo(this.dueAt);
    while (!this.act());
    return this.#end;
  }

  /**
   * Sets the target of the following calls of `act`: `time` or, if `eager`, the arrival of the first answer at the bot
   * if that is earlier.
   */
  aim(time: number, eager: boolean): void {
    this.#eager = eager;
    this.#end = time;
  }

  /** Time of the next call of `act`. By then, the rows up to this time, and no later rows, must have been read. */
  get dueAt(): number {
    return Math.min(this.#reach(), this.requests.headAt, this.#watcher.dueAt);
  }

  /** Time that the exchange has reached, once `act` returns true. */
  get reached(): number {
    return this.#end;
  }

  /** Processes the event that is due; returns true at the target. */
  act(): boolean {
    const { requests } = this;
    const watcher = this.#watcher;
    const end = this.#reach();
    const look = watcher.dueAt;
    if (look <= end && look <= requests.headAt) watcher.look(look, this.book, this.bids.best, this.asks.best);
    else if (requests.headAt <= end) {
      this.#now = requests.headAt;
      this.#arrive();
    } else {
      this.#end = end;
      return true;
    }
    return false;
  }

  /** Returns the time to stop at: `#end`, or, for an eager caller, the arrival of the first answer if it is earlier. */
  #reach(): number {
    return this.#eager && this.answers.headAt < this.#end ? this.answers.headAt : this.#end;
  }

  traded(row: number, sell: boolean, place: number, lots: number): void {
    const there = this.#there;
    const reaches = sell ? place <= this.bids.best : place >= this.asks.best;
    if (reaches && !there.isPicture && there.rows.depth < Infinity) this.seen();
    this.#sweep.follow(there.taker);
    if (!reaches && !this.#sweep.isOpen) return;
    this.#now = there.rows.at[row]!;
    const own = sell ? this.bids : this.asks;
    this.#model.rule.traded(own.orders, sell ? -1 : 1, place, lots, this.#onFill, row, this.#sweep);
    this.#removeEnded();
  }

  levelChanged(row: number, side: SideIndex, place: number, before: number, lots: number): void {
    const own = side === BUY ? this.bids : this.asks;
    const other = side === BUY ? this.asks : this.bids;
    const { rows } = this.#there;
    for (const order of own.orders) {
      if (order.place !== place) continue;
      if ((rows.flags[row]! & FLAG.unseen) !== 0) order.unseen = true;
      else this.#model.queue.changed(order, before, lots, row);
    }
    if (lots > before && (side === BUY ? place >= other.best : place <= other.best)) {
      this.#now = rows.at[row]!;
      this.#model.rule.crossed(other.orders, side === BUY ? 1 : -1, place, lots - before, this.#onFill);
      this.#removeEnded();
    }
  }

  #removeEnded(): void {
    const ends = this.#ends;
    while (ends.length > 0) {
      const order = ends.pop()!;
      (order.side === BUY ? this.bids : this.asks).remove(order);
      this.#there.ownChanged();
    }
  }

  #arrive(): void {
    const { kind, order } = this.requests;
    const { readAt } = this.#there;
    this.#aheadMs = Math.max(this.#aheadMs, readAt - this.#now);
    this.requests.shift();
    const own = order.side === BUY ? this.bids : this.asks;
    if (kind === MESSAGE.cancel) {
      const there = order.resting;
      if (there) {
        own.remove(order);
        this.#there.ownChanged();
        this.#watcher.canceled(order, this.#now);
      }
      this.#answer(there ? MESSAGE.canceled : MESSAGE.missed, order, order.left);
      return;
    }
    if (kind === MESSAGE.take) {
      this.#take(order);
      return;
    }
    const crosses = order.side === BUY ? order.place >= this.#askLeft() : order.place <= this.#bidLeft();
    if (crosses) {
      this.#answer(MESSAGE.refused, order, 0);
      return;
    }
    order.joined = this.#there.next;
    order.restedAt = this.#now;
    this.#join(order);
    own.add(order);
    this.#there.ownChanged();
    this.#watcher.rested(order, this.#now);
    this.#answer(MESSAGE.accepted, order, order.left);
  }

  #join(order: OwnOrder): void {
    const { queue } = this.#model;
    const { side, place } = order;
    const last = this.#there.lastBefore(order.side, order.place);
    const isBehind = last > 0;
    order.unseen = isBehind || this.#there.isPicture;
    const levels = side === BUY ? this.book.bids : this.book.asks;
    const guess = isBehind
      ? this.#there.unrecorded.at(side, place) || last
      : this.#there.invalidated.left(side, place, levels[place] ?? 0);
    if (order.unseen) queue.joinedUnseen(order, guess);
    else queue.joined(order, guess);
  }

  /** Updates queue positions from the complete recorded book, which includes the orders ahead. */
  seen(): void {
    const { queue } = this.#model;
    for (const { orders } of [this.bids, this.asks]) {
      for (const order of orders) {
        if (!order.unseen || this.#there.lastBefore(order.side, order.place) > 0) continue;
        const levels = order.side === BUY ? this.book.bids : this.book.asks;
        const displayed = levels[order.place] ?? 0;
        order.unseen = false;
        if (queue.shown === undefined) order.front = Math.min(order.front, displayed);
        else queue.shown(order, displayed);
      }
    }
  }

  /**
   * Executes an order against the recorded levels, best first. The recording still contains the lots taken, so these
   * lots are unavailable for `TAKEN_MS`.
   */
  #take(order: OwnOrder): void {
    const now = this.#now;
    const buys = order.side === BUY;
    const { book } = this;
    const { last } = book;
    const levels = buys ? book.asks : book.bids;
    const mid = this.#there.twiceMid;
    for (const [place, { at }] of this.#taken) if (now - at > TAKEN_MS) this.#taken.delete(place);
    this.#answer(MESSAGE.accepted, order, order.left);
    for (
      let place = buys ? this.#askLeft() : this.#bidLeft();
      place > 0 && place < last;
      place = buys ? book.askAbove(place) : book.bidBelow(place)
    ) {
      if (order.left === 0 || (buys ? place > order.place : place < order.place)) break;
      const before = this.#taken.get(place)?.lots ?? 0;
      const lots = Math.min(order.left, levels[place]! - before);
      if (!(lots > 0)) continue;
      this.#taken.set(place, { lots: before + lots, at: now });
      order.left -= lots;
      this.#watcher.filled(order, lots, now, mid, place);
      this.answers.push(now + this.#latency.back(now), MESSAGE.filled, order, lots, now, mid, place);
    }
    if (order.left > 0) this.#answer(MESSAGE.spent, order, order.left);
  }

  /**
   * Returns the price index of the best available ask. Recorded levels at or through a resting order of the bot are
   * skipped, because they have traded with that order.
   */
  #askLeft(): number {
    const { book } = this;
    const { asks, last } = book;
    let { ask } = book;
    while (ask < last && (ask <= this.bids.best || !(this.#there.invalidated.left(SELL, ask, asks[ask]!) > 0)))
      ask = book.askAbove(ask);
    return ask;
  }

  #bidLeft(): number {
    const { book } = this;
    const { bids } = book;
    let { bid } = book;
    while (bid > 0 && (bid >= this.asks.best || !(this.#there.invalidated.left(BUY, bid, bids[bid]!) > 0)))
      bid = book.bidBelow(bid);
    return bid;
  }

  #answer(
    kind:
      | typeof MESSAGE.accepted
      | typeof MESSAGE.refused
      | typeof MESSAGE.canceled
      | typeof MESSAGE.missed
      | typeof MESSAGE.spent,
    order: OwnOrder,
    lots: number,
  ): void {
    const now = this.#now;
    this.answers.push(now + this.#latency.back(now), kind, order, lots, now, 0);
  }
}
