/** A book so plain that it is right at first sight: one array, sorted whenever it matters. The fast one is checked against it. */
import type { Side } from '../../../src/core/index.ts';
import type { EngineTimeInForce, SelfTrade } from '../../../src/sandbox/matching/matching.ts';

export type NaiveOrder = { name: number; side: Side; price: number; left: number; owner: number; turn: number };
export type NaiveFill = { maker: number; taker: number; price: number; amount: number; makerLeft: number };

export class NaiveBook {
  orders: NaiveOrder[] = [];
  fills: NaiveFill[] = [];
  prevented: number[] = [];
  sequence = 0;
  selfTrade: SelfTrade = 'allow';
  #turn = 0;

  side(side: Side): NaiveOrder[] {
    const better = (a: NaiveOrder, b: NaiveOrder) => (side === 'buy' ? b.price - a.price : a.price - b.price);
    return this.orders.filter(o => o.side === side).sort((a, b) => better(a, b) || a.turn - b.turn);
  }

  place(name: number, side: Side, price: number, amount: number, timeInForce: EngineTimeInForce, owner: number): void {
    if (this.#enter(name, side, price, amount, timeInForce, owner)) this.sequence++;
  }

  take(name: number, side: Side, limit: number, amount: number, budget: bigint | null, owner: number): void {
    const before = JSON.stringify(this.orders);
    this.#match(name, side, limit, amount, budget, owner);
    if (JSON.stringify(this.orders) !== before) this.sequence++;
  }

  cancel(name: number): number {
    const order = this.orders.find(o => o.name === name);
    if (!order) return 0;
    this.orders = this.orders.filter(o => o !== order);
    this.sequence++;
    return order.left;
  }

  reduce(name: number, by: number): number {
    const order = this.orders.find(o => o.name === name);
    if (!order) return 0;
    this.sequence++;
    order.left = Math.max(0, order.left - by);
    this.orders = this.orders.filter(o => o.left > 0);
    return order.left;
  }

  modify(name: number, price: number, amount: number, timeInForce: EngineTimeInForce): boolean {
    const order = this.orders.find(o => o.name === name);
    if (!order) return false;
    this.cancel(name);
    this.place(name, order.side, price, amount, timeInForce, order.owner);
    return true;
  }

  #enter(
    name: number,
    side: Side,
    price: number,
    amount: number,
    timeInForce: EngineTimeInForce,
    owner: number,
  ): boolean {
    const before = JSON.stringify(this.orders);
    const reachable = this.side(side === 'buy' ? 'sell' : 'buy').filter(o =>
      side === 'buy' ? o.price <= price : o.price >= price,
    );
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
    const { left, dropped } = this.#match(name, side, price, amount, null, owner);
    if (left > 0 && !dropped && (timeInForce === 'GTC' || timeInForce === 'postOnly')) {
      this.orders.push({ name, side, price, left, owner, turn: this.#turn++ });
    }
    return JSON.stringify(this.orders) !== before;
  }

  #match(name: number, side: Side, limit: number, amount: number, budget: bigint | null, owner: number) {
    let left = amount;
    let spent = false;
    for (const maker of this.side(side === 'buy' ? 'sell' : 'buy')) {
      if (spent || left === 0 || (side === 'buy' ? maker.price > limit : maker.price < limit)) break;
      if (owner !== 0 && maker.owner === owner && this.selfTrade !== 'allow') {
        if (this.selfTrade === 'drop-new') return { left, dropped: true };
        this.prevented.push(maker.name);
        this.orders = this.orders.filter(o => o !== maker);
        continue;
      }
      let traded = Math.min(left, maker.left);
      if (budget !== null) {
        const affordable = budget / BigInt(maker.price);
        spent = affordable < BigInt(traded);
        if (spent) traded = Number(affordable);
        if (traded === 0) break;
        budget -= BigInt(maker.price) * BigInt(traded);
      }
      left -= traded;
      maker.left -= traded;
      this.fills.push({ maker: maker.name, taker: name, price: maker.price, amount: traded, makerLeft: maker.left });
      this.orders = this.orders.filter(o => o.left > 0);
    }
    return { left, dropped: false };
  }
}
