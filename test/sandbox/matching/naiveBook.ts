/** A book so plain that it is right at first sight: two lists in price-time order. The fast one is checked against it. */
import type { Side } from '../../../src/core/index.ts';
import type { EngineTimeInForce, SelfTrade } from '../../../src/sandbox/matching/matching.ts';

export type NaiveOrder = {
  readonly name: number;
  readonly side: Side;
  readonly price: number;
  left: number;
  readonly owner: number;
};
export type NaiveFill = { maker: number; taker: number; price: number; amount: number; makerLeft: number };

export class NaiveBook {
  /** Orders of each side, best price first; of one price the oldest first. */
  readonly sides: Readonly<Record<Side, NaiveOrder[]>> = { buy: [], sell: [] };
  fills: NaiveFill[] = [];
  prevented: number[] = [];
  /** Number of calls that changed the book. */
  sequence = 0;
  selfTrade: SelfTrade = 'allow';

  get size(): number {
    return this.sides.buy.length + this.sides.sell.length;
  }

  place(name: number, side: Side, price: number, amount: number, timeInForce: EngineTimeInForce, owner: number): void {
    if (this.#enter(name, side, price, amount, timeInForce, owner)) this.sequence++;
  }

  take(name: number, side: Side, limit: number, amount: number, budget: bigint | null, owner: number): void {
    if (this.#match(name, side, limit, amount, budget, owner).changed) this.sequence++;
  }

  cancel(name: number): number {
    const order = this.find(name);
    if (!order) return 0;
    this.#remove(order);
    this.sequence++;
    return order.left;
  }

  reduce(name: number, by: number): number {
    const order = this.find(name);
    if (!order) return 0;
    order.left = Math.max(0, order.left - by);
    if (order.left === 0) this.#remove(order);
    this.sequence++;
    return order.left;
  }

  modify(name: number, price: number, amount: number, timeInForce: EngineTimeInForce): boolean {
    const order = this.find(name);
    if (!order) return false;
    this.cancel(name);
    this.place(name, order.side, price, amount, timeInForce, order.owner);
    return true;
  }

  find(name: number): NaiveOrder | undefined {
    return this.sides.buy.find(order => order.name === name) ?? this.sides.sell.find(order => order.name === name);
  }

  /** Returns whether the book has changed. */
  #enter(
    name: number,
    side: Side,
    price: number,
    amount: number,
    timeInForce: EngineTimeInForce,
    owner: number,
  ): boolean {
    const reachable = this.#reachable(side, price);
    if (timeInForce === 'postOnly' && reachable.length > 0) return false;
    if (timeInForce === 'FOK') {
      let covered = 0;
      for (const maker of reachable) {
        if (covered >= amount) break;
        const own = owner !== 0 && maker.owner === owner;
        if (own && this.selfTrade === 'drop-new') break;
        if (!(own && this.selfTrade === 'remove-old')) covered += maker.left;
      }
      if (covered < amount) return false;
    }
    const { left, dropped, changed } = this.#match(name, side, price, amount, null, owner);
    if (left === 0 || dropped || !(timeInForce === 'GTC' || timeInForce === 'postOnly')) return changed;
    const orders = this.sides[side];
    const worse = orders.findIndex(order => (side === 'buy' ? order.price < price : order.price > price));
    orders.splice(worse < 0 ? orders.length : worse, 0, { name, side, price, left, owner });
    return true;
  }

  #match(name: number, side: Side, limit: number, amount: number, budget: bigint | null, owner: number) {
    let left = amount;
    let changed = false;
    for (const maker of this.#reachable(side, limit)) {
      if (left === 0) break;
      if (owner !== 0 && maker.owner === owner && this.selfTrade !== 'allow') {
        if (this.selfTrade === 'drop-new') return { left, dropped: true, changed };
        this.prevented.push(maker.name);
        this.#remove(maker);
        changed = true;
        continue;
      }
      let traded = Math.min(left, maker.left);
      let isSpent = false;
      if (budget !== null) {
        const affordable = budget / BigInt(maker.price);
        isSpent = affordable < BigInt(traded);
        if (isSpent) traded = Number(affordable);
        if (traded === 0) break;
        budget -= BigInt(maker.price) * BigInt(traded);
      }
      left -= traded;
      maker.left -= traded;
      changed = true;
      this.fills.push({ maker: maker.name, taker: name, price: maker.price, amount: traded, makerLeft: maker.left });
      if (maker.left === 0) this.#remove(maker);
      if (isSpent) break;
    }
    return { left, dropped: false, changed };
  }

  /** Orders of the other side at this price or better, in price-time order. */
  #reachable(side: Side, price: number): NaiveOrder[] {
    return side === 'buy'
      ? this.sides.sell.filter(order => order.price <= price)
      : this.sides.buy.filter(order => order.price >= price);
  }

  #remove(order: NaiveOrder): void {
    const orders = this.sides[order.side];
    orders.splice(orders.indexOf(order), 1);
  }
}
