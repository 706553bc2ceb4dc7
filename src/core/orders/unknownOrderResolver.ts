/**
 * Requests that are repeated until the end of an order is confirmed: look-ups, and cancels whose answer proved nothing.
 */
import { approveByIds, type Approved, type Command } from './commands.ts';
import type { Orders } from './orders.ts';
import type { Millis } from '../model/units.ts';

/** Maximum interval between two look-ups of orders, in ms; shorter if the account is polled more often. */
export const LOOK_EVERY_MAX_MS = 500;

export class UnknownOrderResolver {
  readonly #orders: Orders;
  readonly #lookEveryMs: Millis;
  #lookedAt = -Infinity;

  constructor(orders: Orders, lookEveryMs: Millis) {
    this.#orders = orders;
    this.#lookEveryMs = lookEveryMs;
  }

  /**
   * Returns one cancel request per unknown order, so that a non-empty answer can only refer to that order. Adds other
   * due cancels to `cancels`.
   */
  cancels(at: Millis, cancels: string[]): readonly Approved<Command>[] {
    const alone: Approved<Command>[] = [];
    for (const order of this.#orders.live) {
      if (!this.#orders.isCancelDue(order, at)) continue;
      if (order.state === 'canceling') cancels.push(order.id);
      if (order.state === 'unknown') {
        alone.push(...approveByIds('cancel', [order.id]));
        this.#orders.cancelSent(order.id, at);
      }
    }
    return alone;
  }

  looks(at: Millis): readonly Approved<Command>[] {
    if (at - this.#lookedAt < this.#lookEveryMs) return NOTHING;
    const ids: string[] = [];
    for (const order of this.#orders.live) if (this.#orders.needsLookUp(order)) ids.push(order.id);
    if (ids.length === 0) return NOTHING;
    this.#lookedAt = at;
    return approveByIds('look', ids);
  }
}

const NOTHING: readonly Approved<Command>[] = [];
