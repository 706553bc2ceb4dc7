/** Open orders of the account in this book that other bots or the operator placed, as the exchange last listed them. */
import { worstPrice, type Instrument } from '../model/instrument.ts';
import type { Orders } from './orders.ts';
import type { OriginIds } from './originIds.ts';
import type { OrderReport } from '../ports/port.ts';
import type { Millis, Price, Side } from '../model/units.ts';

/** Best price of each side among the foreign orders, in ticks; `null` if a side has none. */
export type ForeignBests = Readonly<Record<Side, Price | null>>;

type OpenOrdersRead = {
  readonly startedAt: Millis;
  readonly complete: boolean;
  readonly current?: boolean;
  readonly orders: readonly OrderReport[];
};

const NO_ORDERS: ForeignBests = { buy: null, sell: null };

export class ForeignOrders {
  readonly #ids: OriginIds;
  readonly #orders: Orders;
  #bests = NO_ORDERS;
  #readAt: Millis = -Infinity;

  constructor(ids: OriginIds, orders: Orders) {
    this.#ids = ids;
    this.#orders = orders;
  }

  get bests(): ForeignBests {
    return this.#bests;
  }

  /**
   * Applies a read of open orders; ignores a read that started before the last applied read. A complete read, or a
   * `current` read (which lacks only unreadable orders), replaces the earlier reads. After any other read, the orders
   * of earlier reads may still be open, so they remain.
   */
  read({ startedAt, complete, current, orders }: OpenOrdersRead, instrument: Instrument): void {
    if (startedAt < this.#readAt) return;
    this.#readAt = startedAt;
    let bests = complete || current === true ? NO_ORDERS : this.#bests;
    for (const report of orders) {
      if (report.book !== instrument.symbol || report.price === undefined || this.#isOwn(report)) continue;
      if (isWaitingForStop(report)) continue;
      const { side } = report;
      const price = crossedFrom(instrument, report);
      const best = bests[side];
      if (best === null || (side === 'buy' ? price > best : price < best)) bests = { ...bests, [side]: price };
    }
    this.#bests = bests;
  }

  #isOwn({ originId, oid }: OrderReport): boolean {
    return (originId !== undefined && this.#ids.isOwnId(originId)) || this.#orders.byOid(oid) !== undefined;
  }
}

/** Whether the order is a stop order that has not triggered. Such an order is not in the book. */
const isWaitingForStop = ({ stop, triggeredAt }: OrderReport): boolean =>
  stop !== undefined && triggeredAt === undefined;

/** Returns the price in ticks, rounded up for a buy and down for a sell. A price that is too large is capped. */
function crossedFrom(instrument: Instrument, { side, price }: OrderReport): Price {
  try {
    return worstPrice(instrument, side, price);
  } catch {
    return Number.MAX_SAFE_INTEGER as Price;
  }
}
