/** Our orders inside a replay: pooled objects of one shape, and a side's resting ones in the order in which they are met. */
import { BUY } from '../rows/rows.ts';
import type { SideIndex } from '../rows/rows.ts';

/** What each of the two ends thinks of an order; both live in one object, and each end writes only its own part. */
export class OwnOrder {
  /** Whole number above 0; new for every order, also when the object is used again. */
  id = 0;
  side: SideIndex = BUY;
  place = 0;
  lots = 0;
  /** Which of the strategy's levels it was placed for, 0 the first. */
  level = 0;
  /** It takes liquidity at once, and never rests. */
  takes = false;

  // The exchange's part.
  left = 0;
  resting = false;
  /** Estimated lots of others ahead of it. */
  front = 0;
  /** Lots traded at its price since the level last changed: that change will tell of them a second time. */
  traded = 0;
  /** First row that is not yet in the queue it joined. */
  joined = 0;
  /** When it came to rest. */
  restedAt = 0;
  /** The recording has not told of its place since it came. */
  unseen = false;

  // Our part.
  state: LocalState = LOCAL.sent;
  filled = 0;
  /** Messages on their way that name it; while there are any the object is not used again. */
  messages = 0;
}

export const LOCAL = { sent: 0, live: 1, canceling: 2, done: 3 } as const;
export type LocalState = (typeof LOCAL)[keyof typeof LOCAL];

/** Orders that may be under way or live at once; more is a broken belief about our own code. */
const ORDERS_MAX = 10_000;

export class OrderPool {
  readonly #free: OwnOrder[] = [];
  #made = 0;
  #ids = 0;

  take(side: SideIndex, place: number, lots: number): OwnOrder {
    let order = this.#free.pop();
    if (order === undefined) {
      if (++this.#made > ORDERS_MAX) throw new RangeError(`more than ${ORDERS_MAX} orders at once`);
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

  /** To be called by our end when an order is done and no message names it. */
  release(order: OwnOrder): void {
    if (order.messages !== 0 || order.resting) throw new Error(`order ${order.id} is released while it is in use`);
    this.#free.push(order);
  }
}

/** Places where no order rests: nothing reaches them, and they are small integers, which the loop over rows compares with. A quote far from the market may rest outside the window of places. */
export const NO_BID = -(2 ** 30);
export const NO_ASK = 2 ** 30;

/** The resting orders of one side, best price first and at one price the oldest first. */
export class OwnSide {
  readonly orders: OwnOrder[] = [];
  readonly #at: Uint32Array;
  /** Place of the best; NO_BID or NO_ASK where none rests. */
  best: number;
  readonly #sign: 1 | -1;
  readonly #none: number;

  /** `at`: how many rest at a place, of this side of everybody who keeps count there. */
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
