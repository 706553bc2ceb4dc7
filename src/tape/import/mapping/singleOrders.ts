/** Per-order rows of a mapped table: the effect of each event on an order, and a number for each order. */
import { createHash } from 'node:crypto';
import { KIND, SIDE, type SideCode } from '../../model/tape.ts';
import { WrongFile, type Findings } from '../read/findings.ts';
import { shown } from '../lines.ts';
import type { RowBuffer } from '../rows.ts';
import type { TableOf } from './mapping.ts';
import { knownSide, type Cells, type Numbers, type RowReader } from './cells.ts';
import { SnapshotRows } from './snapshotRows.ts';

/** Events of the mapping, except `clear`, which does not concern an order. */
const ORDER_EVENTS = ['add', 'change', 'reduce', 'remove', 'execute', 'fill', 'replace'] as const;
type OrderEvent = (typeof ORDER_EVENTS)[number];

type Resting = {
  readonly number: number;
  readonly side: SideCode;
  price: number;
  lots: number;
  /**
   * Executed amount, in lots, that `fill` events have reported and that no later event has removed from the order yet.
   */
  filled: number;
};

/** Maximum number of resting orders; the largest known books have about 10,000 orders. */
const ORDERS_MAX = 2_000_000;

/**
 * Returns a reader of orders. A `change` row has the remaining amount; `reduce` and `execute` rows have the removed
 * amount. An `execute` row is also a trade, whose taker is on the other side. A `fill` row belongs to the later event
 * that removes its amount from the order. A `replace` row removes the order and adds an order with the new id. Cells of
 * side and price may be empty if the order is known.
 */
export function ordersReader(table: TableOf<'orders'>, numbers: Numbers, findings: Findings): RowReader {
  const reader = new OrderReader(table, numbers, findings);
  return (cells, at, local, rows) => reader.read(cells, at, local, rows);
}

class OrderReader {
  readonly #table: TableOf<'orders'>;
  readonly #numbers: Numbers;
  readonly #findings: Findings;
  readonly #events: ReadonlyMap<string, OrderEvent | 'clear'>;
  readonly #snapshot: SnapshotRows;
  readonly #ids = new OrderNumbers();
  /** Resting orders by id. */
  readonly #orders = new Map<string, Resting>();

