/** Accounts' orders beside a recording of pictures, or of some depth: what of its executions comes to them. As the backtest's pessimistic model has it, on the same rules. */
import type { Amount, Millis, Price, Side } from '../../core/index.ts';
import { levelModel } from '../../fills/index.ts';
import type { Queued, Sweep } from '../../fills/index.ts';
import type { RecordedBook, RecordedSide } from '../../tape/index.ts';
import type { FollowedPlace } from './market.ts';

type Own = Queued & { readonly id: number; readonly place: Price };
const SIDES = ['buy', 'sell'] as const;

export class RecordedQueues {
  readonly #place: FollowedPlace;
  readonly #book: RecordedBook;
  readonly #depth: number;
  readonly #model = levelModel('pessimistic');
  /** By side, best price first, at one price the oldest first. */
  readonly #own: Record<Side, Own[]> = { buy: [], sell: [] };
  /** The book was last told by a picture: who came since is not in it. */
  #isPicture = false;

  /** `depth`: levels a side that the recording shows. */
  constructor(place: FollowedPlace, book: RecordedBook, depth: number) {
    this.#place = place;
    this.#book = book;
    this.#depth = depth;
  }

  /** Takes notice of orders that came, changed or left since the last row. `startedAt`: when the time 0 of the rows was, on the marketplace's clock. */
  look(startedAt: Millis): void {
    for (const side of SIDES) {
      const known = new Map(this.#own[side].map(order => [order.id, order]));
      this.#own[side] = this.#place.accountOrders(side).map(({ id, price, left, at }) => {
        const order = known.get(id);
        if (order && order.place === price && left <= order.left) {
          order.left = left;
          return order;
        }
        // A little later, as large times are not exact.
        const restedAt = at - startedAt + 0.01;
        const came: Own = { id, place: price, left, front: 0, traded: 0, joined: 0, restedAt };
        const { queue } = this.#model;
        if (this.#isPicture || this.#isBehind(side, price)) queue.joinedUnseen(came, Infinity);
        else queue.joined(came, this.#levels(side).amountOf(price));
        return came;
      });
    }
  }

  /** A step of the book, which is applied, told of a level. */
  changed(side: Side, price: number): void {
    for (const order of this.#own[side])
      if (order.place === price) this.#model.queue.changed(order, 0, this.#levels(side).amountOf(price), 0);
  }

  /** To be called before a step that goes on from a picture. */
  stepped(): void {
    if (this.#isPicture) this.#seen();
    this.#isPicture = false;
  }

  /** A picture was told, and is applied. */
  pictured(): void {
    this.#isPicture = true;
    this.#seen();
  }

  /** So many lots of a side were met at a price; returns how many of them accounts had. */
  traded(side: Side, price: Price, lots: number, sweep: Sweep): number {
    if (!this.#isPicture && this.#depth < Infinity) this.#seen();
    let filled = 0;
    const fill = ({ id }: Own, part: number): void => {
      filled += part;
      this.#place.hit(id, part as Amount);
    };
    this.#model.rule.traded(this.#own[side], side === 'sell' ? 1 : -1, price, lots, fill, 0, sweep);
    this.#own[side] = this.#own[side].filter(({ left }) => left > 0);
    return filled;
  }

  /** All that is recorded has been told: who came before is among it. */
  #seen(): void {
    for (const side of SIDES)
      for (const order of this.#own[side])
        if (!this.#isBehind(side, order.place))
          order.front = Math.min(order.front, this.#levels(side).amountOf(order.place));
  }

  /** Behind as many levels as the recording shows. */
  #isBehind(side: Side, price: Price): boolean {
    const levels = this.#levels(side);
    if (levels.length < this.#depth) return false;
    const last = levels.priceAt(this.#depth - 1);
    return side === 'buy' ? price < last : price > last;
  }

  #levels(side: Side): RecordedSide {
    return side === 'buy' ? this.#book.bids : this.#book.asks;
  }
}
