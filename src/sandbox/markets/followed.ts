/** A market that follows another exchange's: its levels as house orders, and of its executions and moves what a fill model brings to resting orders. */
import { opposite, OrderBook } from '../../core/index.ts';
import type { Amount, Price, Side } from '../../core/index.ts';
import { exactOrders, Sweep } from '../../fills/index.ts';
import type { FillModel, Queued } from '../../fills/index.ts';
import { SyntheticLiquidity } from './syntheticLiquidity.ts';
import type { FollowedPlace } from './market.ts';

export type FollowedCounts = {
  /** Executions of the followed market, and their lots. */
  readonly trades: number;
  readonly lots: number;
  /** Lots of accounts' orders that these executions and the moves of the market filled. */
  readonly filledLots: number;
};

/** Queues of the followed book order by order, where they are known. */
export type FollowedQueues = {
  /** Number of the newest order; null while single orders are not told. */
  arrivals(): number | null;
  /** Lots at a price of the orders that came up to an arrival. */
  lotsUpTo(side: Side, price: Price, arrival: number): number;
};

/** What is known of an execution besides itself. */
export type ExecutionContext = {
  /** What one execution brought us, the next of the same moment has less of at worse prices; without one each stands alone. */
  readonly moment?: number;
  /** It happened at some time after this mark: only orders that were there then can have been reached. */
  readonly mark?: number;
  /** Number of the order that was met; 0 when it is not known any more, absent when it cannot be. */
  readonly maker?: number;
};

/** `joined`: number of the first order that is behind it; Infinity while that is not known. `seen`: for marks. */
type Own = Queued & { readonly id: number; readonly place: Price; joined: number; readonly seen: number };
const byNumber = exactOrders(maker => maker);
const SIDES = ['buy', 'sell'] as const;
const EVERYWHERE: Readonly<Record<Side, number>> = { buy: 0, sell: Infinity };

/**
 * Levels are told with `clear` and `set`, and shown with `flush`; an execution is told before the levels that it changed. Accounts' orders
 * fill by the model alone, never by their turn among the house's: those are for showing, and for orders that take.
 */
