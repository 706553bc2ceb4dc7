/** The exchange's end of a replay: the recorded book at exchange time, our orders resting beside it, requests in, answers out. */
import type { Amount, Price, Side } from '../../src/core/index.ts';
import type { FillModel } from '../../src/fills/index.ts';
import { MESSAGE, MessageRing } from './messages.ts';
import { Sweep } from '../../src/fills/index.ts';
import type { Latency } from '../rows/latency.ts';
import { OwnSide } from './ownOrders.ts';
import type { OwnOrder } from './ownOrders.ts';
import { BUY, FLAG, SELL } from '../rows/rows.ts';
import type { MarketRows } from '../rows/rows.ts';
import { TickBook } from '../rows/tickBook.ts';
import { NOBODY } from './watch.ts';
import type { Watcher } from './watch.ts';

/** What we took from a level is not there for so long. */
const TAKEN_MS = 60_000;

/** Orders are post-only limits, but for those of a hedge that take at once: one that would trade on arrival is refused. Rows of a moment come before requests that arrive at it. */
export class SimulatedExchange {
  readonly book: TickBook;
  readonly requests = new MessageRing();
  readonly answers = new MessageRing();
  readonly #rows: MarketRows;
  readonly #model: FillModel;
  readonly #latency: Latency;
  readonly #watcher: Watcher;
  readonly #ownBids: OwnSide;
  readonly #ownAsks: OwnSide;
  readonly #sweep = new Sweep();
  readonly #ends: OwnOrder[] = [];
  readonly #onFill = (order: OwnOrder, lots: number): void => {
    const now = this.#now;
    const mid = now === this.#movedAt ? this.#midBefore : this.#twiceMid();
    this.#watcher.filled(order, lots, now, mid, order.place);
    if (this.#watcher.dueAt < this.#until) this.#until = this.#watcher.dueAt;
    this.answers.push(now + this.#latency.back(now), MESSAGE.filled, order, lots, now, mid);
    if (order.left === 0) this.#ends.push(order);
    // Our end hears of it before it could act on anything later.
    if (this.#eager && this.answers.headAt < this.#until) this.#until = this.answers.headAt;
  };
  /** What orders of ours took where, and when. */
  readonly #taken = new Map<number, { lots: number; at: number }>();
  #next = 0;
  #until = -Infinity;
  #now = -Infinity;
  /** Best places as they were last seen; when they last moved, and twice the middle before the first move at that time, 0 when a side was empty. */
  #bid = 0;
  #ask: number;
  #movedAt = -Infinity;
  #midBefore = 0;
  #eager = false;

  constructor(rows: MarketRows, model: FillModel, latency: Latency, watcher = NOBODY) {
    this.#rows = rows;
    this.#model = model;
    this.#latency = latency;
    this.#watcher = watcher;
    this.book = new TickBook(rows);
    this.#ask = this.book.ask;
    this.#ownBids = new OwnSide(BUY, rows.places);
    this.#ownAsks = new OwnSide(SELL, rows.places);
  }

  /** No row is left and no request is on its way. */
  get isDone(): boolean {
    return this.#next >= this.#rows.length && this.requests.count === 0;
  }

  /** Twice the middle of the recorded book, as places; 0 when a side is empty. */
  get twiceMid(): number {
    return this.#twiceMid();
  }

  /** Best prices as everybody sees them, with our orders and without what they have met; 0, and the book's last, for an empty side. */
  get seenBid(): number {
    return Math.max(this.#bidLeft(), this.#ownBids.best, 0);
  }

  get seenAsk(): number {
    return Math.min(this.#askLeft(), this.#ownAsks.best, this.book.last);
  }

  /** Our resting orders. */
  get bids(): readonly OwnOrder[] {
    return this.#ownBids.orders;
  }

  get asks(): readonly OwnOrder[] {
    return this.#ownAsks.orders;
  }

  /** Calls for each level that can be met, best first, until `visit` returns false; our orders are not in them. `base`: tick of place 0. */
  eachLevel(base: number, side: Side, visit: (price: Price, total: Amount) => boolean): void {
    const { bids, asks, last } = this.book;
    const [levels, step, first] = side === 'buy' ? [bids, -1, this.#bidLeft()] : [asks, 1, this.#askLeft()];
    for (let place = first; place > 0 && place < last; place += step) {
      const lots = levels[place]!;
      if (lots > 0 && !visit((place + base) as Price, lots as Amount)) return;
    }
  }

  /** The next row to be lived through. */
  get next(): number {
    return this.#next;
  }

  /** The rows have moved so many places to the front. */
  moved(places: number): void {
    this.#next -= places;
  }

  /** Lives through everything up to and at `time`. */
  runTo(time: number): void {
    this.#eager = false;
    this.#run(time);
  }

  /** The same, but not beyond the first answer that arrives at our end; returns how far it went. */
  runToAnswer(time: number): number {
    this.#eager = true;
    return this.#run(Math.min(time, this.answers.headAt));
  }

  #run(time: number): number {
    const { requests } = this;
    const watcher = this.#watcher;
    let end = time;
    for (;;) {
      // Before rows are read too: a request that has just arrived may have been answered.
      if (this.#eager) end = Math.min(end, this.answers.headAt);
      this.#until = Math.min(end, requests.headAt, watcher.dueAt);
      this.#readRows();
      if (this.#eager) end = Math.min(end, this.answers.headAt);
      const look = watcher.dueAt;
      if (look <= end && look <= requests.headAt) {
        watcher.look(look, this.book, this.#ownBids.best, this.#ownAsks.best);
        continue;
      }
      if (!(requests.headAt <= end)) return end;
      this.#now = requests.headAt;
      this.#arrive();
    }
  }

  #readRows(): void {
    const { at } = this.#rows;
    let row = this.#next;
    while (at[row]! <= this.#until) {
      this.#read(row);
      row++;
    }
    this.#next = row;
  }

  #read(row: number): void {
    const rows = this.#rows;
    const place = rows.place[row]!;
    const lots = rows.lots[row]!;
    const flags = rows.flags[row]!;
    if ((flags & FLAG.trade) !== 0) this.#trade(flags, place, lots, row);
    else if ((flags & FLAG.sell) !== 0) {
      const before = this.book.setAsk(place, lots);
      if (this.book.ask !== this.#ask || this.book.bid !== this.#bid) this.#bestMoved(rows.at[row]!);
      if (this.#ownAsks.at[place] !== 0 || (place <= this.#ownBids.best && lots > before)) {
        this.#levelChanged(SELL, place, before, lots, row);
      }
    } else {
      const before = this.book.setBid(place, lots);
      if (this.book.bid !== this.#bid || this.book.ask !== this.#ask) this.#bestMoved(rows.at[row]!);
      if (this.#ownBids.at[place] !== 0 || (place >= this.#ownAsks.best && lots > before)) {
        this.#levelChanged(BUY, place, before, lots, row);
      }
    }
  }

  #bestMoved(at: number): void {
    if (at !== this.#movedAt) {
      this.#movedAt = at;
      this.#midBefore = this.#twiceMid();
    }
    this.#bid = this.book.bid;
    this.#ask = this.book.ask;
  }

  /** Twice the middle of the best places that were last seen. */
  #twiceMid(): number {
    return this.#bid === 0 || this.#ask === this.book.last ? 0 : this.#bid + this.#ask;
  }

  #trade(flags: number, place: number, lots: number, row: number): void {
    const sell = (flags & FLAG.sell) !== 0;
    const reaches = sell ? place <= this.#ownBids.best : place >= this.#ownAsks.best;
    if (!reaches && !this.#sweep.isOpen(this.#rows.at[row]!)) return;
    this.#now = this.#rows.at[row]!;
    const own = sell ? this.#ownBids : this.#ownAsks;
    const sign = sell ? -1 : 1;
    this.#sweep.begin(this.#now, sign);
    this.#model.rule.traded(own.orders, sign, place, lots, this.#onFill, row, this.#sweep);
    this.#removeEnded();
  }

  #levelChanged(side: typeof BUY | typeof SELL, place: number, before: number, lots: number, row: number): void {
    const own = side === BUY ? this.#ownBids : this.#ownAsks;
    const other = side === BUY ? this.#ownAsks : this.#ownBids;
    this.#now = this.#rows.at[row]!;
    if (own.at[place] !== 0) {
      for (const order of own.orders) if (order.place === place) this.#model.queue.changed(order, before, lots, row);
    }
    if (lots > before && (side === BUY ? place >= other.best : place <= other.best)) {
      this.#model.rule.crossed(other.orders, side === BUY ? 1 : -1, place, lots - before, this.#onFill);
      this.#removeEnded();
    }
  }

  #removeEnded(): void {
    const ends = this.#ends;
    while (ends.length > 0) {
      const order = ends.pop()!;
      (order.side === BUY ? this.#ownBids : this.#ownAsks).remove(order);
    }
  }

  #arrive(): void {
    const { kind, order } = this.requests;
    this.requests.shift();
    const own = order.side === BUY ? this.#ownBids : this.#ownAsks;
    if (kind === MESSAGE.cancel) {
      const there = order.resting;
      if (there) {
        own.remove(order);
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
    const displayed = (order.side === BUY ? this.book.bids : this.book.asks)[order.place] ?? 0;
    order.joined = this.#next;
    this.#model.queue.joined(order, displayed);
    own.add(order);
    order.restedAt = this.#now;
    this.#watcher.rested(order, this.#now);
    this.#answer(MESSAGE.accepted, order, order.left);
  }

  /** Trades with the recorded levels, best first. The recording does not know of it: what was taken is not there again for a while. */
  #take(order: OwnOrder): void {
    const now = this.#now;
    const buys = order.side === BUY;
    const { bids, asks, last } = this.book;
    const levels = buys ? asks : bids;
    const mid = this.#twiceMid();
    for (const [place, { at }] of this.#taken) if (now - at > TAKEN_MS) this.#taken.delete(place);
    this.#answer(MESSAGE.accepted, order, order.left);
    const step = buys ? 1 : -1;
    for (let place = buys ? this.#askLeft() : this.#bidLeft(); place > 0 && place < last; place += step) {
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

  /** Best price that can be met: a level at or through a resting order of ours has been met by it. */
  #askLeft(): number {
    const { asks, last } = this.book;
    let { ask } = this.book;
    while (ask < last && (ask <= this.#ownBids.best || asks[ask] === 0)) ask++;
    return ask;
  }

  #bidLeft(): number {
    const { bids } = this.book;
    let { bid } = this.book;
    while (bid > 0 && (bid >= this.#ownAsks.best || bids[bid] === 0)) bid--;
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
