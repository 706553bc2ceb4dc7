/**
 * Matching engine of one book: price-time priority on whole ticks and lots. Uses typed arrays and pooled slots, without
 * allocation per operation.
 */
import { counted, enlarged, type Amount, type Millis, type Price, type Side, type Value } from '../../core/index.ts';
import { PriceLevels } from './priceLevels.ts';

/**
 * Treatment of an order's unmatched amount: it stays in the book (GTC) or is dropped (IOC). FOK requires a full match;
 * postOnly forbids any match.
 */
export type EngineTimeInForce = 'GTC' | 'IOC' | 'FOK' | 'postOnly';

/** Treatment of two matching orders of one owner: they trade, the new order is dropped, or the old order is removed. */
export type SelfTrade = 'allow' | 'drop-new' | 'remove-old';

/** Receives each execution during the match, makers in price-time order. Must not change the book. */
export interface ExecutionSink {
  executed(
    maker: number,
    makerOwner: number,
    taker: number,
    takerOwner: number,
    price: Price,
    amount: Amount,
    makerLeft: Amount,
    makerAt: Millis,
  ): void;
  /** Reports a resting order that was removed because an order of the same owner would have matched it. */
  prevented(maker: number, owner: number, left: Amount): void;
}

/** Owner number of market simulators' orders; self-trade rules never apply to them. */
export const SYNTHETIC_OWNER = 0;

/** Maximum number of live orders per book. */
export const ORDERS_MAX = 2 ** 22;

/** Id arithmetic: an id is slot + generation x ORDERS_MAX, so the id of a removed order never names a later order. */
const SLOT_MASK = ORDERS_MAX - 1;
const START = 256;
const BUY = 0;
const SELL = 1;

export class MatchingBook {
  readonly #sink: ExecutionSink;
  readonly #bids = new PriceLevels(1);
  readonly #asks = new PriceLevels(-1);
  selfTrade: SelfTrade = 'allow';
  /**
   * Sequence number of the book. Increases by one for each operation that changed the book, by two for a modification.
   */
  sequence: number;
  /** Amount that the last `place`, `take` or `modify` traded. */
  traded = 0 as Amount;
  /** Amount that the last `place`, `take` or `modify` left in the book. */
  rested = 0 as Amount;

  // Orders, by slot. A free slot has level -1, and `next` links it to the next free slot.
  #next = new Int32Array(START);
  #previous = new Int32Array(START);
  #level = new Int32Array(START).fill(-1);
  #owner = new Int32Array(START);
  #left = new Float64Array(START);
  #at = new Float64Array(START);
  #id = new Float64Array(START);
  #slots = 0;
  #freeSlot = -1;
  #orders = 0;

  // Levels, by index. A free level is linked through `head`.
  #price = new Float64Array(START);
  #total = new Float64Array(START);
  #head = new Int32Array(START);
  #tail = new Int32Array(START);
  #orderCount = new Int32Array(START);
  #side = new Uint8Array(START);
  #levels = 0;
  #freeLevel = -1;

  constructor(sink: ExecutionSink, firstSequence = 0) {
    this.#sink = sink;
    this.sequence = firstSequence;
  }

  /** Number of orders in the book. */
  get size(): number {
    return this.#orders;
  }

  /**
   * Matches a new order and treats its unmatched amount by its time in force. Returns the order's id; `rested` is the
   * amount left in the book.
   */
  place(side: Side, price: Price, amount: Amount, timeInForce: EngineTimeInForce, owner: number, at: Millis): number {
    const slot = this.#claim(owner, at);
    const id = this.#id[slot]!;
    this.#enter(slot, side === 'buy' ? BUY : SELL, price, amount, timeInForce);
    return id;
  }

