/** A plain price-time exchange for tests of markets: slow and obvious, with user orders beside the house's. */
import {
  opposite,
  type Amount,
  type Clock,
  type Instrument,
  type Price,
  type Random,
  type Side,
} from '../../../src/core/index.ts';
import type { FollowedPlace, MarketFeed, Marketplace } from '../../../src/sandbox/markets/market.ts';

type Resting = { id: number; owner: string; side: Side; price: Price; left: number; at: number };
export type Fill = {
  readonly at: number;
  readonly price: Price;
  readonly amount: number;
  readonly takerSide: Side;
  readonly maker: string;
  readonly taker: string;
};

export class ReferenceMarketplace implements FollowedPlace {
  readonly instrument: Instrument;
  readonly clock: Clock;
  readonly random: Random;
  readonly feed: MarketFeed = { delayMs: 0, silentUntil: -Infinity, isWithheld: false };
  /** Best first, then oldest first. */
  readonly book: Record<Side, Resting[]> = { buy: [], sell: [] };
  /** Called with every execution, after the books changed. */
  onFill: (fill: Fill) => void = () => undefined;
  /** Called when everybody's amount at a price has changed. */
  onLevel: (side: Side, price: Price, amount: number) => void = () => undefined;
  #watchers: Parameters<Marketplace['onSyntheticFill']>[0][] = [];
  #nextId = 1;

  constructor(instrument: Instrument, clock: Clock, random: Random) {
    this.instrument = instrument;
    this.clock = clock;
    this.random = random;
  }

  place(side: Side, price: Price, amount: Amount, timeInForce: 'GTC' | 'IOC') {
    return this.placeFor('house', side, price, amount, timeInForce);
  }

  placeFor(owner: string, side: Side, price: Price, amount: number, timeInForce: 'GTC' | 'IOC') {
    if (!(Number.isSafeInteger(price) && price > 0 && Number.isSafeInteger(amount) && amount > 0)) {
      throw new RangeError(`order of ${amount} at ${price}`);
    }
    const id = this.#nextId++;
    const against = this.book[opposite(side)];
    let left = amount;
    while (left > 0) {
      const best = against[0];
      if (!best || (side === 'buy' ? best.price > price : best.price < price)) break;
      if (owner === 'house' && best.owner === 'house' && timeInForce === 'GTC')
        throw new Error('the house quotes against itself');
      const traded = Math.min(left, best.left);
      left -= traded;
      best.left -= traded;
      if (best.left === 0) against.shift();
      if (best.owner === 'house') this.#tell(best.id, best.side, best.price, traded, true);
      if (owner === 'house') this.#tell(id, side, best.price, traded, false);
      this.onLevel(best.side, best.price, this.amountAt(best.side, best.price));
      this.onFill({
        at: this.clock.elapsed(),
        price: best.price,
        amount: traded,
        takerSide: side,
        maker: best.owner,
        taker: owner,
      });
    }
    const rested = timeInForce === 'GTC' ? left : 0;
    if (rested > 0) {
      const own = this.book[side];
      const behind = own.findIndex(order => (side === 'buy' ? order.price < price : order.price > price));
      own.splice(behind < 0 ? own.length : behind, 0, { id, owner, side, price, left: rested, at: this.clock.now() });
      this.onLevel(side, price, this.amountAt(side, price));
    }
    return { id, traded: (amount - left) as Amount, rested: rested as Amount };
  }

  /** Whoever came too late is out of the book for the length of one match. */
  takeStanding(side: Side, price: Price, amount: Amount, since: number): Amount {
    const against = opposite(side);
    const late = this.book[against].filter(order => order.owner !== 'house' && order.at >= since);
    this.book[against] = this.book[against].filter(order => !late.includes(order));
    const { traded } = this.place(side, price, amount, 'IOC');
    const sign = side === 'buy' ? 1 : -1;
    this.book[against] = [...this.book[against], ...late].sort((a, b) => (a.price - b.price) * sign || a.id - b.id);
    return traded;
  }

  cancel(id: number): Amount {
    return this.#reduce(id, Number.MAX_SAFE_INTEGER).taken as Amount;
  }

  /** Returns what is left, as the exchange does. */
  reduce(id: number, by: Amount): Amount {
    return this.#reduce(id, by).left as Amount;
  }

  #reduce(id: number, by: number): { taken: number; left: number } {
    for (const side of ['buy', 'sell'] as const) {
      const index = this.book[side].findIndex(order => order.id === id);
      const order = this.book[side][index];
      if (!order) continue;
      const taken = Math.min(by, order.left);
      order.left -= taken;
      if (order.left === 0) this.book[side].splice(index, 1);
      this.onLevel(side, order.price, this.amountAt(side, order.price));
      return { taken, left: order.left };
    }
    return { taken: 0, left: 0 };
  }

  bestBid(): Price {
    return this.book.buy[0]?.price ?? (0 as Price);
  }

  bestAsk(): Price {
    return this.book.sell[0]?.price ?? (0 as Price);
  }

  amountAt(side: Side, price: Price): Amount {
    return this.#sum(side, price, () => true) as Amount;
  }

  amountOf(owner: string, side: Side, price: Price): number {
    return this.#sum(side, price, order => order.owner === owner);
  }

  accountOrders(side: Side) {
    const orders = this.book[side].filter(({ owner }) => owner !== 'house');
    return orders.map(({ id, price, left, at }) => ({ id, oid: String(id), price, left: left as Amount, at }));
  }

  queueAt(side: Side, price: Price) {
    const queue = this.book[side].filter(order => order.price === price);
    return queue.map(({ id, owner, left }) => (owner === 'house' ? (left as Amount) : String(id)));
  }

  enlarge(id: number, by: Amount): void {
    const order = [...this.book.buy, ...this.book.sell].find(one => one.id === id)!;
    order.left += by;
    this.onLevel(order.side, order.price, this.amountAt(order.side, order.price));
  }

  isLast(id: number): boolean {
    const order = [...this.book.buy, ...this.book.sell].find(one => one.id === id);
    return order !== undefined && this.book[order.side].findLast(({ price }) => price === order.price) === order;
  }

  /** Alone in the book for the length of one match. */
  hit(id: number, amount: Amount): void {
    const side = this.book.buy.some(order => order.id === id) ? 'buy' : 'sell';
    const all = this.book[side];
    const order = all.find(one => one.id === id);
    if (!order || order.left < amount) throw new RangeError(`order ${id} cannot fill ${amount}`);
    this.book[side] = [order];
    this.place(opposite(side), order.price, amount, 'IOC');
    this.book[side] = all.filter(({ left }) => left > 0);
  }

  /** Nobody but the test cancels here. */
  onCancel(): void {
    return;
  }

  onSyntheticFill(call: Parameters<Marketplace['onSyntheticFill']>[0]): void {
    this.#watchers.push(call);
  }

  #sum(side: Side, price: Price, test: (order: Resting) => boolean): number {
    return this.book[side].reduce((sum, order) => (order.price === price && test(order) ? sum + order.left : sum), 0);
  }

  #tell(id: number, side: Side, price: Price, amount: number, maker: boolean): void {
    for (const watcher of this.#watchers) watcher(id, side, price, amount as Amount, maker);
  }
}
