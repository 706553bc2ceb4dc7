/**
 * Market that follows another exchange: its levels become simulator orders, and a fill model decides which resting
 * account orders fill.
 */
import { opposite, OrderBook, type Amount, type Price, type Side } from '../../core/index.ts';
import { exactOrders, Sweep, type FillModel, type Queued } from '../../fills/index.ts';
import { SyntheticLiquidity, type SpentLots } from './syntheticLiquidity.ts';
import type { FollowedPlace, QueuePart } from './market.ts';

export type FollowedCounts = {
  /** Number of executions in the followed market. */
  readonly trades: number;
  /** Total lots of the executions in the followed market. */
  readonly lots: number;
  /** Lots of account orders filled by the followed market. */
  readonly filledLots: number;
};

/** Queues of the followed book, if the exchange publishes individual orders. */
export type FollowedQueues = {
  /** Returns the arrival number of the newest order, or `null` while individual orders are not published. */
  arrivals(): number | null;
  /** Returns the total lots at a price of the orders up to an arrival number. */
  lotsUpTo(side: Side, price: Price, arrival: number): number;
};

/** Data that determine which account orders an execution can fill. */
export type ExecutionContext = {
  /**
   * Number of the taker order. Executions of one taker are one sweep: lots that filled account orders are not available
   * again at worse prices. If not a number, each execution is its own sweep.
   */
  readonly takerNumber: number;
  /**
   * Result of `mark` before the execution. The execution can fill only account orders that existed when `mark` was
   * called.
   */
  readonly mark?: number;
  /** Arrival number of the order that the execution filled; 0 if no longer known, absent if orders are not numbered. */
  readonly maker?: number;
};

/**
 * Account order in the followed market. `joined`: arrival number of the first order behind the account order, Infinity
 * while unknown. `seen`: serial number, which is compared with results of `mark`.
 */
type Own = Queued & {
  readonly id: number;
  readonly oid: string;
  readonly place: Price;
  joined: number;
  readonly seen: number;
  /** Whether `front` was counted order by order in an earlier process, whose arrival numbers are lost. */
  wasCounted: boolean;
};

/** Queue position of an account order, as stored for a later process. */
export type StoredPlace = {
  readonly oid: string;
  readonly place: Price;
  readonly left: number;
  readonly front: number;
  readonly traded: number;
  readonly isCounted: boolean;
};

/** Queue at a price with account orders, or with orders of other traders that account orders once divided. */
export type StoredLevel = {
  readonly side: Side;
  readonly price: Price;
  /** Visible lots of other traders. */
  readonly displayed: number;
  /** All orders, oldest first. */
  readonly queue: readonly QueuePart[];
};

/** Queue positions of account orders, the queues of their levels, and executed lots that are not restored yet. */
export type StoredQueues = {
  readonly levels: readonly StoredLevel[];
  readonly orders: Readonly<Record<Side, readonly StoredPlace[]>>;
  readonly spent: readonly SpentLots[];
};

export type ResumeOptions = {
  /**
   * Enters a resting order of the earlier process in the book. Returns false if the order has ended, did not rest, or
   * is already in the book.
   */
  readonly enter: (oid: string) => boolean;
  /** Whether the market was not followed for so long that orders whose price it has reached count as filled. */
  readonly isUnseen: () => boolean;
  /** Executes the commands of the earlier process that precede the fills of passed orders. */
  readonly executeUnseen: () => void;
  /** Called once, when the first followed book that is not crossed is visible. */
  readonly onShown: () => void;
};
const byNumber = exactOrders(maker => maker);
const SIDES = ['buy', 'sell'] as const;
const EVERYWHERE: Readonly<Record<Side, number>> = { buy: 0, sell: Infinity };
/** Value of `#reach` before the first book: no level is known. */
const UNKNOWN: Readonly<Record<Side, number>> = { buy: Infinity, sell: 0 };

/**
 * Simulated copy of a followed market. `clear` and `set` update levels, and `flush` shows the changes. Report an
 * execution before the levels that it changed. Only the model decides which account orders an execution fills. Their
 * positions in the visible queue matter only for display and for taker orders.
 */
