/**
 * Trade rows of a tape of single orders, matched to the executed orders. Each lot of a trade belongs to one resting
 * order.
 */
import { KIND, SIDE, type Columns } from '../../src/tape/index.ts';

/** Maximum time between a trade row and the rows of its orders, in ms. */
const APART_MS = 1_000;

type AtPrice = {
  /** Indices of the trade rows at the price, ascending. */
  readonly rows: number[];
  /** Position in `rows` of the first trade row that can still be matched. Earlier trade rows are too old. */
  from: number;
};

export class TradeRows {
  readonly #columns: Columns;
  readonly #prices = new Map<number, AtPrice>();
  /** Unmatched lots of each trade row. */
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

  /** Returns the lots of the first trade after `row` at the price of its order; 0 if there is none within a second. */
  amountAfter(row: number): number {
    const { at, price, amount } = this.#columns;
    const rows = this.#prices.get(price[row]!)?.rows ?? [];
    const next = rows[placeAfter(rows, row)];
    return next !== undefined && at[next]! - at[row]! <= APART_MS ? amount[next]! : 0;
  }

  /**
   * Whether trades near a row show that `lots` of an order at a price were executed; these lots then count as matched.
   * A single trade of exactly `lots` is preferred to a larger trade or several trades; among such single trades, a
   * trade after the row is preferred. Must be called in row order.
   */
  take(row: number, price: number, lots: number, side: number): boolean {
    const near = this.#near(row, price);
    const whole = near.filter(trade => this.#left.get(trade) === lots);
    const exact = whole.find(trade => trade > row) ?? whole[0];
    if (exact !== undefined) {
      this.#left.delete(exact);
      return true;
    }
    // No trade has exactly `lots`. The lots can be part of a larger trade, or the sum of several trades. The taker of
    // such a trade must not be on the side of the order.
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

  /**
   * Whether the trades of exactly `lots` near a row, at its price, show that the order of the row was the maker: there
   * is such a trade, and all their takers are on the other side. `side`: side of the order.
   */
  hasMaker(row: number, lots: number, side: number): boolean {
    const { at, price, side: takers } = this.#columns;
    const rows = this.#prices.get(price[row]!)?.rows ?? [];
    const isNear = (trade: number | undefined): trade is number =>
      trade !== undefined && Math.abs(at[trade]! - at[row]!) <= APART_MS;
    let found = false;
    const start = placeAfter(rows, row);
    for (const step of [-1, 1])
      for (let i = step < 0 ? start - 1 : start; isNear(rows[i]); i += step) {
        if (this.#left.get(rows[i]!) !== lots) continue;
        if (takers[rows[i]!] === SIDE.unknown || takers[rows[i]!] === side) return false;
        found = true;
      }
    return found;
  }

  /** Returns the trade rows at a price that have unmatched lots and are at most a second before or after `row`. */
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

/** Returns the index of the first number above `than` in an ascending list. */
function placeAfter(ascending: readonly number[], than: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const pivot = (low + high) >> 1;
    if (ascending[pivot]! <= than) low = pivot + 1;
    else high = pivot;
  }
  return low;
}
