/** The trade rows of a tape of single orders: which of them tells that an order was executed. Each lot of a trade is one order's. */
import { KIND, SIDE } from '../../src/tape/index.ts';
import type { Columns } from '../../src/tape/index.ts';

/** A trade is recorded at most so long after or before the rows of the orders that it met. */
const APART_MS = 1_000;

type AtPrice = {
  /** In their order. */
  readonly rows: number[];
  /** The first that may still be near a row of an order. */
  from: number;
};

export class TradeRows {
  readonly #columns: Columns;
  readonly #prices = new Map<number, AtPrice>();
  /** Lots of each trade row that no order has yet. */
  readonly #left = new Map<number, number>();

  constructor(columns: Columns) {
    this.#columns = columns;
    const { kind, price, amount, length } = columns;
    for (let row = 0; row < length; row++) {
      if (kind[row] !== KIND.trade) continue;
      const there = this.#prices.get(price[row]!);
      if (there) there.rows.push(row);
      else this.#prices.set(price[row]!, { rows: [row], from: 0 });
      this.#left.set(row, amount[row]!);
    }
  }

  get isEmpty(): boolean {
    return this.#prices.size === 0;
  }

  /** Lots of the first trade after a row at the price of its order; 0 if there is none. */
  amountAfter(row: number): number {
    const { at, price, amount } = this.#columns;
    const rows = this.#prices.get(price[row]!)?.rows ?? [];
    const next = rows[placeAfter(rows, row)];
    return next !== undefined && at[next]! - at[row]! <= APART_MS ? amount[next]! : 0;
  }

  /**
   * Whether trades near a row tell that so many lots of an order at a price were executed; those lots are then no other order's. One trade of exactly
   * these lots goes before several, and before one of which more is left; a later one before an earlier one. To be asked for rows in their order.
   */
  take(row: number, price: number, lots: number, side: number): boolean {
    const near = this.#near(row, price);
    const whole = near.filter(trade => this.#left.get(trade) === lots);
    const exact = whole.find(trade => trade > row) ?? whole[0];
    if (exact !== undefined) {
      this.#left.delete(exact);
      return true;
    }
    // A trade of several orders, or several of one: only what the other side took.
    const own = near.filter(trade => this.#columns.side[trade] === SIDE.unknown || this.#columns.side[trade] !== side);
    if (own.reduce((sum, trade) => sum + this.#left.get(trade)!, 0) < lots) return false;
    let missing = lots;
    for (const trade of own) {
      const left = this.#left.get(trade)!;
      if (left > missing) this.#left.set(trade, left - missing);
      else this.#left.delete(trade);
      missing -= Math.min(left, missing);
      if (missing === 0) break;
    }
    return true;
  }

  /** Trades at a price, at most a second away, of which something is left. */
  #near(row: number, price: number): readonly number[] {
    const there = this.#prices.get(price);
    if (there === undefined) return [];
    const { at } = this.#columns;
    const { rows } = there;
    while (there.from < rows.length && at[rows[there.from]!]! < at[row]! - APART_MS) there.from++;
    const found: number[] = [];
    for (let i = there.from; i < rows.length && at[rows[i]!]! <= at[row]! + APART_MS; i++)
      if (this.#left.has(rows[i]!)) found.push(rows[i]!);
    return found;
  }
}

/** Index of the first of ascending numbers above `than`. */
function placeAfter(ascending: readonly number[], than: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const pivot = (low + high) >> 1;
    if (ascending[pivot]! <= than) low = pivot + 1;
    else high = pivot;
  }
  return low;
}
