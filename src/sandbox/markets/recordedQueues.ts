/**
 * Queue positions and fills of account orders, for a recording of snapshots or of limited depth. Applies the rules of
 * the backtest's pessimistic model.
 */
import type { Amount, Millis, Price, Side } from '../../core/index.ts';
import { levelModel, type Queued, type Sweep } from '../../fills/index.ts';
import type { RecordedBook, RecordedSide } from '../../tape/index.ts';
import type { FollowedPlace } from './market.ts';

type Own = Queued & { readonly id: number; readonly place: Price };
const SIDES = ['buy', 'sell'] as const;

export class RecordedQueues {
  readonly #place: FollowedPlace;
  readonly #book: RecordedBook;
  readonly #depth: number;
  readonly #model = levelModel('pessimistic');
  /** Account orders by side, best price first, then oldest first. */
  readonly #own: Record<Side, Own[]> = { buy: [], sell: [] };
  /**
   * Whether the last book row was a snapshot. The recording then lacks the orders placed since the snapshot, so the
   * queue ahead of a new account order is unknown.
   */
  #isSnapshot = false;

  /** Creates the queues of account orders. `depth` is the number of levels per side in the recording. */
  constructor(place: FollowedPlace, book: RecordedBook, depth: number) {
    this.#place = place;
    this.#book = book;
    this.#depth = depth;
  }

  /**
   * Detects account orders that were placed, changed or removed since the last row. `startedAt` is the time on the
   * marketplace's clock that corresponds to time 0 of the rows.
   */
  look(startedAt: Millis): void {
    for (const side of SIDES) {
      const known = new Map(this.#own[side].map(order => [order.id, order]));
      this.#own[side] = this.#place.accountOrders(side).map(({ id, price, left, at }) => {
        const order = known.get(id);
        if (order && order.place === price && left <= order.left) {
          order.left = left;
          return order;
        }
        // A small margin covers the rounding of large times.
        const restedAt = at - startedAt + 0.01;
        const came: Own = { id, place: price, left, front: 0, traded: 0, joined: 0, restedAt };
        const { queue } = this.#model;
        if (this.#isSnapshot || this.#isBehind(side, price)) queue.joinedUnseen(came, Infinity);
        else queue.joined(came, this.#levels(side).amountOf(price));
        return came;
      });
    }
  }

  /** Updates the queues at a price whose level changed in the recorded book. */
  changed(side: Side, price: number): void {
    for (const order of this.#own[side])
      if (order.place === price) this.#model.queue.changed(order, 0, this.#levels(side).amountOf(price), 0);
  }

  /**
   * Records that the book no longer equals a snapshot. Must be called before a change that follows a snapshot is
   * applied.
   */
  stepped(): void {
    if (this.#isSnapshot) this.#seen();
    this.#isSnapshot = false;
  }

  /** Updates the queues. Must be called after a snapshot is applied. */
  onSnapshot(): void {
    this.#isSnapshot = true;
    this.#seen();
  }

  /** Applies a recorded trade of `lots` at a price. Returns the lots that filled account orders. */
  traded(side: Side, price: Price, lots: number, sweep: Sweep): number {
    if (!this.#isSnapshot && this.#depth < Infinity) this.#seen();
    let filled = 0;
    const fill = ({ id }: Own, part: number): void => {
      filled += part;
      this.#place.hit(id, part as Amount);
    };
    this.#model.rule.traded(this.#own[side], side === 'sell' ? 1 : -1, price, lots, fill, 0, sweep);
    this.#own[side] = this.#own[side].filter(({ left }) => left > 0);
    return filled;
  }

  /**
   * Limits the queue ahead of each order to the recorded amount at the order's price. Skips orders behind all recorded
   * levels.
   */
  #seen(): void {
    for (const side of SIDES)
      for (const order of this.#own[side])
        if (!this.#isBehind(side, order.place))
          order.front = Math.min(order.front, this.#levels(side).amountOf(order.place));
  }

  /** Whether a price is behind all levels that the recording shows. */
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