export class FollowedMarket {
  readonly #place: FollowedPlace;
  readonly #model: FillModel;
  readonly #house: SyntheticLiquidity;
  readonly #queues: FollowedQueues | null;
  /** Number of the newest order that is shown; null while single orders are not told. */
  #arrivals: number | null = null;
  readonly #sweep = new Sweep();
  /** What was told, and of it what is not shown yet. */
  readonly #told = new OrderBook();
  readonly #shown: Record<Side, Map<Price, number>> = { buy: new Map(), sell: new Map() };
  readonly #touched: Record<Side, Set<Price>> = { buy: new Set(), sell: new Set() };
  /** Levels that are told and cannot be shown, because they lie at or through the other side's best. */
  readonly #hidden: Record<Side, Set<Price>> = { buy: new Set(), sell: new Set() };
  /** Accounts' orders by side, best price first, at one price the oldest first. */
  readonly #own: Record<Side, Own[]> = { buy: [], sell: [] };
  #serial = 0;
  /** Worst prices up to which every level is told. */
  #reach: Readonly<Record<Side, number>> = EVERYWHERE;
  readonly #counts = { trades: 0, lots: 0, filledLots: 0 };
  readonly #fill = ({ id }: Own, lots: number): void => {
    this.#counts.filledLots += lots;
    this.#place.hit(id, lots as Amount);
  };

  /** With `queues`, places and fills are exact while single orders are told, and the model serves while they are not. */
  constructor(place: FollowedPlace, model: FillModel, queues: FollowedQueues | null = null) {
    this.#place = place;
    this.#model = model;
    this.#queues = queues;
    this.#house = new SyntheticLiquidity(place, (side, price, lots) => {
      const before = this.#counts.filledLots;
      const own = this.#own[opposite(side)];
      this.#model.rule.crossed(own, side === 'buy' ? 1 : -1, price, lots, this.#fill);
      this.#dropFilled();
      return this.#counts.filledLots - before;
    });
  }

  /** No level is there any more, but those that are told from here on; beyond `reach` they stay as they were, and are not known. */
  clear(reach: Readonly<Record<Side, number>> = EVERYWHERE): void {
    this.#reach = reach;
    for (const side of SIDES) {
      for (const prices of [this.#shown[side].keys(), this.#hidden[side], [...this.#touched[side]]]) {
        for (const price of prices) if (this.#isKnown(side, price)) this.set(side, price, 0 as Amount);
      }
    }
  }

  /** The whole amount of others now at a price; 0 for none. */
  set(side: Side, price: Price, amount: Amount): void {
    this.#told.set(side, price, amount);
    this.#touched[side].add(price);
  }

  /** Names this moment for `trade`. */
  mark(): number {
    this.#look();
    return this.#serial;
  }

  /** Somebody took so much at a price. */
  trade(
    taker: Side,
    price: Price,
    lots: Amount,
    { mark = Infinity, moment = Number.NaN, maker }: ExecutionContext = {},
  ): void {
    this.#look();
    const side = opposite(taker);
    const before = this.#counts.filledLots;
    const own = this.#own[side].filter(order => order.seen <= mark);
    const sign = side === 'sell' ? 1 : -1;
    const rule = this.#queues === null || maker === undefined ? this.#model.rule : byNumber;
    this.#sweep.begin(moment, sign, price);
    rule.traded(own, sign, price, lots, this.#fill, maker ?? 0, this.#sweep);
    this.#dropFilled();
    this.#counts.trades++;
    this.#counts.lots += lots;
    const rest = lots - (this.#counts.filledLots - before);
    if (rest > 0) this.#house.take(side, price, rest, (id, amount) => this.#place.hit(id, amount));
  }

  /** Shows the levels that were told since the last time. */
  flush(): void {
    this.#look();
    const [bid, ask] = [this.#told.best('buy'), this.#told.best('sell')];
    const crossed = bid > 0 && ask > 0 && bid >= ask;
    this.#arrivals = this.#queues?.arrivals() ?? null;
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
      // Who stood there before an order that came to an unknown level, nobody can tell: all of them, then.
      for (const order of this.#own[side]) if (order.front === Infinity) this.#join(side, order);
      this.#countExactly(side);
    }
    this.#house.grow();
  }

  counts(): FollowedCounts {
    return { ...this.#counts };
  }

  #change(side: Side, price: Price, after: number): void {
    const shown = this.#shown[side];
    const before = shown.get(price) ?? 0;
    if (after > 0) shown.set(price, after);
    else shown.delete(price);
    // A level that stays as it is has not yet told of what was traded there.
    if (after !== before) {
      for (const order of this.#own[side]) {
        if (order.place === price) this.#model.queue.changed(order, before, after, 0);
      }
    }
    this.#house.shrink(side, price, after);
  }

  /** Takes notice of orders that came, changed or left since the last event: until then nothing had happened to the levels. */
  #look(): void {
    for (const side of SIDES) {
      const known = new Map(this.#own[side].map(order => [order.id, order]));
      this.#own[side] = this.#place.accountOrders(side).map(({ id, price, left }) => {
        const order = known.get(id);
        if (order && order.place === price && left <= order.left) {
          order.left = left;
          return order;
        }
        const joined: Own = {
          id,
          place: price,
          left,
          front: 0,
          traded: 0,
          joined: Infinity,
          restedAt: -Infinity,
          seen: ++this.#serial,
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

  /** Once the levels of a step are shown. */
  #countExactly(side: Side): void {
    const arrivals = this.#arrivals;
    if (this.#queues === null || arrivals === null) return;
    for (const order of this.#own[side]) {
      // It came when single orders were not told: who is there now may all be ahead of it.
      if (order.joined === Infinity) order.joined = arrivals + 1;
      order.front = this.#queues.lotsUpTo(side, order.place, order.joined - 1);
      order.traded = 0;
    }
  }

  #isKnown(side: Side, price: Price): boolean {
    return side === 'buy' ? price >= this.#reach.buy : price <= this.#reach.sell;
  }

  #dropFilled(): void {
    for (const side of SIDES) this.#own[side] = this.#own[side].filter(({ left }) => left > 0);
  }
}