  constructor(table: TableOf<'orders'>, numbers: Numbers, findings: Findings) {
    this.#table = table;
    this.#numbers = numbers;
    this.#findings = findings;
    this.#snapshot = new SnapshotRows(table.snapshot);
    this.#events = new Map(
      ([...ORDER_EVENTS, 'clear'] as const).flatMap(event => table.event[event].map(word => [word, event] as const)),
    );
  }

  read(cells: Cells, at: number, local: number, rows: RowBuffer): void {
    const { event: words, id: idColumn } = this.#table;
    const word = cells(words.column);
    const event = this.#events.get(word);
    if (event === undefined)
      throw new RangeError(`expected ${[...this.#events.keys()].join(', ')}, found ${shown(word)}`);
    if (event === 'clear') {
      this.#clear(at, local, rows);
      return;
    }
    const id = cells(idColumn);
    if (id === '' || id === '0') throw new RangeError(`expected the id of an order, found ${shown(id)}`);
    const known = this.#orders.get(id);
    const side = this.#sideOf(cells, known);
    const price = this.#priceOf(cells, known);
    const cell = cells(this.#table.amount);
    const lots = event === 'remove' && cell === '' ? (known?.lots ?? 0) : this.#numbers.lots(cell);
    if (this.#snapshot.begins(cells, local)) this.#clear(at, local, rows);
    const number = known?.number ?? this.#ids.numberOf(id);
    if (event === 'replace') this.#replaced(cells, { id, known, side, price, lots }, at, local, rows);
    else if (event === 'add') {
      if (known !== undefined)
        this.#findings.found('order ids that are already in use', 'the later order is kept', rows.place);
      rows.push(KIND.add, side, at, local, price, lots, number);
      this.#rest(id, { number, side, price, lots, filled: 0 });
    } else if (event === 'change' || event === 'remove')
      this.#told(event, { id, known, number, side, price, lots }, at, local, rows);
    else if (known === undefined) {
      this.#findings.found(UNKNOWN, event === 'execute' ? 'the trade is kept' : 'left out', rows.place);
      if (event === 'execute') rows.push(KIND.trade, otherSide(side), at, local, price, lots, 0);
    } else if (event === 'fill') known.filled += lots;
    else {
      this.#less(id, known, event === 'execute' ? 0 : lots, lots, at, local, rows);
      if (event === 'execute') rows.push(KIND.trade, otherSide(side), at, local, price, lots, 0);
    }
  }

  /** Handles a `change` or `remove` row, which has the remaining amount of an order. */
  #told(
    event: 'change' | 'remove',
    {
      id,
      known,
      number,
      side,
      price,
      lots,
    }: Omit<Resting, 'filled'> & { readonly id: string; readonly known: Resting | undefined },
    at: number,
    local: number,
    rows: RowBuffer,
  ): void {
    if (known === undefined)
      this.#findings.found(UNKNOWN, 'kept; the orders were placed before the recording', rows.place);
    if (event === 'remove') {
      rows.push(KIND.remove, side, at, local, price, Math.max(0, lots - (known?.filled ?? 0)), number);
      this.#orders.delete(id);
      this.#ids.forget(number);
      return;
    }
    if (known !== undefined && known.price === price && lots >= known.lots)
      this.#findings.found(
        'changes that do not reduce the amount of an order',
        'kept; if the rows give the removed amount, map the event as `reduce` or `execute`',
        rows.place,
      );
    rows.push(KIND.change, side, at, local, price, lots, number);
    this.#rest(id, { number, side, price, lots, filled: 0 });
  }

  /**
   * Handles a `replace` row: removes the order and adds its replacement. If the order is unknown, only adds the
   * replacement.
   */
  #replaced(
    cells: Cells,
    {
      id,
      known,
      side,
      price,
      lots,
    }: Pick<Resting, 'side' | 'price' | 'lots'> & { readonly id: string; readonly known: Resting | undefined },
    at: number,
    local: number,
    rows: RowBuffer,
  ): void {
    const newId = cells(this.#table.newId!);
    if (newId === '' || newId === '0') throw new RangeError(`expected the new id of an order, found ${shown(newId)}`);
    if (known === undefined)
      this.#findings.found(UNKNOWN, 'kept; the orders were placed before the recording', rows.place);
    else {
      rows.push(KIND.remove, known.side, at, local, known.price, Math.max(0, known.lots - known.filled), known.number);
      this.#orders.delete(id);
      this.#ids.forget(known.number);
    }
    const other = this.#orders.get(newId);
    if (other !== undefined)
      this.#findings.found('order ids that are already in use', 'the later order is kept', rows.place);
    const number = other?.number ?? this.#ids.numberOf(newId);
    rows.push(KIND.add, side, at, local, price, lots, number);
    this.#rest(newId, { number, side, price, lots, filled: 0 });
  }

  /**
   * Removes `lots` from an order. `canceled`: lots that the current row does not execute; an earlier `fill` row may
   * have reported the execution of these lots.
   */
  #less(id: string, order: Resting, canceled: number, lots: number, at: number, local: number, rows: RowBuffer): void {
    const { number, side, price } = order;
    if (lots > order.lots)
      this.#findings.found(
        'reductions by more than the remaining amount of the order',
        'the order was removed',
        rows.place,
      );
    const left = Math.max(0, order.lots - lots);
    if (left > 0) {
      rows.push(KIND.change, side, at, local, price, left, number);
      order.filled = Math.max(0, order.filled - lots);
      order.lots = left;
      return;
    }
    // A `remove` row with amount 0 means that the order was executed.
    const unfilled = Math.max(0, Math.min(canceled, order.lots) - order.filled);
    rows.push(KIND.remove, side, at, local, price, unfilled, number);
    this.#orders.delete(id);
    this.#ids.forget(number);
  }

  #rest(id: string, order: Resting): void {
    if (this.#orders.size >= ORDERS_MAX)
      throw new WrongFile(
        `more than ${ORDERS_MAX} orders rest in the book at the same time: the rows that remove orders are missing`,
      );
    this.#orders.set(id, order);
  }

  #clear(at: number, local: number, rows: RowBuffer): void {
    this.#orders.clear();
    this.#ids.clear();
    rows.clear(at, local);
  }

  #sideOf(cells: Cells, known: Resting | undefined): SideCode {
    const { side } = this.#table;
    if (known !== undefined && cells(side.column) === '') return known.side;
    return knownSide(side, cells);
  }

  #priceOf(cells: Cells, known: Resting | undefined): number {
    const cell = cells(this.#table.price);
    return cell === '' && known !== undefined ? known.price : this.#numbers.price(cell);
  }
}

const UNKNOWN = 'events of unknown orders';
const otherSide = (side: SideCode): SideCode => (side === SIDE.buy ? SIDE.sell : SIDE.buy);

/**
 * An integer id below this bound is also the number of its order. Orders with other ids get a number at or above the
 * bound.
 */
const OWN_NUMBERS = 2 ** 52;

/**
 * Unique numbers of resting orders. If an id is text or too large, the number is derived only from the id. A second
 * import of the market therefore gives equal numbers.
 */
export class OrderNumbers {
  readonly #taken = new Map<number, string>();

  /** Returns the number for a new order with this id. */
  numberOf(id: string): number {
    if (/^[1-9]\d{0,15}$/.test(id) && Number(id) < OWN_NUMBERS) return Number(id);
    const digest = createHash('sha256').update(id).digest().readUIntBE(0, 6);
    let number = OWN_NUMBERS + digest;
    while ((this.#taken.get(number) ?? id) !== id) number++;
    this.#taken.set(number, id);
    return number;
  }

  forget(number: number): void {
    this.#taken.delete(number);
  }

  clear(): void {
    this.#taken.clear();
  }
}