  /**
   * Matches up to `amount` and `budget` (price times amount; `null` for no limit) at prices no worse than `limit`. No
   * amount rests.
   */
  take(side: Side, limit: Price, amount: Amount, budget: Value | null, owner: number, at: Millis): number {
    if (!(amount > 0)) throw new RangeError(`cannot take ${counted(amount, 'lot')}; expected a whole number above 0`);
    const slot = this.#claim(owner, at);
    const id = this.#id[slot]!;
    const orders = this.#orders;
    const left = this.#match(slot, side === 'buy' ? BUY : SELL, limit, amount, budget);
    this.traded = (amount - left) as Amount;
    this.rested = 0 as Amount;
    if (this.traded > 0 || this.#orders < orders) this.sequence++;
    this.#release(slot);
    return id;
  }

  /** Removes an order. Returns the open amount that was removed, or 0 if the order does not exist. */
  cancel(id: number): Amount {
    const slot = this.#slotOf(id);
    if (slot < 0) return 0 as Amount;
    const left = this.#left[slot]!;
    this.#unlink(slot);
    this.#release(slot);
    this.sequence++;
    return left as Amount;
  }

  /**
   * Reduces an order by `by` lots without loss of queue position. Removes the order if nothing remains. Returns the
   * remaining open amount, or 0 if the order does not exist.
   */
  reduce(id: number, by: Amount): Amount {
    if (!(by > 0))
      throw new RangeError(`cannot reduce an order by ${counted(by, 'lot')}; expected a whole number above 0`);
    const slot = this.#slotOf(id);
    if (slot < 0) return 0 as Amount;
    const left = this.#left[slot]!;
    if (by >= left) {
      this.cancel(id);
      return 0 as Amount;
    }
    this.#left[slot] = left - by;
    this.#total[this.#level[slot]!]! -= by;
    this.sequence++;
    return (left - by) as Amount;
  }

  /** Adds `by` lots to an order without loss of queue position. Throws if the order does not exist. */
  enlarge(id: number, by: Amount): Amount {
    const slot = this.#slotOf(id);
    const level = slot < 0 ? -1 : this.#level[slot]!;
    const total = level < 0 ? NaN : this.#total[level]! + by;
    if (!(by > 0 && total <= Number.MAX_SAFE_INTEGER))
      throw new RangeError(
        `order ${id} cannot get ${counted(by, 'more lot')}; expected an open order, and a total below 2^53`,
      );
    this.#left[slot]! += by;
    this.#total[level] = total;
    this.sequence++;
    return this.#left[slot] as Amount;
  }

  /** Fills `amount` of an order for the market simulator, ignoring queue priority. Throws if less is open. */
  hit(id: number, amount: Amount, at: Millis): void {
    const slot = this.#slotOf(id);
    const left = slot < 0 ? 0 : this.#left[slot]! - amount;
    if (!(slot >= 0 && amount > 0 && left >= 0))
      throw new RangeError(
        `order ${id} cannot fill ${counted(amount, 'lot')}; expected an open order, and at most its open amount`,
      );
    const level = this.#level[slot]!;
    const [owner, since, price] = [this.#owner[slot]!, this.#at[slot]!, this.#price[level]! as Price];
    const taker = this.#claim(SYNTHETIC_OWNER, at);
    if (left === 0) {
      this.#unlink(slot);
      this.#release(slot);
    } else {
      this.#left[slot] = left;
      this.#total[level]! -= amount;
    }
    this.#sink.executed(id, owner, this.#id[taker]!, SYNTHETIC_OWNER, price, amount, left as Amount, since);
    this.#release(taker);
    this.sequence++;
  }

  /**
   * Removes an order and enters it again under the same id, at the end of the queue of its new price, where it may
   * match. `between` runs after the removal, so that the venue can report the removal. Returns false if the order does
   * not exist.
   */
  modify(id: number, price: Price, amount: Amount, timeInForce: EngineTimeInForce, between?: () => void): boolean {
    const slot = this.#slotOf(id);
    if (slot < 0) return false;
    const side = this.#side[this.#level[slot]!]!;
    this.#unlink(slot);
    this.sequence++;
    between?.();
    this.#enter(slot, side, price, amount, timeInForce);
    return true;
  }

  /** Returns the open amount of an order, or 0 if the order does not exist. */
  leftOf(id: number): Amount {
    const slot = this.#slotOf(id);
    return (slot < 0 ? 0 : this.#left[slot]!) as Amount;
  }

  /** Returns side, price and entry time of a resting order, or `undefined` if the order does not exist. */
  find(id: number): { readonly side: Side; readonly price: Price; readonly at: Millis } | undefined {
    const slot = this.#slotOf(id);
    if (slot < 0) return undefined;
    const level = this.#level[slot]!;
    return {
      side: this.#side[level] === BUY ? 'buy' : 'sell',
      price: this.#price[level]! as Price,
      at: this.#at[slot]!,
    };
  }

  bestBid(): Price {
    const level = this.#bids.best();
    return (level < 0 ? 0 : this.#price[level]!) as Price;
  }

  bestAsk(): Price {
    const level = this.#asks.best();
    return (level < 0 ? 0 : this.#price[level]!) as Price;
  }

  amountAt(side: Side, price: Price): Amount {
    const level = (side === 'buy' ? this.#bids : this.#asks).find(price);
    return (level < 0 ? 0 : this.#total[level]!) as Amount;
  }

  /** Whether an order at this price would match immediately. */
  crosses(side: Side, price: Price): boolean {
    const best = side === 'buy' ? this.bestAsk() : this.bestBid();
    return best > 0 && (side === 'buy' ? price >= best : price <= best);
  }

  /** Calls `visit` for each level, best first, until it returns false. */
  eachLevel(side: Side, visit: (price: Price, total: Amount, orders: number) => boolean): void {
    const levels = side === 'buy' ? this.#bids : this.#asks;
    for (let rank = 0; rank < levels.count; rank++) {
      const level = levels.at(rank);
      if (!visit(this.#price[level]! as Price, this.#total[level]! as Amount, this.#orderCount[level]!)) return;
    }
  }

  /** Calls `visit` for each order in price-time order, until it returns false. */
  eachOrder(side: Side, visit: (id: number, owner: number, price: Price, left: Amount, at: Millis) => boolean): void {
    const levels = side === 'buy' ? this.#bids : this.#asks;
    for (let rank = 0; rank < levels.count; rank++) {
      const level = levels.at(rank);
      const price = this.#price[level]! as Price;
      for (let slot = this.#head[level]!; slot >= 0; slot = this.#next[slot]!) {
        if (!visit(this.#id[slot]!, this.#owner[slot]!, price, this.#left[slot]! as Amount, this.#at[slot]!)) return;
      }
    }
  }

  /** Calls `visit` for each order at a price, oldest first. */
  eachOrderAt(side: Side, price: Price, visit: (id: number, owner: number, left: Amount) => void): void {
    const level = (side === 'buy' ? this.#bids : this.#asks).find(price);
    if (level < 0) return;
    for (let slot = this.#head[level]!; slot >= 0; slot = this.#next[slot]!)
      visit(this.#id[slot]!, this.#owner[slot]!, this.#left[slot]! as Amount);
  }

  /** Whether a resting order is the last one in the queue of its price. */
  isLast(id: number): boolean {
    const slot = this.#slotOf(id);
    return slot >= 0 && this.#next[slot]! < 0;
  }

  #enter(slot: number, side: number, price: Price, amount: Amount, timeInForce: EngineTimeInForce): void {
    if (!(price > 0 && amount > 0 && Number.isSafeInteger(price) && Number.isSafeInteger(amount))) {
      throw new RangeError(
        `order of ${counted(amount, 'lot')} at ${counted(price, 'tick')}: expected whole numbers above 0`,
      );
    }
    this.traded = 0 as Amount;
    this.rested = 0 as Amount;
    const crossing = this.#crossesNow(side, price);
    if (crossing && timeInForce === 'postOnly') return this.#release(slot);
    if (timeInForce === 'FOK' && !(crossing && this.#coverable(slot, side, price, amount))) return this.#release(slot);
    const ordersBefore = this.#orders;
    const left = crossing ? this.#match(slot, side, price, amount, null) : amount;
    this.traded = (amount - left) as Amount;
    // A new order dropped by `drop-new` does not rest, because it would cross an order of its owner.
    const dropped = left > 0 && crossing && this.selfTrade === 'drop-new' && this.#crossesNow(side, price);
    if (left > 0 && !dropped && (timeInForce === 'GTC' || timeInForce === 'postOnly'))
      this.#rest(slot, side, price, left);
    else this.#release(slot);
    if (this.traded > 0 || this.rested > 0 || this.#orders < ordersBefore) this.sequence++;
  }

  #crossesNow(side: number, price: number): boolean {
    const best = (side === BUY ? this.#asks : this.#bids).best();
    return best >= 0 && (side === BUY ? this.#price[best]! <= price : this.#price[best]! >= price);
  }

  /** Matches an order against the opposite side. Returns the unmatched amount. */
  #match(taker: number, side: number, limit: Price, amount: Amount, budget: Value | null): number {
    const opposite = side === BUY ? this.#asks : this.#bids;
    const takerId = this.#id[taker]!;
    const owner = this.#owner[taker]!;
    const prevent = owner !== SYNTHETIC_OWNER && this.selfTrade !== 'allow';
    let left: number = amount;
    let value: bigint = budget ?? 0n;
    for (let level = opposite.best(); level >= 0 && left > 0; level = opposite.best()) {
      const price = this.#price[level]!;
      if (side === BUY ? price > limit : price < limit) break;
      for (let maker = this.#head[level]!; maker >= 0 && left > 0; maker = this.#head[level]!) {
        const makerOwner = this.#owner[maker]!;
        const makerId = this.#id[maker]!;
        const makerAmount = this.#left[maker]!;
        const makerAt = this.#at[maker]!;
        if (prevent && makerOwner === owner) {
          if (this.selfTrade === 'drop-new') return left;
          const last = this.#orderCount[level] === 1;
          this.#unlink(maker);
          this.#release(maker);
          this.#sink.prevented(makerId, makerOwner, makerAmount as Amount);
          if (last) break;
          continue;
        }
        let traded = makerAmount < left ? makerAmount : left;
        if (budget !== null) {
          const affordable = value / BigInt(price);
          if (affordable < BigInt(traded)) traded = Number(affordable);
          if (traded === 0) return left;
          value -= BigInt(price) * BigInt(traded);
        }
        left -= traded;
        const makerLeft = makerAmount - traded;
        const last = makerLeft === 0 && this.#orderCount[level] === 1;
        if (makerLeft === 0) {
          this.#unlink(maker);
          this.#release(maker);
        } else {
          this.#left[maker] = makerLeft;
          this.#total[level]! -= traded;
        }
        this.#sink.executed(
          makerId,
          makerOwner,
          takerId,
          owner,
          price as Price,
          traded as Amount,
          makerLeft as Amount,
          makerAt,
        );
        // The level was freed, so its `head` is no longer a slot.
        if (last) break;
      }
    }
    return left;
  }

  /**
   * Whether the opposite side has the full amount within the limit. If self-trades are prevented, the owner's orders do
   * not count.
   */
  #coverable(taker: number, side: number, limit: Price, amount: Amount): boolean {
    const opposite = side === BUY ? this.#asks : this.#bids;
    const owner = this.#owner[taker]!;
    const prevent = owner !== SYNTHETIC_OWNER && this.selfTrade !== 'allow';
    let missing: number = amount;
    for (let rank = 0; rank < opposite.count; rank++) {
      const level = opposite.at(rank);
      const price = this.#price[level]!;
      if (side === BUY ? price > limit : price < limit) return false;
      if (!prevent) missing -= this.#total[level]!;
      else {
        for (let slot = this.#head[level]!; slot >= 0 && missing > 0; slot = this.#next[slot]!) {
          if (this.#owner[slot] !== owner) missing -= this.#left[slot]!;
          else if (this.selfTrade === 'drop-new') return false;
        }
      }
      if (missing <= 0) return true;
    }
    return false;
  }

  #rest(slot: number, side: number, price: Price, amount: number): void {
    const levels = side === BUY ? this.#bids : this.#asks;
    let level = levels.find(price);
    if (level < 0) {
      level = this.#claimLevel(side, price);
      levels.insert(price, level);
    }
    const total = this.#total[level]! + amount;
    // A level above 2^53 lots could not be summed exactly, so an order that would exceed it does not rest.
    if (!(total <= Number.MAX_SAFE_INTEGER)) return this.#release(slot);
    const tail = this.#tail[level]!;
    this.#left[slot] = amount;
    this.#level[slot] = level;
    this.#next[slot] = -1;
    this.#previous[slot] = tail;
    if (tail < 0) this.#head[level] = slot;
    else this.#next[tail] = slot;
    this.#tail[level] = slot;
    this.#total[level] = total;
    this.#orderCount[level]!++;
    this.#orders++;
    this.rested = amount as Amount;
  }

  /** Removes an order from its level, and an empty level from its side. */
  #unlink(slot: number): void {
    const level = this.#level[slot]!;
    const next = this.#next[slot]!;
    const previous = this.#previous[slot]!;
    if (previous < 0) this.#head[level] = next;
    else this.#next[previous] = next;
    if (next < 0) this.#tail[level] = previous;
    else this.#previous[next] = previous;
    this.#level[slot] = -1;
    this.#total[level]! -= this.#left[slot]!;
    this.#orders--;
    if (--this.#orderCount[level]! > 0) return;
    (this.#side[level] === BUY ? this.#bids : this.#asks).remove(this.#price[level]!);
    this.#head[level] = this.#freeLevel;
    this.#freeLevel = level;
  }

  #slotOf(id: number): number {
    const slot = id & SLOT_MASK;
    return slot < this.#slots && this.#id[slot] === id && this.#level[slot]! >= 0 ? slot : -1;
  }

  #claim(owner: number, at: Millis): number {
    let slot = this.#freeSlot;
    if (slot >= 0) this.#freeSlot = this.#next[slot]!;
    else {
      slot = this.#slots++;
      if (slot === ORDERS_MAX) throw new RangeError(`a book holds at most ${ORDERS_MAX} orders`);
      if (slot === this.#id.length) this.#growOrders();
      this.#id[slot] = slot + ORDERS_MAX;
    }
    this.#owner[slot] = owner;
    this.#at[slot] = at;
    return slot;
  }

  #release(slot: number): void {
    const id = this.#id[slot]! + ORDERS_MAX;
    this.#id[slot] = id <= Number.MAX_SAFE_INTEGER ? id : slot + ORDERS_MAX;
    this.#level[slot] = -1;
    this.#next[slot] = this.#freeSlot;
    this.#freeSlot = slot;
  }

  #claimLevel(side: number, price: Price): number {
    let level = this.#freeLevel;
    if (level >= 0) this.#freeLevel = this.#head[level]!;
    else {
      level = this.#levels++;
      if (level === this.#price.length) this.#growLevels();
    }
    this.#price[level] = price;
    this.#total[level] = 0;
    this.#head[level] = -1;
    this.#tail[level] = -1;
    this.#orderCount[level] = 0;
    this.#side[level] = side;
    return level;
  }

  #growOrders(): void {
    const length = this.#id.length * 2;
    this.#next = enlarged(this.#next, length);
    this.#previous = enlarged(this.#previous, length);
    this.#level = enlarged(this.#level, length).fill(-1, this.#level.length);
    this.#owner = enlarged(this.#owner, length);
    this.#left = enlarged(this.#left, length);
    this.#at = enlarged(this.#at, length);
    this.#id = enlarged(this.#id, length);
  }

  #growLevels(): void {
    const length = this.#price.length * 2;
    this.#price = enlarged(this.#price, length);
    this.#total = enlarged(this.#total, length);
    this.#head = enlarged(this.#head, length);
    this.#tail = enlarged(this.#tail, length);
    this.#orderCount = enlarged(this.#orderCount, length);
    this.#side = enlarged(this.#side, length);
  }
}
