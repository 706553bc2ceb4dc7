/** Most recent finished orders by id, to recognize their late fills. */

/** Fields needed to remove the oldest order. */
type Ended = {
  readonly id: string;
  /** Number of the order's end, in order of ends, from 1; 0 before. */
  endNumber: number;
};

/** Maximum number of removed entries that keep their memory. */
const FORGOTTEN_MAX = 500;

export class FinishedOrders<Order extends Ended> {
  readonly #most: number;
  readonly #byId = new Map<string, Order>();
  /**
   * Finished orders, oldest first from `#oldest`, with the number of each end. Reopened orders remain; their last end
   * has another number.
   */
  #inTurn: Order[] = [];
  #endsInTurn: number[] = [];
  #oldest = 0;
  #ends = 0;

  /** `most` is the number of orders to remember. */
  constructor(most: number) {
    this.#most = most;
  }

  get(id: string): Order | undefined {
    return this.#byId.get(id);
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Removes an order that is live again. */
  reopen(id: string): void {
    this.#byId.delete(id);
  }

  /** Adds a finished order. Returns the oldest order if it is removed in exchange; otherwise `null`. */
  add(order: Order): Order | null {
    order.endNumber = ++this.#ends;
    this.#byId.set(order.id, order);
    this.#inTurn.push(order);
    this.#endsInTurn.push(order.endNumber);
    if (this.#inTurn.length - this.#oldest > 2 * this.#most + FORGOTTEN_MAX) this.#keepLastEnds();
    return this.#byId.size > this.#most ? this.#forgetOldest() : null;
  }

  /**
   * Drops earlier ends of reopened orders. Otherwise an exchange whose lists change back and forth would add entries
   * without limit.
   */
  #keepLastEnds(): void {
    const last = [...this.#byId.values()].sort((a, b) => a.endNumber - b.endNumber);
    this.#inTurn = last;
    this.#endsInTurn = last.map(({ endNumber }) => endNumber);
    this.#oldest = 0;
  }

  /**
   * Removes the oldest order. Does not use the first key of the map, because that search passes over every deleted
   * entry.
   */
  #forgetOldest(): Order {
    for (;;) {
      const order = this.#inTurn[this.#oldest]!;
      const endNumber = this.#endsInTurn[this.#oldest++]!;
      // Free removed entries from time to time.
      if (this.#oldest > FORGOTTEN_MAX) {
        this.#inTurn = this.#inTurn.slice(this.#oldest);
        this.#endsInTurn = this.#endsInTurn.slice(this.#oldest);
        this.#oldest = 0;
      }
      if (order.endNumber === endNumber && this.#byId.delete(order.id)) return order;
    }
  }
}
