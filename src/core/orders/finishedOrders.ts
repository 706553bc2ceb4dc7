/** Orders that are over, by their id: the last so many, to recognise their late fills. */

/** What of an order is needed to forget it in its turn. */
type Ended = {
  readonly id: string;
  /** Which end of an order it was, counted from 1, that made it a finished one; 0 before. */
  endedAs: number;
};

/** Forgotten ones that are kept until there are so many: few, because each holds its memory. */
const FORGOTTEN_MAX = 500;

export class FinishedOrders<Order extends Ended> {
  readonly #most: number;
  readonly #byId = new Map<string, Order>();
  /** Oldest first, from `#oldest` on, and which end each had; with those that were reopened since: their last end is another. */
  #inTurn: Order[] = [];
  #endsInTurn: number[] = [];
  #oldest = 0;
  #ends = 0;

  /** `most`: so many are remembered. */
  constructor(most: number) {
    this.#most = most;
  }

  get(id: string): Order | undefined {
    return this.#byId.get(id);
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** It lives again. */
  reopen(id: string): void {
    this.#byId.delete(id);
  }

  /** It is over. Returns the oldest, when that is forgotten for it. */
  add(order: Order): Order | null {
    order.endedAs = ++this.#ends;
    this.#byId.set(order.id, order);
    this.#inTurn.push(order);
    this.#endsInTurn.push(order.endedAs);
    if (this.#inTurn.length - this.#oldest > 2 * this.#most + FORGOTTEN_MAX) this.#keepLastEnds();
    return this.#byId.size > this.#most ? this.#forgetOldest() : null;
  }

  /** Without the ends of those that were reopened: an exchange whose lists flap would add one each time. */
  #keepLastEnds(): void {
    const last = [...this.#byId.values()].sort((a, b) => a.endedAs - b.endedAs);
    this.#inTurn = last;
    this.#endsInTurn = last.map(({ endedAs }) => endedAs);
    this.#oldest = 0;
  }

  /** A map is not asked for its first key: it would look at every one that was deleted before. */
  #forgetOldest(): Order {
    for (;;) {
      const order = this.#inTurn[this.#oldest]!;
      const endedAs = this.#endsInTurn[this.#oldest++]!;
      // What was passed over is let go now and then.
      if (this.#oldest > FORGOTTEN_MAX) {
        this.#inTurn = this.#inTurn.slice(this.#oldest);
        this.#endsInTurn = this.#endsInTurn.slice(this.#oldest);
        this.#oldest = 0;
      }
      if (order.endedAs === endedAs && this.#byId.delete(order.id)) return order;
    }
  }
}
