/**
 * The bot's orders inside a replay: pooled objects of one shape, and the resting orders of a side in order of execution
 * priority.
 */
import { BUY, type SideIndex } from '../rows/rows.ts';

/**
 * State of an order at the exchange and at the bot, in one object. The exchange and the bot each write only their own
 * part.
 */
export class OwnOrder {
  /** Id of the order: a positive integer, unique even if the object is reused. */
  id = 0;
  side: SideIndex = BUY;
  place = 0;
  lots = 0;
  /** Level of the strategy for which the order was placed; 0 is the first. */
  level = 0;
  /** Whether the order takes liquidity immediately and never rests. */
  takes = false;

  // Remaining lots. Only the exchange writes this field and the fields below, up to `unseen`.
  left = 0;
  resting = false;
  /** Estimated lots of other orders ahead in the queue. */
  front = 0;
  /**
   * Lots traded at the order's price since the level last changed. The next change of the level includes these lots,
   * which must not be counted twice.
   */
  traded = 0;
  /** Index of the first row after the order joined the queue. */
  joined = 0;
  /** Time at which the order started to rest. */
  restedAt = 0;
  /** Whether no row has recorded the order's price level since the order arrived. */
  unseen = false;

  // State known to the bot. Only the bot writes this field and the fields below.
  state: LocalState = LOCAL.sent;
  filled = 0;
  /** Number of messages about the order that are in transit. The object is reused only if this number is 0. */
  messages = 0;
}

export const LOCAL = { sent: 0, live: 1, canceling: 2, done: 3 } as const;
export type LocalState = (typeof LOCAL)[keyof typeof LOCAL];

/** Maximum number of orders that are live or in transit; more orders indicate a bug. */
const ORDERS_MAX = 10_000;

export class OrderPool {
  readonly #free: OwnOrder[] = [];
  #made = 0;
  #ids = 0;

  take(side: SideIndex, place: number, lots: number): OwnOrder {
    let order = this.#free.pop();
    if (order === undefined) {
      if (++this.#made > ORDERS_MAX)
        throw new RangeError(`expected at most ${ORDERS_MAX} orders of the bot at the same time`);
      order = new OwnOrder();
    }
    order.id = ++this.#ids;
    order.side = side;
    order.place = place;
    order.lots = lots;
    order.level = 0;
    order.takes = false;
    order.left = lots;
    order.resting = false;
    order.front = 0;
    order.traded = 0;
    order.joined = 0;
    order.restedAt = 0;
    order.unseen = false;
    order.state = LOCAL.sent;
    order.filled = 0;
    order.messages = 0;
    return order;
  }

  /** Returns an order to the pool. The order must be done, and no message may refer to it. */
  release(order: OwnOrder): void {
    if (order.messages !== 0 || order.resting) throw new Error(`order ${order.id} is released while it is in use`);
    this.#free.push(order);
  }
}

/**
 * Price indices that represent a side without resting orders. They are beyond all prices, even those of quotes far from
 * the market, which may rest outside the window of price indices. They are small integers, because the loop over rows
 * compares with them.
 */
export const NO_BID = -(2 ** 30);
export const NO_ASK = 2 ** 30;

/** Resting orders of one side, by price and then by age. */
export class OwnSide {
  readonly orders: OwnOrder[] = [];
  readonly #at: Uint32Array;
  /** Price index of the best order; NO_BID or NO_ASK if no order rests. */
  best: number;
  readonly #sign: 1 | -1;
  readonly #none: number;

  /** `at` contains the number of resting orders per price index. All owners of this side share the array. */
  constructor(side: SideIndex, at: Uint32Array) {
    this.#sign = side === BUY ? -1 : 1;
    this.#none = side === BUY ? NO_BID : NO_ASK;
    this.best = this.#none;
    this.#at = at;
  }

  add(order: OwnOrder): void {
    const { orders } = this;
    const key = order.place * this.#sign;
    let i = orders.length;
    orders.push(order);
    for (; i > 0 && orders[i - 1]!.place * this.#sign > key; i--) orders[i] = orders[i - 1]!;
    orders[i] = order;
    order.resting = true;
    this.#count(order.place, 1);
  }

  remove(order: OwnOrder): void {
    const { orders } = this;
    const last = orders.length - 1;
    let i = orders.indexOf(order);
    if (i < 0) throw new Error(`order ${order.id} is not resting`);
    for (; i < last; i++) orders[i] = orders[i + 1]!;
    orders.pop();
    order.resting = false;
    this.#count(order.place, -1);
  }

  #count(place: number, change: 1 | -1): void {
    if (place >= 0 && place < this.#at.length) this.#at[place]! += change;
    this.best = this.orders.length === 0 ? this.#none : this.orders[0]!.place;
  }
}
