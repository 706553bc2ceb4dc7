/**
 * Synthetic liquidity: simulator orders that keep the amount at each price at a target, without changing the queue
 * positions of other orders.
 */
import { counted, type Amount, type Price, type Side } from '../../core/index.ts';
import type { FollowedPlace, Marketplace } from './market.ts';

type SyntheticOrder = { readonly id: number; left: number };
type Level = {
  readonly side: Side;
  readonly price: Price;
  /** Orders in time priority, oldest first. */
  readonly orders: SyntheticOrder[];
  total: number;
  wanted: number;
  /**
   * Lots executed since the level last had its target amount. These lots are not restored while an opposite order
   * blocks the level.
   */
  spent: number;
};

/** Lots of a level that were executed and are not restored yet. */
export type SpentLots = { readonly side: Side; readonly price: Price; readonly lots: number };

/** Called for lots placed at a price that crosses account orders. Returns the lots that these account orders took. */
export type Crossing = (side: Side, price: Price, lots: Amount) => number;

/** Operations on the queues of a book. In a queue, account orders can be between the simulator orders of a price. */
export type DividedQueues = Pick<FollowedPlace, 'isLast' | 'queueAt' | 'enlarge'>;

/**
 * Maximum number of orders at a price. At this number, added lots are merged with the youngest order into a new order,
 * if all orders at the price are the simulator's.
 */
const ORDERS_AT_PRICE = 8;

/**
 * Simulator orders of each level. Added lots become a new order at the end of the queue. Removed lots come from the
 * youngest orders first, so an account order's queue position advances only by executions.
 */
export class SyntheticLiquidity {
  readonly #place: Marketplace;
  readonly #levels: Record<Side, Map<Price, Level>> = { buy: new Map(), sell: new Map() };
  readonly #orders = new Map<number, { readonly order: SyntheticOrder; readonly level: Level }>();
  /** Levels below their target amount. */
  readonly #short = new Set<Level>();
  /** Levels below their target amount that cannot be refilled now, because an opposite order is in the way. */
  readonly #blocked = new Set<Level>();
  /** Levels with several orders. */
  readonly #split = new Set<Level>();
  readonly #crossing: Crossing | undefined;
  readonly #queues: DividedQueues | undefined;

  /**
   * `crossing` is called when an opposite order blocks a level to restore. The call fills the crossed account orders
   * and returns the lots that these orders took. If omitted, the matching engine matches the crossed orders. With
   * `queues`, only account orders divide the lots of a level: added lots join the youngest order if it is the last
   * order at the price, and neighboring orders are merged if no account order remains between them.
   */
  constructor(place: Marketplace, crossing?: Crossing, queues?: DividedQueues) {
    this.#place = place;
    this.#crossing = crossing;
    this.#queues = queues;
    place.onSyntheticFill((id, _side, _price, amount, maker) => {
      if (maker) this.#filled(id, amount);
    });
  }

  /** Number of simulator orders in the book. */
  get size(): number {
    return this.#orders.size;
  }

  amountAt(side: Side, price: Price): number {
    return this.#levels[side].get(price)?.total ?? 0;
  }

