/** The exchange's book order by order, as rows: every change as it comes, and of a whole book only what differs from what is known. */
import { priceCeil, priceExact, priceFloor, shownAmount } from '../../core/index.ts';
import type { BookDiff, BookEntry, BookSnapshot, DecimalText, Instrument, Side } from '../../core/index.ts';
import { KIND, SIDE, sideCodeOf } from '../model/tape.ts';
import type { SideCode } from '../model/tape.ts';

export type RowCall = (kind: number, side: number, price: number, amount: number, id: number) => void;

/** `text`: as the exchange wrote it, for a change of the tick. */
type Resting = {
  readonly id: number;
  readonly side: Side;
  readonly priceText: DecimalText;
  readonly price: number;
  readonly lots: number;
};

/** More than go in the moment for which a late trade is waited for. */
const GONE_MAX = 4_096;

export class OrderRecord {
  #instrument: Instrument;
  readonly #orders = new Map<string, Resting>();
  /** Numbers of orders that went lately. */
  readonly #gone = new Map<string, number>();
  /** Orders are numbered as they come: their ids are text. */
  #lastId = 0;
  #offTick = 0;

  constructor(instrument: Instrument) {
    this.#instrument = instrument;
  }

  /** Its number, also for a while after it has gone; null for an order that was never in the book. */
  numberOf(oid: string): number | null {
    return this.#orders.get(oid)?.id ?? this.#gone.get(oid) ?? null;
  }

  get size(): number {
    return this.#orders.size;
  }

  /** Orders that lay between two ticks, as those from before a change of the tick do. */
  get offTick(): number {
    return this.#offTick;
  }

  /** One step of the exchange's sequence. */
  apply({ changes }: Pick<BookDiff, 'changes'>, row: RowCall): void {
    for (const change of changes) {
      if (change.kind === 'open') this.#open(change.oid, change.side, change.price, change.amount, row);
      else this.#remove(change.oid, row, change.filled);
    }
  }

  /** Brings the record to a whole book and says in how many rows it differed. Throws a RangeError, with nothing changed, on a book of levels. */
  become(snapshot: Pick<BookSnapshot, 'bids' | 'asks'>, row: RowCall): number {
    const seen = new Set<string>();
    for (const { oid } of [...snapshot.bids, ...snapshot.asks]) {
      if (oid === undefined) throw new RangeError('a book without order ids is not a whole book');
      seen.add(oid);
    }
    let differences = 0;
    const counted: RowCall = (...of) => {
      differences++;
      row(...of);
    };
    for (const oid of [...this.#orders.keys()]) if (!seen.has(oid)) this.#remove(oid, counted);
    for (const { oid, price, amount } of snapshot.bids) this.#open(oid ?? '', 'buy', price, amount, counted);
    for (const { oid, price, amount } of snapshot.asks) this.#open(oid ?? '', 'sell', price, amount, counted);
    return differences;
  }

  /** The whole book again, from an empty one. */
  restate(row: RowCall): void {
    row(KIND.clear, SIDE.unknown, 0, 0, 0);
    for (const { side, price, lots, id } of this.#orders.values()) row(KIND.add, sideCodeOf(side), price, lots, id);
  }

  /** Prices and amounts are in units of these from here on; the book must be restated when the tick is another. */
  rules(instrument: Instrument): void {
    const isOther = instrument.tick !== this.#instrument.tick;
    this.#instrument = instrument;
    if (!isOther) return;
    for (const [oid, order] of this.#orders) {
      const price = this.#ticks(order.side, order.priceText);
      if (price === null) this.#orders.delete(oid);
      else this.#orders.set(oid, { ...order, price });
    }
  }

  #open(oid: string, side: Side, priceText: DecimalText, amountText: DecimalText | null, row: RowCall): void {
    const before = this.#orders.get(oid);
    const lots = amountText === null && before ? before.lots : shownAmount(this.#instrument, amountText);
    if (
      before &&
      lots > 0 &&
      lots <= before.lots &&
      before.side === side &&
      // A whole book may spell a price otherwise than the stream does: 40.10 and 40.1.
      (before.priceText === priceText || before.price === this.#ticks(side, priceText))
    ) {
      if (lots === before.lots) return;
      row(KIND.change, sideCodeOf(side), before.price, lots, before.id);
      this.#orders.set(oid, { ...before, lots });
      return;
    }
    // At another price, or grown, it stands at the end of a queue.
    if (before) this.#remove(oid, row);
    const price = this.#ticks(side, priceText);
    if (price === null || price <= 0 || lots === 0) return;
    const id = before?.id ?? ++this.#lastId;
    this.#gone.delete(oid);
    this.#orders.set(oid, { id, side, priceText, price, lots });
    row(KIND.add, sideCodeOf(side), price, lots, id);
  }

  /** Nothing is left of an order that was filled; of one that was canceled, what it had. */
  #remove(oid: string, row: RowCall, filled = false): void {
    const order = this.#orders.get(oid);
    if (!order) return;
    this.#orders.delete(oid);
    this.#gone.set(oid, order.id);
    if (this.#gone.size > GONE_MAX)
      for (const old of [...this.#gone.keys()].slice(0, GONE_MAX / 2)) this.#gone.delete(old);
    row(KIND.remove, sideCodeOf(order.side), order.price, filled ? 0 : order.lots, order.id);
  }

  /** Towards the other side, as the engine's own feed has it; null for what cannot be counted. */
  #ticks(side: Side, text: DecimalText): number | null {
    try {
      const exact = priceExact(this.#instrument, text);
      if (exact !== null) return exact;
      this.#offTick++;
      return side === 'buy' ? priceCeil(this.#instrument, text) : priceFloor(this.#instrument, text);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }
}

/** The other side: rows of trades have the taker's, the exchange's messages that of the order that rested. */
export const takerCodeOf = (makerSide: Side): SideCode => (makerSide === 'buy' ? SIDE.sell : SIDE.buy);

/** True for a whole book; one of levels has no order ids. */
export const isOrderByOrder = ({ bids, asks }: Pick<BookSnapshot, 'bids' | 'asks'>): boolean =>
  [...bids, ...asks].every(({ oid }) => oid !== undefined);

/** Returns why a book cannot be recorded as a whole one, `null` if it can: every order has an id and a price that was read. */
export function unfitFor(book: BookSnapshot): string | null {
  const { damage } = book;
  return damage?.bids?.why ?? damage?.asks?.why ?? (isOrderByOrder(book) ? null : 'its orders have no ids');
}

/** A whole book with later steps taken, in no order of price; steps up to its own sequence are passed over. */
export function advanced(snapshot: BookSnapshot, steps: readonly BookDiff[]): Pick<BookSnapshot, 'bids' | 'asks'> {
  const sides: Readonly<Record<Side, Map<string, BookEntry>>> = { buy: new Map(), sell: new Map() };
  for (const entry of snapshot.bids) sides.buy.set(entry.oid ?? '', entry);
  for (const entry of snapshot.asks) sides.sell.set(entry.oid ?? '', entry);
  for (const { sequence, changes } of steps) {
    if (sequence <= snapshot.sequence) continue;
    for (const change of changes) {
      sides.buy.delete(change.oid);
      sides.sell.delete(change.oid);
      if (change.kind === 'open') sides[change.side].set(change.oid, change);
    }
  }
  return { bids: [...sides.buy.values()], asks: [...sides.sell.values()] };
}
