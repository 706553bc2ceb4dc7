/** Orders of a replay as the bot knows them. The class sends requests and tracks the orders by the answers. */
import { MESSAGE } from '../exchange/messageRing.ts';
import type { SimulatedExchange } from '../exchange/simulatedExchange.ts';
import type { Latency } from '../rows/latency.ts';
import { LOCAL, OrderPool, type OwnOrder } from '../exchange/ownOrders.ts';
import type { SideIndex } from '../rows/rows.ts';

export class LocalOrders {
  /** All orders that were placed and not dropped yet, oldest first. */
  readonly orders: OwnOrder[] = [];
  readonly #exchange: SimulatedExchange;
  readonly #latency: Latency;
  readonly #pool = new OrderPool();
  readonly #forgotten: OwnOrder[] = [];

  constructor(exchange: SimulatedExchange, latency: Latency) {
    this.#exchange = exchange;
    this.#latency = latency;
  }

  place(at: number, side: SideIndex, place: number, lots: number, takes = false): OwnOrder {
    const order = this.#pool.take(side, place, lots);
    order.takes = takes;
    this.orders.push(order);
    this.#exchange.requests.push(
      at + this.#latency.there(at),
      takes ? MESSAGE.take : MESSAGE.place,
      order,
      lots,
      at,
      0,
    );
    return order;
  }

  cancel(at: number, order: OwnOrder): void {
    order.state = LOCAL.canceling;
    this.#exchange.requests.push(at + this.#latency.cancel(at), MESSAGE.cancel, order, 0, at, 0);
  }

  /** Processes every answer that arrives by `time`. `onFill` receives executions in order of arrival. */
  hear(time: number, onFill: (order: OwnOrder, lots: number) => void): void {
    const { answers } = this.#exchange;
    while (answers.headAt <= time) {
      const { kind, order, lots } = answers;
      answers.shift();
      this.learn(kind, order, lots);
      if (kind === MESSAGE.filled) onFill(order, lots);
    }
  }

  /** Applies one answer to its order. */
  learn(kind: number, order: OwnOrder, lots: number): void {
    if (kind === MESSAGE.filled) {
      order.filled += lots;
      if (order.filled >= order.lots) order.state = LOCAL.done;
    } else if (kind === MESSAGE.accepted) {
      if (order.state === LOCAL.sent) order.state = LOCAL.live;
    } else order.state = LOCAL.done;
  }

  /** Drops the orders that are done. `onReuse` receives each order whose object is now free for later orders. */
  forgetDone(onReuse: (order: OwnOrder) => void = () => undefined): void {
    const { orders } = this;
    let kept = 0;
    for (const order of orders) {
      if (order.state === LOCAL.done) this.#forgotten.push(order);
      else orders[kept++] = order;
    }
    while (orders.length > kept) orders.pop();
    this.#reuse(onReuse);
  }

  #reuse(onReuse: (order: OwnOrder) => void): void {
    const waiting = this.#forgotten;
    let kept = 0;
    for (const order of waiting) {
      if (order.messages === 0 && !order.resting) {
        this.#pool.release(order);
        onReuse(order);
      } else waiting[kept++] = order;
    }
    while (waiting.length > kept) waiting.pop();
  }
}