  /** Returns the prices of a side at which the simulator has several orders. */
  splitPrices(side: Side): readonly Price[] {
    return [...this.#split].flatMap(level => (level.side === side ? [level.price] : []));
  }

  /**
   * Places an order of an earlier process, behind the orders that are already at the price. Must be called before the
   * level gets its target amount.
   */
  restoreOrder(side: Side, price: Price, lots: Amount): void {
    const level = this.#levelAt(side, price) ?? this.#open(side, price, 0);
    level.wanted += lots;
    const { id, rested } = this.#place.place(side, price, lots, 'GTC');
    this.#add(level, id, rested);
  }

  /** Returns the lots of each level that were executed since the level last had its target amount, if any. */
  spent(): readonly SpentLots[] {
    return [...this.#short].flatMap(({ side, price, spent }) => (spent > 0 ? [{ side, price, lots: spent }] : []));
  }

  /** Restores lots that `spent` returned in an earlier process, at a level whose target amount is set next. */
  restoreSpent({ side, price, lots }: SpentLots): void {
    const level = this.#levelAt(side, price) ?? this.#open(side, price, 0);
    level.spent = lots;
    this.#short.add(level);
  }

  isEmpty(side: Side): boolean {
    for (const level of this.#levels[side].values()) if (level.total > 0) return false;
    return true;
  }

  prices(side: Side): Price[] {
    return [...this.#levels[side].keys()];
  }

  /**
   * Removes the amount above `wanted`, the target that `grow` restores. Must be called for all levels before any level
   * grows.
   */
  shrink(side: Side, price: Price, wanted: number): void {
    const level = this.#levelAt(side, price);
    if (!level) {
      if (wanted > 0) this.#short.add(this.#open(side, price, wanted));
      return;
    }
    level.wanted = wanted;
    level.spent = Math.min(level.spent, wanted);
    for (let over = level.total - wanted; over > 0; over = level.total - wanted) {
      const last = level.orders.at(-1);
      if (!last) throw new Error(`simulator level ${side} ${price} has ${counted(level.total, 'lot')}, but no order`);
      if (last.left <= over) this.#checkTaken(level, last, last.left, this.#place.cancel(last.id));
      else this.#checkTaken(level, last, over, (last.left - this.#place.reduce(last.id, over as Amount)) as Amount);
    }
    if (level.total < wanted) this.#short.add(level);
    else this.#settle(level);
  }

  /**
   * Restores each level that has less than its target amount, best price first. While an opposite order at or beyond
   * the level's price blocks the level, only lots that were not executed since the last full restore are placed.
   */
  grow(): void {
    for (const level of [...this.#split]) this.#mergeUndivided(level);
    if (this.#short.size === 0) return;
    const levels = [...this.#short].sort((a, b) => (a.side === 'buy' ? b.price - a.price : a.price - b.price));
    for (const level of levels) this.#growOne(level);
  }

  /** Restores the levels that an opposite order blocked and no order blocks now. Must be called outside of matches. */
  regrow(): void {
    if (this.#blocked.size === 0) return;
    for (const level of [...this.#blocked]) {
      if (!this.#isBlocked(level)) this.#growOne(level);
    }
  }

  /** Cancels all simulator orders. */
  clear(): void {
    for (const id of this.#orders.keys()) this.#place.cancel(id);
    this.#orders.clear();
    this.#levels.buy.clear();
    this.#levels.sell.clear();
    this.#short.clear();
    this.#blocked.clear();
    this.#split.clear();
  }

  /** Executes up to `lots` at a price through `hit`, oldest order first. Returns the lots that were not available. */
  take(side: Side, price: Price, lots: number, hit: (id: number, amount: Amount) => void): number {
    const orders = this.#levelAt(side, price)?.orders ?? [];
    let rest = lots;
    for (let oldest = orders[0]; oldest && rest > 0; oldest = orders[0]) {
      const amount = Math.min(rest, oldest.left);
      hit(oldest.id, amount as Amount);
      rest -= amount;
    }
    return rest;
  }

  #levelAt(side: Side, price: Price): Level | undefined {
    return this.#levels[side].get(price);
  }

  #open(side: Side, price: Price, wanted: number): Level {
    const level: Level = { side, price, orders: [], total: 0, wanted, spent: 0 };
    this.#levels[side].set(price, level);
    return level;
  }

  #growOne(level: Level): void {
    const { side, price } = level;
    const blocked = this.#isBlocked(level);
    if (blocked) this.#blocked.add(level);
    else {
      this.#blocked.delete(level);
      level.spent = 0;
    }
    let missing = level.wanted - level.total - level.spent;
    let matches = true;
    if (missing > 0 && blocked && this.#crossing) {
      const taken = Math.min(missing, this.#crossing(side, price, missing as Amount));
      level.spent += taken;
      missing -= taken;
      matches = !this.#isBlocked(level);
    }
    if (missing > 0 && matches) {
      const merged = this.#youngestToMerge(level);
      if (merged) {
        missing += merged.left;
        this.#checkTaken(level, merged, merged.left, this.#place.cancel(merged.id));
      }
      const result = this.#place.place(side, price, missing as Amount, 'GTC');
      level.spent += blocked ? result.traded : 0;
      if (result.rested > 0) this.#add(level, result.id, result.rested);
    }
    if (level.total === level.wanted) this.#settle(level);
  }

  /**
   * Merges orders of a level with no account order between them. Otherwise, the number of simulator orders would grow
   * without limit at a price with changing account orders.
   */
  #mergeUndivided(level: Level): void {
    if (!this.#queues) return;
    let older: SyntheticOrder | undefined;
    let next = 0;
    for (const part of this.#queues.queueAt(level.side, level.price)) {
      const order = typeof part === 'string' ? undefined : level.orders[next];
      if (older && order) {
        const lots = order.left as Amount;
        this.#checkTaken(level, order, lots, this.#place.cancel(order.id));
        this.#queues.enlarge(older.id, lots);
        older.left += lots;
        level.total += lots;
        continue;
      }
      older = order;
      if (order) next++;
    }
  }

  #isBlocked({ side, price }: Level): boolean {
    const best = side === 'buy' ? this.#place.bestAsk() : this.#place.bestBid();
    return best > 0 && (side === 'buy' ? best <= price : best >= price);
  }

  #add(level: Level, id: number, lots: Amount): void {
    const order = { id, left: lots };
    level.orders.push(order);
    level.total += lots;
    this.#orders.set(id, { order, level });
    if (level.orders.length > 1) this.#split.add(level);
  }

  /**
   * Returns the youngest order if added lots can join it, because no account order is behind it; `undefined` if they
   * cannot.
   */
  #youngestToMerge(level: Level): SyntheticOrder | undefined {
    const youngest = level.orders.at(-1);
    if (this.#queues) return youngest && this.#queues.isLast(youngest.id) ? youngest : undefined;
    if (level.orders.length < ORDERS_AT_PRICE) return undefined;
    return this.#place.amountAt(level.side, level.price) === level.total ? youngest : undefined;
  }

  #settle(level: Level): void {
    level.spent = 0;
    this.#short.delete(level);
    this.#blocked.delete(level);
    if (level.wanted === 0) this.#levels[level.side].delete(level.price);
  }

  #filled(id: number, amount: number): void {
    const known = this.#orders.get(id);
    if (!known) return;
    known.level.spent += amount;
    this.#take(known.level, known.order, amount);
    this.#short.add(known.level);
  }

  /** Throws if the lots taken from the book differ from the recorded lots of the order. */
  #checkTaken(level: Level, order: SyntheticOrder, expected: number, took: Amount): void {
    if (took !== expected)
      throw new Error(`simulator order ${order.id}: expected to remove ${counted(expected, 'lot')}, removed ${took}`);
    this.#take(level, order, took);
  }

  #take(level: Level, order: SyntheticOrder, amount: number): void {
    level.total -= amount;
    order.left -= amount;
    if (order.left > 0) return;
    level.orders.splice(level.orders.indexOf(order), 1);
    if (level.orders.length < 2) this.#split.delete(level);
    this.#orders.delete(order.id);
  }
}
