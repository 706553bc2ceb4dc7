/** Messages in transit between bot and exchange: a ring of preallocated entries, each with its arrival time. */
import { enlarged } from '../../src/core/index.ts';
import type { OwnOrder } from './ownOrders.ts';

export const MESSAGE = {
  /** Request to place an order. `cancel` and `take` are also requests. */
  place: 0,
  cancel: 1,
  /** Order that trades immediately at its price or better; the remaining amount is canceled. */
  take: 7,
  /**
   * Answer that an order was accepted into the book. The other answers, in order: rejected, because the order would
   * have traded; canceled; nothing to cancel; execution; end of a taker order.
   */
  accepted: 2,
  refused: 3,
  canceled: 4,
  missed: 5,
  filled: 6,
  spent: 8,
} as const;
export type MessageKind = (typeof MESSAGE)[keyof typeof MESSAGE];

const SIZE_MAX = 1 << 16;

/** Messages in order of sending. As on one connection, a later message never arrives before an earlier message. */
export class MessageRing {
  /** Arrival time of the oldest message; Infinity without messages. */
  headAt = Infinity;
  #at = new Float64Array(64);
  #kind = new Uint8Array(64);
  #lots = new Float64Array(64);
  #sent = new Float64Array(64);
  #mid = new Float64Array(64);
  #place = new Float64Array(64);
  #order: OwnOrder[] = [];
  #head = 0;
  #count = 0;
  #lastAt = -Infinity;

  get count(): number {
    return this.#count;
  }

  /**
   * Adds a message. `at` is the arrival time, `sent` the time of sending. `mid` is twice the exchange's mid price at
   * the time of sending, as a price index, or 0 if unknown. `place` is the price index of an execution.
   */
  push(
    at: number,
    kind: MessageKind,
    order: OwnOrder,
    lots: number,
    sent: number,
    mid: number,
    place = order.place,
  ): void {
    if (this.#count === this.#at.length) this.#grow();
    const i = (this.#head + this.#count) & (this.#at.length - 1);
    const arrival = at > this.#lastAt ? at : this.#lastAt;
    this.#lastAt = arrival;
    this.#at[i] = arrival;
    this.#kind[i] = kind;
    this.#lots[i] = lots;
    this.#sent[i] = sent;
    this.#mid[i] = mid;
    this.#place[i] = place;
    this.#order[i] = order;
    order.messages++;
    if (this.#count++ === 0) this.headAt = arrival;
  }

  /** Kind of the oldest message. This field and the fields below are valid only if there is a message. */
  get kind(): MessageKind {
    return this.#kind[this.#head]! as MessageKind;
  }

  get lots(): number {
    return this.#lots[this.#head]!;
  }

  get sent(): number {
    return this.#sent[this.#head]!;
  }

  get mid(): number {
    return this.#mid[this.#head]!;
  }

  get place(): number {
    return this.#place[this.#head]!;
  }

  get order(): OwnOrder {
    return this.#order[this.#head]!;
  }

  /** Removes the oldest message. */
  shift(): void {
    if (this.#count === 0) throw new Error('no message is in transit');
    this.#order[this.#head]!.messages--;
    this.#head = (this.#head + 1) & (this.#at.length - 1);
    this.headAt = --this.#count === 0 ? Infinity : this.#at[this.#head]!;
  }

  #grow(): void {
    const size = this.#at.length;
    if (size >= SIZE_MAX) throw new RangeError(`expected at most ${SIZE_MAX} messages in transit`);
    // The oldest message moves to the start.
    const rotated = <T extends Float64Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>(from: T): T => {
      const to = enlarged(from, size * 2);
      to.set(from.subarray(this.#head));
      to.set(from.subarray(0, this.#head), size - this.#head);
      return to;
    };
    this.#at = rotated(this.#at);
    this.#kind = rotated(this.#kind);
    this.#lots = rotated(this.#lots);
    this.#sent = rotated(this.#sent);
    this.#mid = rotated(this.#mid);
    this.#place = rotated(this.#place);
    this.#order = [...this.#order.slice(this.#head), ...this.#order.slice(0, this.#head)];
    this.#head = 0;
  }
}
