/** Time with a live quote per side, since the bot could first quote. */
import { isInBook, type Orders } from '../orders/orders.ts';
import type { Millis, Side } from '../model/units.ts';

export class QuoteUptime {
  #since = Number.NaN;
  #last = Number.NaN;
  readonly #quoted: Record<Side, Millis> = { buy: 0, sell: 0 };

  /**
   * Adds the time until `at`; the first call starts the measurement. `orders` are the orders that were live during the
   * added time.
   */
  advanceTo(at: Millis, orders: Orders): void {
    if (Number.isNaN(this.#since)) {
      this.#since = at;
      this.#last = at;
    }
    const passed = at - this.#last;
    if (!(passed > 0)) return;
    this.#last = at;
    let [bid, ask] = [false, false];
    for (const order of orders.live) {
      if (!isInBook(order)) continue;
      if (order.side === 'buy') bid = true;
      else ask = true;
    }
    if (bid) this.#quoted.buy += passed;
    if (ask) this.#quoted.sell += passed;
  }

  get isRunning(): boolean {
    return !Number.isNaN(this.#since);
  }

  shares(): Readonly<Record<'bid' | 'ask', number>> {
    const total = this.#last - this.#since;
    const share = (ms: Millis) => (total > 0 ? ms / total : 0);
    return { bid: share(this.#quoted.buy), ask: share(this.#quoted.sell) };
  }
}
