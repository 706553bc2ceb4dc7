/** Most recent finished orders by id, to recognize their late fills. */

type Ended = {
  readonly id: string;
  /** Number of the order's end, in order of ends, from 1; 0 before. */
  endNumber: number;
};

export class FinishedOrders<Order extends Ended> {
  readonly #most: number;
  readonly #byId = new Map<string, Order>();
  /** Orders of the last `#most` ends, each at its end number modulo `#most`. */
  readonly #inTurn: Order[] = [];
  #ends = 0;

  /** `most` is the number of ends to remember. */
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

  /** Adds a finished order. Returns the oldest order if it is removed in exchange; otherwise `null`. */
  add(order: Order): Order | null {
    order.endNumber = ++this.#ends;
    const place = order.endNumber % this.#most;
    const oldest = this.#inTurn[place];
    this.#inTurn[place] = order;
    this.#byId.set(order.id, order);
    // The oldest end of an order that was reopened is not its last one.
    if (oldest?.endNumber !== order.endNumber - this.#most || !this.#byId.delete(oldest.id)) return null;
    return oldest;
  }
}
