/** Orders under this bot's name that this run did not place: placed by an earlier run or another process. */
import type { HaltReason } from '../model/halts.ts';
import { amountCeil, amountFloor, worstPrice, type Instrument } from '../model/instrument.ts';
import type { Order, Orders } from './orders.ts';
import type { OriginIds } from './originIds.ts';
import { DuplicateInstance } from './duplicateInstance.ts';
import type { OrderReport } from '../ports/port.ts';
import type { Amount, Millis } from '../model/units.ts';

export class OrphanOrders {
  readonly #ids: OriginIds;
  readonly #orders: Orders;
  readonly #duplicates = new DuplicateInstance();

  constructor(ids: OriginIds, orders: Orders) {
    this.#ids = ids;
    this.#orders = orders;
  }

  /**
   * Adopts orphan orders from a read, so that the bot counts and cancels these orders; calls `adopted` for each.
   * Returns a halt reason, or `null`.
   */
  onOpenOrders(
    { orders, at }: { readonly orders: readonly OrderReport[]; readonly at: Millis },
    instrument: Instrument,
    adopted: (order: Order) => void,
  ): HaltReason | null {
    const { instance } = this.#ids;
    let halt: HaltReason | null = null;
    let orphans = 0;
    for (const report of orders) {
      const { originId } = report;
      if (originId === undefined || !this.#ids.isOwnId(originId)) continue;
      if (report.book !== instrument.symbol || this.#orders.get(originId)) continue;
      if (this.#ids.isLater(originId)) {
        halt ??= `order ${originId} is of a later run of ${instance}: another process trades under this name`;
        continue;
      }
      // Once another process is certain, the bot adopts no further orders. Otherwise two running processes could cancel
      // each other's orders forever.
      if (this.#duplicates.isSure) continue;
      orphans++;
      const price = worstPrice(instrument, report.side, report.price);
      const original = amountFloor(instrument, report.originalAmount);
      const filled = (original - amountCeil(instrument, report.unfilledAmount)) as Amount;
      adopted(this.#orders.adopt({ ...report, originId }, price, original, filled, at));
    }
    if (!this.#duplicates.recordRead(orphans, at)) return halt;
    return (
      halt ?? `orders of ${instance} keep coming that this process did not place: another one trades under this name`
    );
  }

  /** Whether another process that may place orders under this name is certain, or cannot be ruled out yet. */
  mayPlaceAgain(at: Millis): boolean {
    return this.#duplicates.mightBeRunning(at);
  }
}
