/**
 * Fills that a fill model expects of the bot's own orders on the recorded market, under one assumption about latency.
 */
import { Sweep, SWEEP_MS, type FillModel, type Queued } from '../../src/fills/index.ts';
import type { Millis, Side } from '../../src/core/index.ts';

/** Order in the fill model. `place` is its price in ticks. */
export type ModelOrder = Queued & {
  readonly side: Side;
  /** Lots at its price in the last recorded book; `null` if the book did not show the price. */
  shown: number | null;
  /** Whether the lots of others at its price are not known yet. */
  isUnseen: boolean;
};

export class ExpectedFills {
  readonly #model: FillModel;
  readonly #onFill: (order: ModelOrder, at: Millis) => void;
  readonly #sweep = new Sweep(SWEEP_MS);
  /** Resting orders of each side, best price first, then oldest first. */
  readonly #own: Record<Side, ModelOrder[]> = { buy: [], sell: [] };

  /** `onFill` is called for each expected fill, with the order and the time of the fill. */
  constructor(model: FillModel, onFill: (order: ModelOrder, at: Millis) => void = () => undefined) {
    this.#model = model;
    this.#onFill = onFill;
  }

  /** Adds an order that joins the queue at its price. `shown`: lots of others there; `null` if not recorded. */
  join(side: Side, place: number, lots: number, at: Millis, shown: number | null): ModelOrder {
    const order: ModelOrder = {
      ...{ side, place, left: lots, front: 0, traded: 0, joined: 0, restedAt: at, shown, isUnseen: shown === null },
    };
    if (shown === null) this.#model.queue.joinedUnseen(order, 0);
    else this.#model.queue.joined(order, shown);
    const own = this.#own[side];
    const sign = side === 'buy' ? -1 : 1;
    const after = own.findIndex(other => other.place * sign > place * sign);
    own.splice(after < 0 ? own.length : after, 0, order);
    return order;
  }

  leave(order: ModelOrder): void {
    const own = this.#own[order.side];
    const index = own.indexOf(order);
    if (index >= 0) own.splice(index, 1);
  }

  /** Applies the recorded lots of others at the price of an order; `null` if the book does not show the price. */
  level(order: ModelOrder, shown: number | null): void {
    const before = order.shown;
    order.shown = shown;
    if (shown === null || before === shown) return;
    if (order.isUnseen || before === null) {
      order.isUnseen = false;
      this.#model.queue.joined(order, shown);
      return;
    }
    this.#model.queue.changed(order, before, shown, 0);
  }

  /** Applies a public trade by a taker on the side `taker`. */
  trade(taker: Side, place: number, lots: number, at: Millis): void {
    const sign = taker === 'buy' ? 1 : -1;
    const own = this.#own[taker === 'buy' ? 'sell' : 'buy'];
    this.#sweep.begin(at, sign, place);
    if (own.length === 0 && !this.#sweep.isOpen) return;
    this.#model.rule.traded(own, sign, place, lots, order => this.#onFill(order, at), 0, this.#sweep);
  }
}
