/** The exchange's end of a replay: the recorded book at exchange time, our orders resting beside it, requests in, answers out. */
import type { Amount, Price, Side } from '../../src/core/index.ts';
import { Disproved } from './disproved.ts';
import type { FillModel } from '../../src/fills/index.ts';
import { MESSAGE, MessageRing } from './messages.ts';
import { Sweep, SWEEP_MS } from '../../src/fills/index.ts';
import type { Latency } from '../rows/latency.ts';
import { OwnSide } from './ownOrders.ts';
import type { OwnOrder } from './ownOrders.ts';
import { BUY, FLAG, SELL } from '../rows/rows.ts';
import type { MarketRows, SideIndex } from '../rows/rows.ts';
import { TickBook } from '../rows/tickBook.ts';
import { NOBODY } from './watch.ts';
import { Unrecorded } from './unrecorded.ts';
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
  readonly #sweep = new Sweep(SWEEP_MS);
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
  readonly #disproved = new Disproved();
  readonly #unrecorded = new Unrecorded();
  /** The book was last told by a picture, which executions may disprove. */
  #isPicture = false;
  /** Levels that were taken out of the recording, as executions went through them and they stayed. */
  ghosts = 0;
  /** Time in which the recorded book was crossed, and since when it is now. */
  #crossed = 0;
  #crossedSince = Infinity;
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
    const { book } = this;
    if (side === 'buy') {
      for (let place = this.#bidLeft(); place > 0; place = book.bidBelow(place))
        if (!visit((place + base) as Price, book.bids[place]! as Amount)) return;
    } else {
      for (let place = this.#askLeft(); place < book.last; place = book.askAbove(place))
        if (!visit((place + base) as Price, book.asks[place]! as Amount)) return;
    }
  }

  /** For how long up to `at`, which is not before the last row, the recorded book was crossed. */
  crossedUpTo(at: number): number {
    return this.#crossed + Math.max(0, at - this.#crossedSince);
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
    if ((flags & FLAG.trade) !== 0) {
      this.#trade(flags, place, lots, row);
      return;
    }
    const isAsk = (flags & FLAG.sell) !== 0;
    this.#disproved.told(isAsk ? SELL : BUY, place);
    // Plain steps of a book are nearly all there is.
    const isPlain = flags <= FLAG.sell && !this.#isPicture && this.#crossedSince === Infinity;
    if (!isPlain && !this.#heed(flags, row)) return;
    if (isAsk) {
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

  /** What a row says besides its level; false when that is all. */
  #heed(flags: number, row: number): boolean {
    if ((flags & FLAG.ghost) !== 0) this.ghosts++;
    if (((flags & FLAG.crossed) !== 0) !== this.#crossedSince < Infinity) this.#crossing(this.#rows.at[row]!);
    const isPicture = (flags & FLAG.snapshot) !== 0;
    // Steps go on from a picture: until the first of them nothing had changed.
    if (this.#isPicture && !isPicture) this.#seen();
    this.#isPicture = isPicture;
    if ((flags & FLAG.unseen) !== 0) {
      const [side, levels] = (flags & FLAG.sell) !== 0 ? [SELL, this.book.asks] : [BUY, this.book.bids];
      const place = this.#rows.place[row]!;
      this.#unrecorded.slidOut(side as SideIndex, place, levels[place]!);
    }
    if ((flags & FLAG.again) === 0) return true;
    if ((flags & FLAG.end) !== 0) this.#pictured();
    return false;
  }

  #pictured(): void {
    for (const side of [BUY, SELL] as const)
      if (!this.#unrecorded.isEmpty(side))
        this.#unrecorded.recorded(side, this.#lastPlace(side, side === BUY ? 0 : this.book.last));
    this.#seen();
  }

  #crossing(at: number): void {
    this.#crossed = this.crossedUpTo(at);
    this.#crossedSince = this.#crossedSince < Infinity ? Infinity : at;
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
    const sign = sell ? -1 : 1;
    if (this.#isPicture) {
      this.#disproved.traded(this.book, sell ? BUY : SELL, place, lots);
      this.#unrecorded.traded(sell ? BUY : SELL, place, lots);
    } else if (reaches && this.#rows.depth < Infinity) this.#seen();
    this.#sweep.begin(this.#rows.at[row]!, sign, place);
    if (!reaches && !this.#sweep.isOpen) return;
    this.#now = this.#rows.at[row]!;
    const own = sell ? this.#ownBids : this.#ownAsks;
    this.#model.rule.traded(own.orders, sign, place, lots, this.#onFill, row, this.#sweep);
    this.#removeEnded();
  }

  #levelChanged(side: typeof BUY | typeof SELL, place: number, before: number, lots: number, row: number): void {
    const own = side === BUY ? this.#ownBids : this.#ownAsks;
    const other = side === BUY ? this.#ownAsks : this.#ownBids;
    this.#now = this.#rows.at[row]!;
    if (own.at[place] !== 0) {
      const slidOut = (this.#rows.flags[row]! & FLAG.unseen) !== 0;
      for (const order of own.orders) {
        if (order.place !== place) continue;
        if (slidOut) order.unseen = true;
        else this.#model.queue.changed(order, before, lots, row);
      }
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
    order.joined = this.#next;
    order.restedAt = this.#now;
    this.#join(order);
    own.add(order);
    this.#watcher.rested(order, this.#now);
    this.#answer(MESSAGE.accepted, order, order.left);
  }

  #join(order: OwnOrder): void {
    const { queue } = this.#model;
    const { side, place } = order;
    const last = this.#lastBefore(order);
    const isBehind = last > 0;
    order.unseen = isBehind || this.#isPicture;
    const levels = side === BUY ? this.book.bids : this.book.asks;
    const guess = isBehind
      ? this.#unrecorded.at(side, place) || last
      : this.#disproved.left(side, place, levels[place] ?? 0);
    if (order.unseen) queue.joinedUnseen(order, guess);
    else queue.joined(order, guess);
  }

  /** Lots of the last recorded level before an order that stands behind all of them; 0 where its place is recorded. */
  #lastBefore({ side, place }: OwnOrder): number {
    if (this.#rows.depth === Infinity) return 0;
    const last = this.#lastPlace(side, place);
    return last === place ? 0 : (side === BUY ? this.book.bids : this.book.asks)[last]!;
  }

  /** Place of the last recorded level of a side, when it is better than `limit`; `limit` when fewer are than the recording shows. */
  #lastPlace(side: SideIndex, limit: number): number {
    const { book } = this;
    const { depth } = this.#rows;
    const buys = side === BUY;
    let count = 0;
    for (
      let at = buys ? book.bid : book.ask;
      at > 0 && at < book.last && (buys ? at > limit : at < limit);
      at = buys ? book.bidBelow(at) : book.askAbove(at)
    )
      if (++count >= depth) return at;
    return limit;
  }

  /** All that is recorded has been told: who came before is among it. */
  #seen(): void {
    for (const { orders } of [this.#ownBids, this.#ownAsks]) {
      for (const order of orders) {
        if (!order.unseen || this.#lastBefore(order) > 0) continue;
        const levels = order.side === BUY ? this.book.bids : this.book.asks;
        order.unseen = false;
        order.front = Math.min(order.front, levels[order.place] ?? 0);
      }
    }
  }

  /** Trades with the recorded levels, best first. The recording does not know of it: what was taken is not there again for a while. */
  #take(order: OwnOrder): void {
    const now = this.#now;
    const buys = order.side === BUY;
    const { book } = this;
    const { last } = book;
    const levels = buys ? book.asks : book.bids;
    const mid = this.#twiceMid();
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

  /** Best price that can be met: a level at or through a resting order of ours has been met by it. */
  #askLeft(): number {
    const { book } = this;
    const { asks, last } = book;
    let { ask } = book;
    while (ask < last && (ask <= this.#ownBids.best || !(this.#disproved.left(SELL, ask, asks[ask]!) > 0)))
      ask = book.askAbove(ask);
    return ask;
  }

  #bidLeft(): number {
    const { book } = this;
    const { bids } = book;
    let { bid } = book;
    while (bid > 0 && (bid >= this.#ownAsks.best || !(this.#disproved.left(BUY, bid, bids[bid]!) > 0)))
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
