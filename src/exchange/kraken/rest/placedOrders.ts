/** Facts about the orders that this client has placed, which later requests need. Only the latest orders are kept. */
import type { Clock, Millis } from '../../../core/index.ts';

/** Maximum number of orders that are remembered. */
const KEPT_MAX = 10_000;

/** Weight of a cancel in the order counter, by age limit (in ms): the first limit above the order's age applies. */
const CANCEL_WEIGHTS: readonly (readonly [below: Millis, weight: number])[] = [
  [5_000, 8],
  [10_000, 6],
  [15_000, 5],
  [45_000, 4],
  [90_000, 2],
  [300_000, 1],
];

export type KrakenPlacement = {
  readonly originId: string;
  readonly pair: string;
  /** Time of the first attempt to send the order, on the exchange's clock; may be up to a second too early. */
  readonly sentAt: Millis;
  /** Time of the first attempt to send the order, on the monotonic clock. */
  readonly at: Millis;
};

/** Origin id of an order, absent if it has none, and the currency of its fees. */
export type OrderFacts = { readonly originId?: string | undefined; readonly feeSide: 'base' | 'quote' };

export class PlacedOrders {
  readonly #clock: Clock;
  readonly #byOriginId = new Map<string, KrakenPlacement>();
  readonly #oids = new Map<string, string>();
  readonly #facts = new Map<string, OrderFacts>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records an order before it is sent. */
  sending(originId: string, pair: string, sentAt: Millis): void {
    if (this.#byOriginId.has(originId)) return;
    bounded(this.#byOriginId, originId, { originId, pair, sentAt, at: this.#clock.elapsed() });
  }

  /** Records what a reply said of an order. */
  seen(oid: string, facts: OrderFacts): void {
    bounded(this.#facts, oid, facts);
    if (facts.originId !== undefined) bounded(this.#oids, facts.originId, oid);
  }

  sent(originId: string): KrakenPlacement | undefined {
    return this.#byOriginId.get(originId);
  }

  oidOf(originId: string): string | undefined {
    return this.#oids.get(originId);
  }

  factsOf(oid: string): OrderFacts | undefined {
    return this.#facts.get(oid);
  }

  /**
   * Returns the pair of an order, and the counts that its cancel adds to the order counter: the younger the order, the
   * more. `undefined` if this client did not place it. Source: docs.kraken.com/api/docs/guides/spot-ratelimits.
   */
  cancelCount(originId: string | undefined): { readonly pair: string; readonly weight: number } | undefined {
    const order = originId === undefined ? undefined : this.#byOriginId.get(originId);
    if (order === undefined) return undefined;
    const age = this.#clock.elapsed() - order.at;
    return { pair: order.pair, weight: CANCEL_WEIGHTS.find(([below]) => age < below)?.[1] ?? 0 };
  }
}

function bounded<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > KEPT_MAX) map.delete(map.keys().next().value!);
}
