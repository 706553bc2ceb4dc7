/** Trades of one account in order of trade id, bounded in number, with indexes by order and by origin_id. */
import type { Amount, Millis, Money, Price, Side } from '../../core/index.ts';
import type { VenueOrder } from './order.ts';

export type OwnTradeRecord = {
  readonly tid: number;
  /** Number of the trade in its book. */
  readonly ordinal: number;
  readonly order: Pick<VenueOrder, 'oid' | 'originId' | 'marginOrderType' | 'book' | 'instrument' | 'side'>;
  readonly at: Millis;
  readonly price: Price;
  readonly amount: Amount;
  readonly minor: Money;
  readonly fee: Money;
  /** Currency of the fee; differs from the received currency only under `VenueOptions.payFee`. */
  readonly feeCurrency: string;
  readonly makerSide: Side;
  /** Elapsed time of the venue's clock from which clients can read the trade. */
  readonly readableAt: Millis;
};

/** Maximum number of stored trades per account; the oldest are dropped first. */
export const OWN_TRADES_MAX = 20_000;

export class OwnTrades {
  /**
   * Trades in ascending order of trade id. The first `#gone` elements are dropped trades that are still in the array.
   */
  #all: OwnTradeRecord[] = [];
  #gone = 0;
  readonly #byOid = new Map<string, OwnTradeRecord[]>();
  readonly #byOrigin = new Map<string, OwnTradeRecord[]>();

  get count(): number {
    return this.#all.length - this.#gone;
  }

  add(trade: OwnTradeRecord): void {
    this.#all.push(trade);
    append(this.#byOid, trade.order.oid, trade);
    if (trade.order.originId !== undefined) append(this.#byOrigin, trade.order.originId, trade);
    if (this.count > OWN_TRADES_MAX) this.#forgetOldest();
  }

  /** Returns the trades of an order, oldest first. */
  byOrder(oid: string): readonly OwnTradeRecord[] {
    return this.#byOid.get(oid) ?? [];
  }

  /** Returns the trades of every order with this origin_id, in any book (rest-api 4.3), oldest first. */
  byOriginId(originId: string): readonly OwnTradeRecord[] {
    return this.#byOrigin.get(originId) ?? [];
  }

  /** Returns the newest trade. A caller detects new trades by comparing this trade with an earlier result. */
  newest(): OwnTradeRecord | undefined {
    return this.#all[this.#all.length - 1];
  }

  /** Calls `visit` for each trade after the marker, in the order of `sort`, until it returns `false`. */
  each(sort: 'asc' | 'desc', marker: number | undefined, visit: (trade: OwnTradeRecord) => boolean): void {
    if (sort === 'asc') {
      const from = marker === undefined ? this.#gone : this.#firstAbove(marker);
      for (let i = from; i < this.#all.length; i++) if (!visit(this.#all[i]!)) return;
      return;
    }
    const from = marker === undefined ? this.#all.length : this.#firstAbove(marker - 1);
    for (let i = from - 1; i >= this.#gone; i--) if (!visit(this.#all[i]!)) return;
  }

  /** Returns the trades with this trade id: two if the account traded with itself. */
  byTid(tid: number): readonly OwnTradeRecord[] {
    const found: OwnTradeRecord[] = [];
    for (let i = this.#firstAbove(tid - 1); i < this.#all.length && this.#all[i]!.tid === tid; i++)
      found.push(this.#all[i]!);
    return found;
  }

  #firstAbove(tid: number): number {
    let low = this.#gone;
    let high = this.#all.length;
    while (low < high) {
      const pivot = (low + high) >>> 1;
      if (this.#all[pivot]!.tid <= tid) low = pivot + 1;
      else high = pivot;
    }
    return low;
  }

  #forgetOldest(): void {
    const oldest = this.#all[this.#gone++]!;
    drop(this.#byOid, oldest.order.oid);
    if (oldest.order.originId !== undefined) drop(this.#byOrigin, oldest.order.originId);
    if (this.#gone < OWN_TRADES_MAX / 4) return;
    this.#all = this.#all.slice(this.#gone);
    this.#gone = 0;
  }
}

function append(index: Map<string, OwnTradeRecord[]>, key: string, trade: OwnTradeRecord): void {
  const found = index.get(key);
  if (found) found.push(trade);
  else index.set(key, [trade]);
}

function drop(index: Map<string, OwnTradeRecord[]>, key: string): void {
  const found = index.get(key);
  found?.shift();
  if (found?.length === 0) index.delete(key);
}
