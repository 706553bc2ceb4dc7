/** Most recent finished orders by id, to recognize their late fills. */

type Ended = {
  readonly id: string;
  /** Position of the order's end in the sequence of all ends, from 1; 0 before the order ends. */
  endNumber: number;
};

export class FinishedOrders<Order extends Ended> {
  readonly #most: number;
  readonly #byId = new Map<string, Order>();
  /** Orders of the last `#most` ends. The index of an order is its end number modulo `#most`. */
  readonly #inTurn: Order[] = [];
  #ends = 0;

  /** `most` is the number of most recent ends whose orders are remembered. */
  constructor(most: number) {
    this.#most = most;
  }

  get(id: string): Order | undefined {
    return this.#byId.get(id);
  }

  /** Removes an order that is live again. */
  reopen(id: string): void {
    this.#byId.delete(id);
  }

  /** Adds a finished order. Returns the oldest order if it is removed to make space; otherwise `null`. */
  add(order: Order): Order | null {
    order.endNumber = ++this.#ends;
    const place = order.endNumber % this.#most;
    const oldest = this.#inTurn[place];
    this.#inTurn[place] = order;
    this.#byId.set(order.id, order);
    // An order that was reopened and ended again has a newer end number, so it stays when its older entry expires.
    if (oldest?.endNumber !== order.endNumber - this.#most || !this.#byId.delete(oldest.id)) return null;
    return oldest;
  }
}
