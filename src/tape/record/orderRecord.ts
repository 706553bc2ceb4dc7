/**
 * Book of individual orders, recorded as rows: every change from the stream. A complete book adds rows only for its
 * differences from the recorded book.
 */
import {
  priceCeil,
  priceExact,
  priceFloor,
  shownAmount,
  type BookDiff,
  type BookEntry,
  type BookSnapshot,
  type DecimalText,
  type Instrument,
  type Side,
} from '../../core/index.ts';
import { KIND, SIDE, sideCodeOf, type SideCode } from '../model/tape.ts';

export type RowCall = (kind: number, side: number, price: number, amount: number, id: number) => void;

/** Resting order. `priceText` is the price as the exchange wrote it, which is needed if the tick changes. */
type Resting = {
  readonly id: number;
  readonly side: Side;
  readonly priceText: DecimalText;
  readonly price: number;
  readonly lots: number;
};

/**
 * Maximum number of removed orders whose numbers are remembered, because a trade can arrive after its order was
 * removed.
 */
const GONE_MAX = 4_096;

export class OrderRecord {
  #instrument: Instrument;
  readonly #orders = new Map<string, Resting>();
  /** Order numbers of recently removed orders. */
  readonly #gone = new Map<string, number>();
  /** Number of the last order. Orders are numbered by arrival, because their ids are text. */
  #lastId = 0;
  #offTick = 0;

  constructor(instrument: Instrument) {
    this.#instrument = instrument;
  }

  /** Returns an order's number, also for some time after the order's removal; `null` for an unknown order. */
  numberOf(oid: string): number | null {
    return this.#orders.get(oid)?.id ?? this.#gone.get(oid) ?? null;
  }

  get size(): number {
    return this.#orders.size;
  }

  /** Number of orders whose price was between two ticks, for example orders placed before a change of the tick. */
  get offTick(): number {
    return this.#offTick;
  }

  /** Applies one step of the exchange's sequence. */
  apply({ changes }: Pick<BookDiff, 'changes'>, row: RowCall): void {
    for (const change of changes) {
      if (change.kind === 'open') this.#open(change.oid, change.side, change.price, change.amount, row);
      else this.#remove(change.oid, row, change.filled);
    }
  }

  /**
   * Makes the record equal to a complete book and returns the number of rows written. Throws a RangeError, without
   * changes, on a book of levels.
   */
  become(snapshot: Pick<BookSnapshot, 'bids' | 'asks'>, row: RowCall): number {
    const seen = new Set<string>();
    for (const { oid } of [...snapshot.bids, ...snapshot.asks]) {
      if (oid === undefined)
        throw new RangeError('expected an id for every order of the complete book, found an order without an id');
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

  /** Writes the complete book again, after a `clear`. */
  restate(row: RowCall): void {
    row(KIND.clear, SIDE.unknown, 0, 0, 0);
    for (const { side, price, lots, id } of this.#orders.values()) row(KIND.add, sideCodeOf(side), price, lots, id);
  }

  /**
   * Sets the instrument, which gives the units of later prices and amounts. If the tick changed, call `restate`
   * afterwards.
   */
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
      // A complete book may format a price differently from the stream: 40.10 and 40.1.
      (before.priceText === priceText || before.price === this.#ticks(side, priceText))
    ) {
      if (lots === before.lots) return;
      row(KIND.change, sideCodeOf(side), before.price, lots, before.id);
      this.#orders.set(oid, { ...before, lots });
      return;
    }
    // An order whose price changed, or whose amount grew, moves to the end of the queue at its price.
    if (before) this.#remove(oid, row);
    const price = this.#ticks(side, priceText);
    if (price === null || price <= 0 || lots === 0) return;
    const id = before?.id ?? ++this.#lastId;
    this.#gone.delete(oid);
    this.#orders.set(oid, { id, side, priceText, price, lots });
    row(KIND.add, sideCodeOf(side), price, lots, id);
  }

  /** Removes an order. The row's amount is 0 if the order was filled, or the canceled amount. */
  #remove(oid: string, row: RowCall, filled = false): void {
    const order = this.#orders.get(oid);
    if (!order) return;
    this.#orders.delete(oid);
    this.#gone.set(oid, order.id);
    if (this.#gone.size > GONE_MAX)
      for (const old of [...this.#gone.keys()].slice(0, GONE_MAX / 2)) this.#gone.delete(old);
    row(KIND.remove, sideCodeOf(order.side), order.price, filled ? 0 : order.lots, order.id);
  }

  /**
   * Returns a price in ticks; `null` if the text is not a usable price. A price between two ticks is rounded toward the
   * opposite side, as in the engine's market data.
   */
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

/**
 * Returns the side code of the taker from the maker's side. Trade rows have the taker's side, messages of the exchange
 * the maker's.
 */
export const takerCodeOf = (makerSide: Side): SideCode => (makerSide === 'buy' ? SIDE.sell : SIDE.buy);

/** Whether every entry has an order id. Entries of a book of levels have none. */
export const isOrderByOrder = ({ bids, asks }: Pick<BookSnapshot, 'bids' | 'asks'>): boolean =>
  [...bids, ...asks].every(({ oid }) => oid !== undefined);

/**
 * Returns the reason why a book cannot be recorded as complete; `null` if every order has an id and a readable price.
 */
export function unfitFor(book: BookSnapshot): string | null {
  const { damage } = book;
  return damage?.bids?.why ?? damage?.asks?.why ?? (isOrderByOrder(book) ? null : 'the orders of the book have no ids');
}

/**
 * Returns a complete book with later steps applied; steps up to the sequence of the book are skipped. The entries are
 * not sorted by price.
 */
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
