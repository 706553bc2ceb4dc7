/** Book of a tape, rebuilt row by row: sorted levels per side, best first. */
import { enlarged } from '../../core/index.ts';
import { KIND, SIDE, type Columns } from './tape.ts';

/** Levels of one side in flat arrays, best first. */
export class RecordedSide {
  readonly #sign: 1 | -1;
  #prices = new Float64Array(64);
  #amounts = new Float64Array(64);
  #length = 0;

  /** Creates an empty side of a book. `sign` is +1 if the lowest price is best (asks), -1 if the highest is (bids). */
  constructor(sign: 1 | -1) {
    this.#sign = sign;
  }

  get length(): number {
    return this.#length;
  }

  /** Returns the price of a level, in ticks; 0 past the end. */
  priceAt(index: number): number {
    return index < this.#length ? this.#prices[index]! : 0;
  }

  amountAt(index: number): number {
    return index < this.#length ? this.#amounts[index]! : 0;
  }

  amountOf(price: number): number {
    const i = this.#find(price);
    return i < this.#length && this.#prices[i] === price ? this.#amounts[i]! : 0;
  }

  set(price: number, amount: number): void {
    const i = this.#find(price);
    const present = i < this.#length && this.#prices[i] === price;
    if (amount > 0) {
      if (!present) this.#insert(i, price);
      this.#amounts[i] = amount;
    } else if (present) {
      this.#prices.copyWithin(i, i + 1, this.#length);
      this.#amounts.copyWithin(i, i + 1, this.#length);
      this.#length--;
    }
  }

  clear(): void {
    this.#length = 0;
  }

  /** Returns the index of the first level that is not better than `price`. */
  #find(price: number): number {
    const key = price * this.#sign;
    let low = 0;
    let high = this.#length;
    // Snapshots list the best level first, so a new level usually belongs at the end.
    if (high > 0 && this.#prices[high - 1]! * this.#sign < key) return high;
    while (low < high) {
      const pivot = (low + high) >> 1;
      if (this.#prices[pivot]! * this.#sign < key) low = pivot + 1;
      else high = pivot;
    }
    return low;
  }

  #insert(i: number, price: number): void {
    if (this.#length === this.#prices.length) {
      this.#prices = enlarged(this.#prices, this.#length * 2);
      this.#amounts = enlarged(this.#amounts, this.#length * 2);
    }
    this.#prices.copyWithin(i + 1, i, this.#length);
    this.#amounts.copyWithin(i + 1, i, this.#length);
    this.#prices[i] = price;
    this.#length++;
  }
}

type Resting = { readonly side: number; readonly price: number; amount: number };

/**
 * Book rebuilt from rows. By default, level rows define the book, because per-order rows of the same tape repeat the
 * changes of the level rows. With `fromOrders`, the book is the sum of the orders per price.
 */
export class RowBook {
  readonly bids = new RecordedSide(-1);
  readonly asks = new RecordedSide(1);
  readonly #fromOrders: boolean;
  readonly #orders = new Map<number, Resting>();

  constructor(fromOrders: boolean) {
    this.#fromOrders = fromOrders;
  }

  /** Whether a row of this kind can change the book. */
  takes(kind: number): boolean {
    if (kind === KIND.trade) return false;
    return kind === KIND.clear || (kind === KIND.level) !== this.#fromOrders;
  }

  apply(kind: number, side: number, price: number, amount: number, id: number): void {
    if (!this.takes(kind)) return;
    if (kind === KIND.clear) this.clear();
    else if (kind === KIND.level) this.#sideOf(side).set(price, amount);
    else this.#applyOrder(kind, side, price, amount, id);
  }

  clear(): void {
    this.bids.clear();
    this.asks.clear();
    this.#orders.clear();
  }

  #sideOf(code: number): RecordedSide {
    return code === SIDE.buy ? this.bids : this.asks;
  }

  #applyOrder(kind: number, side: number, price: number, amount: number, id: number): void {
    const known = this.#orders.get(id);
    if (known) {
      const levels = this.#sideOf(known.side);
      levels.set(known.price, levels.amountOf(known.price) - known.amount);
      this.#orders.delete(id);
    } else if (kind !== KIND.add) return;
    if (kind === KIND.remove || amount === 0) return;
    const levels = this.#sideOf(side);
    levels.set(price, levels.amountOf(price) + amount);
    this.#orders.set(id, { side, price, amount });
  }
}

/** Book of one tape in memory, which applies rows by their index. */
export class RecordedBook {
  readonly #columns: Columns;
  readonly #book: RowBook;

  constructor(columns: Columns) {
    this.#columns = columns;
    this.#book = new RowBook(!columns.kind.includes(KIND.level));
  }

  get bids(): RecordedSide {
    return this.#book.bids;
  }

  get asks(): RecordedSide {
    return this.#book.asks;
  }

  /** Whether a row can change the book. */
  concerns(row: number): boolean {
    return this.#book.takes(this.#columns.kind[row]!);
  }

  apply(row: number): void {
    const { kind, side, price, amount, id } = this.#columns;
    this.#book.apply(kind[row]!, side[row]!, price[row]!, amount[row]!, id[row]!);
  }

  clear(): void {
    this.#book.clear();
  }
}
