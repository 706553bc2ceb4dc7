/**
 * Lives of the bot's own orders, each with the time at which each hypothesis about the queue would have filled the
 * order: the data to which a fill model is fitted.
 */
import type { Millis, Side } from '../../src/core/index.ts';
import { BOUNDS, hypothesisQueue, levelModel, QUEUE_HYPOTHESES, sharedVolume } from '../../src/fills/index.ts';
import { ExpectedFills, type ModelOrder } from '../shadow/expectedFills.ts';
import type { LifeObserver, OrderLife } from '../shadow/orderLife.ts';

/** Life of an order. `arrivedAt` is its arrival at the exchange; the other times are in ms after the arrival. */
export type OwnLife = {
  readonly arrivedAt: Millis;
  /** Time of its first execution; Infinity if the order was never executed. */
  readonly filledAfter: number;
  /** End of the observation: the first execution, or the time at which the order left without one. */
  readonly endedAfter: number;
  /**
   * Time of the first execution under each hypothesis of `QUEUE_HYPOTHESES`, then under each of `BOUNDS`; Infinity if
   * there was none until the order left. A filled order stays in the models for some more time, so that a hypothesis
   * can also execute it later than observed.
   */
  readonly reached: Float64Array;
};

/** Order in all models. `at`: arrival at the exchange; `reached`: as in `OwnLife`. */
type TrackedOrder = { readonly at: Millis; readonly orders: readonly ModelOrder[]; readonly reached: Float64Array };

/** Maximum number of lives in memory; the oldest are dropped. */
export const OWN_LIVES_MAX = 50_000;

/** Follows orders under all hypotheses. The caller reports events in the order of time. */
export class HypotheticalFills {
  readonly #models: readonly ExpectedFills[];
  readonly #found = new Map<
    ModelOrder,
    { readonly at: Millis; readonly reached: Float64Array; readonly model: number }
  >();

  constructor() {
    const models = [
      ...QUEUE_HYPOTHESES.map(hypothesis => {
        const queue = hypothesisQueue(hypothesis);
        return { name: queue.name, queue, rule: sharedVolume(queue) };
      }),
      ...BOUNDS.map(levelModel),
    ];
    this.#models = models.map(model => new ExpectedFills(model, (order, at) => this.#filled(order, at)));
  }

  /** Adds an order with `lots`. `shown`: displayed lots of others at the order's price; `null` if not recorded. */
  join(side: Side, place: number, lots: number, at: Millis, shown: number | null): TrackedOrder {
    const reached = new Float64Array(this.#models.length).fill(Infinity);
    const orders = this.#models.map((fills, model) => {
      const order = fills.join(side, place, lots, at, shown);
      this.#found.set(order, { at, reached, model });
      return order;
    });
    return { at, orders, reached };
  }

  leave({ orders }: TrackedOrder): void {
    for (const [model, order] of orders.entries()) {
      this.#models[model]!.leave(order);
      this.#found.delete(order);
    }
  }

  level({ orders }: TrackedOrder, shown: number | null): void {
    for (const [model, order] of orders.entries()) this.#models[model]!.level(order, shown);
  }

  trade(taker: Side, place: number, lots: number, at: Millis): void {
    for (const fills of this.#models) fills.trade(taker, place, lots, at);
  }

  #filled(order: ModelOrder, at: Millis): void {
    const found = this.#found.get(order);
    if (found === undefined) return;
    const after = Math.max(0, at - found.at);
    if (after < found.reached[found.model]!) found.reached[found.model] = after;
  }
}

/** Collects the lives of a run from its shadow. */
export class OwnLives implements LifeObserver {
  readonly #fills = new HypotheticalFills();
  readonly #tracked = new Map<OrderLife, { readonly order: TrackedOrder; isResting: boolean }>();
  #lives: OwnLife[] = [];
  /**
   * Number of orders that cannot be used, because they never rested or the recording does not show all of their life.
   */
  #unused = 0;

  /** Complete lives, by the time of their end. */
  get lives(): readonly OwnLife[] {
    return this.#lives;
  }

  get unused(): number {
    return this.#unused;
  }

  rested(life: OrderLife, at: Millis): void {
    const order = this.#fills.join(life.side, life.price, life.lots, at, life.shown);
    this.#tracked.set(life, { order, isResting: true });
  }

  left(life: OrderLife): void {
    const tracked = this.#tracked.get(life);
    if (tracked?.isResting !== true) return;
    this.#fills.leave(tracked.order);
    tracked.isResting = false;
  }

  levelShown(life: OrderLife, shown: number | null): void {
    const tracked = this.#tracked.get(life);
    if (tracked?.isResting === true) this.#fills.level(tracked.order, shown);
  }

  traded(taker: Side, place: number, lots: number, at: Millis): void {
    this.#fills.trade(taker, place, lots, at);
  }

  settled(life: OrderLife, leftAt: Millis): void {
    const tracked = this.#tracked.get(life);
    this.left(life);
    this.#tracked.delete(life);
    if (tracked === undefined || !life.isMeasured || !Number.isFinite(leftAt)) {
      this.#unused++;
      return;
    }
    const { at, reached } = tracked.order;
    const filledAfter = life.firstFilledAt === null ? Infinity : Math.max(0, life.firstFilledAt - at);
    const endedAfter = Math.min(filledAfter, Math.max(0, leftAt - at));
    this.#lives.push({ arrivedAt: at, filledAfter, endedAfter, reached });
    if (this.#lives.length >= 2 * OWN_LIVES_MAX) this.#lives = this.#lives.slice(-OWN_LIVES_MAX);
  }
}