export class FollowedMarket {
  readonly #place: FollowedPlace;
  readonly #model: FillModel;
  readonly #house: SyntheticLiquidity;
  readonly #queues: FollowedQueues | null;
  /** Arrival number of the newest visible order; `null` while individual orders are not published. */
  #arrivals: number | null = null;
  readonly #sweep = new Sweep();
  /** All levels of the followed book as received. */
  readonly #told = new OrderBook();
  /** Visible lots by price. */
  readonly #shown: Record<Side, Map<Price, number>> = { buy: new Map(), sell: new Map() };
  /** Prices whose changes are not visible yet. */
  readonly #touched: Record<Side, Set<Price>> = { buy: new Set(), sell: new Set() };
  /** Received levels that must stay hidden, because they are at or through the best opposite price. */
  readonly #hidden: Record<Side, Set<Price>> = { buy: new Set(), sell: new Set() };
  /** Account orders of each side, best price first, then oldest first. */
  readonly #own: Record<Side, Own[]> = { buy: [], sell: [] };
  #serial = 0;
  /** Limit price on each side: the followed book is complete from the best price to this price. */
  #reach: Readonly<Record<Side, number>> = EVERYWHERE;
  /** Options of `restore` until the first book is visible; `null` afterwards. */
  #resuming: ResumeOptions | null = null;
  /** Serial number of the newest order of an earlier process. */
  #lastRestored = 0;
  readonly #counts = { trades: 0, lots: 0, filledLots: 0 };
  readonly #fill = ({ id }: Own, lots: number): void => {
    this.#counts.filledLots += lots;
    this.#place.hit(id, lots as Amount);
  };

  /**
   * Creates a market that follows another exchange. With `queues`, queue positions and fills are exact while individual
   * orders are published; the model applies at other times.
   */
  constructor(place: FollowedPlace, model: FillModel, queues: FollowedQueues | null = null) {
    this.#place = place;
    this.#model = model;
    this.#queues = queues;
    this.#house = new SyntheticLiquidity(
      place,
      (side, price, lots) => {
        const before = this.#counts.filledLots;
        const own = this.#own[opposite(side)];
        this.#model.rule.crossed(own, side === 'buy' ? 1 : -1, price, lots, this.#fill);
        this.#dropFilled();
        return this.#counts.filledLots - before;
      },
      place,
    );
  }

  /**
   * Removes all levels from the best price to `reach`; later calls of `set` restore the levels that exist. Levels
   * beyond `reach` stay and count as unknown.
   */
  clear(reach: Readonly<Record<Side, number>> = EVERYWHERE): void {
    this.#reach = reach;
    for (const side of SIDES) {
      for (const prices of [this.#shown[side].keys(), this.#hidden[side], [...this.#touched[side]]]) {
        for (const price of prices) if (this.#isKnown(side, price)) this.set(side, price, 0 as Amount);
      }
    }
  }

  /** Sets the total amount of other traders at a price; 0 removes the level. */
  set(side: Side, price: Price, amount: Amount): void {
    this.#told.set(side, price, amount);
    this.#touched[side].add(price);
  }

  /**
   * Returns the serial number of the newest account order. If `trade` receives this number, it ignores account orders
   * that arrive later.
   */
  mark(): number {
    this.#look();
    return this.#serial;
  }

  /** Applies an execution of the followed market by a taker at a price. */
  trade(
    taker: Side,
    price: Price,
    lots: Amount,
    { takerNumber, mark = Infinity, maker }: ExecutionContext = { takerNumber: Number.NaN },
  ): void {
    this.#look();
    const side = opposite(taker);
    const before = this.#counts.filledLots;
    const own = this.#own[side].filter(order => order.seen <= mark);
    const sign = side === 'sell' ? 1 : -1;
    const rule = this.#queues === null || maker === undefined ? this.#model.rule : byNumber;
    this.#sweep.begin(takerNumber, sign, price);
    rule.traded(own, sign, price, lots, this.#fill, maker ?? 0, this.#sweep);
    this.#dropFilled();
    this.#counts.trades++;
    this.#counts.lots += lots;
    const rest = lots - (this.#counts.filledLots - before);
    if (rest > 0) this.#house.take(side, price, rest, (id, amount) => this.#place.hit(id, amount));
  }

  /** Makes the levels received since the last flush visible in the simulated book. */
  flush(): void {
    this.#look();
    const [bid, ask] = [this.#told.best('buy'), this.#told.best('sell')];
    const crossed = bid > 0 && ask > 0 && bid >= ask;
    this.#arrivals = this.#queues?.arrivals() ?? null;
    // The first complete book starts with a call of `clear`. A crossed book does not show which orders it has passed.
    const resuming = this.#reach === UNKNOWN || crossed ? null : this.#resuming;
    if (resuming?.isUnseen() === true) {
      const before = this.#serial;
      resuming.executeUnseen();
      this.#look();
      // The queue of an order that was entered unseen is unknown, so all orders of its level count as ahead.
      for (const side of SIDES) for (const order of this.#own[side]) if (order.seen > before) order.front = Infinity;
      this.#fillPassed({ buy: ask, sell: bid }, ({ seen }) => seen <= this.#lastRestored || seen > before);
    }
    for (const side of SIDES) {
      for (const price of crossed ? this.#shown[side].keys() : []) this.#touched[side].add(price);
      for (const price of this.#hidden[side]) this.#touched[side].add(price);
      this.#hidden[side].clear();
      for (const price of this.#touched[side]) {
        const hides = crossed && (side === 'buy' ? price >= ask : price <= bid);
        if (hides) this.#hidden[side].add(price);
        this.#change(side, price, hides ? 0 : this.#told.amountAt(side, price));
      }
      this.#touched[side].clear();
      // An order at an unknown level has an unknown queue, so all orders of the level count as ahead.
      for (const order of this.#own[side]) if (order.front === Infinity) this.#join(side, order);
      this.#countExactly(side);
    }
    this.#house.grow();
    if (resuming === null) return;
    this.#resuming = null;
    resuming.onShown();
  }

  /** Returns the queue positions, to store for a later process. */
  stored(): StoredQueues {
    this.#look();
    const placesOf = (side: Side) =>
      this.#own[side].map(({ oid, place, left, front, traded, joined, wasCounted }) => ({
        ...{ oid, place, left, front, traded },
        isCounted: wasCounted || joined !== Infinity,
      }));
    const levels = SIDES.flatMap(side => {
      const prices = new Set([...this.#own[side].map(({ place }) => place), ...this.#house.splitPrices(side)]);
      return [...prices]
        .sort((a, b) => a - b)
        .map(price => ({
          ...{ side, price, displayed: this.#shown[side].get(price) ?? 0 },
          queue: this.#place.queueAt(side, price),
        }));
    });
    return { levels, orders: { buy: placesOf('buy'), sell: placesOf('sell') }, spent: this.#house.spent() };
  }

  /**
   * Continues with the orders and queue positions of an earlier process. Must be called before the first level. An
   * order without a stored position is assumed to be last in its queue. `resting` has the oids of all resting orders,
   * oldest first.
   */
  restore({ levels, orders, spent }: StoredQueues, resting: readonly string[], options: ResumeOptions): void {
    this.#reach = UNKNOWN;
    this.#resuming = options;
    for (const level of levels) this.#enterQueue(level, options);
    for (const side of SIDES) {
      const own = new Map(this.#place.accountOrders(side).map(order => [order.oid, order]));
      this.#own[side] = orders[side].flatMap(({ oid, place, front, traded, isCounted }) => {
        const entered = own.get(oid);
        if (entered === undefined) return [];
        const { id, left } = entered;
        const seen = ++this.#serial;
        return {
          ...{ id, oid, place, left, front, traded, seen, joined: Infinity },
          ...{ restedAt: -Infinity, wasCounted: isCounted },
        };
      });
    }
    // An order that is already in the book does not enter again.
    for (const oid of resting) options.enter(oid);
    this.#look();
    this.#lastRestored = this.#serial;
    for (const of of spent) {
      this.#house.restoreSpent(of);
      this.#touched[of.side].add(of.price);
    }
  }

  /** Whether the orders of an earlier process still wait for the first book that is not crossed. */
  get isResuming(): boolean {
    return this.#resuming !== null;
  }

  counts(): FollowedCounts {
    return { ...this.#counts };
  }

  #change(side: Side, price: Price, after: number): void {
    const shown = this.#shown[side];
    const before = shown.get(price) ?? 0;
    if (after > 0) shown.set(price, after);
    else shown.delete(price);
    // If the amount of a level has not changed, the followed book does not show its latest trades yet, so the queues
    // remain as they are.
    if (after !== before) {
      for (const order of this.#own[side]) {
        if (order.place === price) this.#model.queue.changed(order, before, after, 0);
      }
    }
    this.#house.shrink(side, price, after);
  }

  /**
   * Detects account orders that were placed, changed or removed since the last event. Must be called before the next
   * event changes the levels.
   */
  #look(): void {
    for (const side of SIDES) {
      const known = new Map(this.#own[side].map(order => [order.id, order]));
      this.#own[side] = this.#place.accountOrders(side).map(({ id, oid, price, left }) => {
        const order = known.get(id);
        if (order && order.place === price && left <= order.left) {
          order.left = left;
          return order;
        }
        const joined: Own = {
          id,
          oid,
          place: price,
          left,
          front: 0,
          traded: 0,
          joined: Infinity,
          restedAt: -Infinity,
          seen: ++this.#serial,
          wasCounted: false,
        };
        this.#join(side, joined);
        return joined;
      });
    }
  }

  #join(side: Side, order: Own): void {
    order.joined = this.#arrivals === null ? Infinity : this.#arrivals + 1;
    const displayed = this.#shown[side].get(order.place) ?? 0;
    this.#model.queue.joined(order, this.#isKnown(side, order.place) ? displayed : Infinity);
  }

  /** Sets exact queue positions once the levels of a book update are visible. */
  #countExactly(side: Side): void {
    const arrivals = this.#arrivals;
    if (this.#queues === null || arrivals === null) return;
    for (const order of this.#own[side]) {
      // The order was placed while individual orders were not published, so all current orders may be ahead.
      if (order.joined === Infinity)
        order.joined = 1 + (order.wasCounted ? this.#arrivalAhead(side, order, arrivals) : arrivals);
      order.wasCounted = false;
      order.front = this.#queues.lotsUpTo(side, order.place, order.joined - 1);
      order.traded = 0;
    }
  }

  /** Returns the smallest arrival number up to which at least the lots ahead of the order have arrived at its price. */
  #arrivalAhead(side: Side, { place, front }: Own, arrivals: number): number {
    let [low, high] = [0, arrivals];
    while (low < high) {
      const pivot = Math.floor((low + high) / 2);
      if (this.#queues!.lotsUpTo(side, place, pivot) >= front) high = pivot;
      else low = pivot + 1;
    }
    return low;
  }

  /** Enters the stored orders at a price, oldest first. */
  #enterQueue({ side, price, displayed, queue }: StoredLevel, { enter }: ResumeOptions): void {
    for (const part of queue) {
      if (typeof part === 'string') enter(part);
      else this.#house.restoreOrder(side, price, part);
    }
    this.set(side, price, displayed as Amount);
    if (displayed > 0) this.#shown[side].set(price, displayed);
  }

  /**
   * Completely fills each chosen order whose price the market has reached or passed. `best` has the best opposite price
   * for each side of the orders. `isChosen` is true only for orders of an earlier process: orders that were placed
   * since then are not filled.
   */
  #fillPassed(best: Readonly<Record<Side, Price>>, isChosen: (order: Own) => boolean): void {
    for (const side of SIDES) {
      const limit = best[side];
      for (const order of this.#own[side]) {
        if (limit === 0 || (side === 'buy' ? limit > order.place : limit < order.place)) break;
        if (!isChosen(order)) continue;
        const lots = order.left;
        order.left = 0;
        this.#fill(order, lots);
      }
    }
    this.#dropFilled();
  }

  #isKnown(side: Side, price: Price): boolean {
    return side === 'buy' ? price >= this.#reach.buy : price <= this.#reach.sell;
  }

  #dropFilled(): void {
    for (const side of SIDES) this.#own[side] = this.#own[side].filter(({ left }) => left > 0);
  }
}
