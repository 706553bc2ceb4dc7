/** Order book: amounts by price in a reused window of ticks around the best bid and ask. */
import { opposite, type Amount, type Price, type Side } from './units.ts';

/**
 * Maximum window size, in ticks per side. Levels beyond the window are kept in a map until the best price comes near
 * these levels.
 */
const WINDOW_MAX = 1 << 20;
const WINDOW_MIN = 1 << 12;
/**
 * Maximum distance from the best price, in ticks, at which a level still moves the window: half of the maximum window,
 * so that each move leaves space for the next levels.
 */
const REACH_MAX = WINDOW_MAX >> 1;

/** Best levels of both sides, best first. The arrays are reused: copy values to keep them. */
export type Depth = {
  readonly bidPrices: Float64Array;
  readonly bidAmounts: Float64Array;
  readonly askPrices: Float64Array;
  readonly askAmounts: Float64Array;
  /** Number of filled bid entries; `asks` is the number of filled ask entries. */
  bids: number;
  asks: number;
};

/** Number of levels per side that decisions use and recordings keep. */
export const DEPTH_LEVELS = 50;

/** Returns an empty depth with capacity for `levels` levels per side. Prices are in ticks, amounts in lots. */
export const emptyDepth = (levels: number): Depth => ({
  bidPrices: new Float64Array(levels),
  bidAmounts: new Float64Array(levels),
  askPrices: new Float64Array(levels),
  askAmounts: new Float64Array(levels),
  bids: 0,
  asks: 0,
});

export class OrderBook {
  readonly #bids = new HalfBook(-1);
  readonly #asks = new HalfBook(1);
  readonly #halves = [this.#bids, this.#asks] as const;

  /** Sets the total amount at a price; 0 removes the level. */
  set(side: Side, price: Price, amount: Amount): void {
    this.setOn(side === 'buy' ? 0 : 1, price, amount);
  }

  /**
   * Sets an amount like `set`, with the side as a number: 0 for bids, 1 for asks. Feeds mix the sides, so a branch on
   * the side would often be mispredicted.
   */
  setOn(side: 0 | 1, price: Price, amount: Amount): void {
    if (!(amount >= 0 && price > 0 && Number.isSafeInteger(price))) {
      throw new RangeError(
        `a level needs a price in whole ticks above 0 and an amount of at least 0, found amount ${amount} at price ${price}`,
      );
    }
    const half = this.#halves[side];
    half.set(price * half.sign, amount);
  }

  amountAt(side: Side, price: Price): Amount {
    return (side === 'buy' ? this.#bids.get(-price) : this.#asks.get(price)) as Amount;
  }

  /** Returns the best price of a side, or 0 if the side is empty. */
  best(side: Side): Price {
    if (side === 'buy') return (this.#bids.levels === 0 ? 0 : -this.#bids.best) as Price;
    return (this.#asks.levels === 0 ? 0 : this.#asks.best) as Price;
  }

  /** Returns the number of levels on a side. */
  levels(side: Side): number {
    return side === 'buy' ? this.#bids.levels : this.#asks.levels;
  }

  clear(): void {
    this.#bids.clear();
    this.#asks.clear();
  }

  /** Fills `depth` with the best levels, up to the capacity of its arrays. */
  depth(depth: Depth): void {
    depth.bids = this.#bids.copyBest(depth.bidPrices, depth.bidAmounts);
    depth.asks = this.#asks.copyBest(depth.askPrices, depth.askAmounts);
  }
}

/** Read-only view of a book that its owner keeps updating: copy levels to keep them. */
export type BookLevels = Pick<OrderBook, 'depth'>;

/**
 * One side of the book by key: the price for asks, the negated price for bids, so that the best level has the smallest
 * key.
 *
 * An array over a window of keys holds the amounts. A level beyond the end of the window goes to the far map, or moves
 * or widens the window. Only `best` searches for the next best level, not each removal, because feeds send many updates
 * between two reads.
 */
class HalfBook {
  levels = 0;
  /** Factor that converts a price to its key. */
  readonly sign: 1 | -1;
  #amounts = new Float64Array(WINDOW_MIN);
  #base = 0;
  /** Lower bound of all keys with an amount; at most the end of the window. */
  #from = WINDOW_MIN;
  readonly #far = new Map<number, number>();

  constructor(sign: 1 | -1) {
    this.sign = sign;
  }

  /**
   * Smallest key with an amount; call it only if `levels` is above 0. Every level in `#far` is worse than every level
   * inside the window.
   */
  get best(): number {
    if (this.#near === 0) {
      let nearest = Infinity;
      for (const key of this.#far.keys()) if (key < nearest) nearest = key;
      if (nearest < Infinity) this.#moveWindow(nearest);
    }
    const window = this.#amounts;
    let i = this.#from - this.#base;
    while (window[i] === 0) i++;
    return (this.#from = i + this.#base);
  }

  set(key: number, amount: number): void {
    const i = key - this.#base;
    if (i >= 0 && i < this.#amounts.length) this.#setNear(i, key, amount);
    else this.#setOutside(key, amount);
  }

  get(key: number): number {
    const i = key - this.#base;
    if (i >= 0 && i < this.#amounts.length) return this.#amounts[i]!;
    return this.#far.get(key) ?? 0;
  }

  clear(): void {
    if (this.#near > 0) this.#amounts.fill(0);
    this.#far.clear();
    this.levels = 0;
    this.#from = this.#base + this.#amounts.length;
  }

  copyBest(prices: Float64Array, amounts: Float64Array): number {
    if (this.levels === 0) return 0;
    const { sign } = this;
    const wanted = Math.min(prices.length, this.levels);
    let copied = 0;
    const first = this.best - this.#base;
    const window = this.#amounts;
    const nearWanted = Math.min(wanted, this.#near);
    for (let i = first; copied < nearWanted; i++) {
      const amount = window[i]!;
      if (amount > 0) {
        prices[copied] = sign * (i + this.#base);
        amounts[copied] = amount;
        copied++;
      }
    }
    if (copied === wanted) return copied;
    const far = [...this.#far.entries()].sort((a, b) => a[0] - b[0]);
    for (const [key, amount] of far) {
      if (copied === wanted) break;
      prices[copied] = sign * key;
      amounts[copied] = amount;
      copied++;
    }
    return copied;
  }

  /** Number of levels inside the window; the other levels are in `#far`. */
  get #near(): number {
    return this.levels - this.#far.size;
  }

  #setNear(i: number, key: number, amount: number): void {
    const window = this.#amounts;
    const before = window[i]!;
    window[i] = amount;
    // This count needs no branch, which would be mispredicted.
    this.levels += Number(amount > 0) - Number(before > 0);
    if (key < this.#from && amount > 0) this.#from = key;
  }

  #setOutside(key: number, amount: number): void {
    if (amount === 0) {
      if (this.#far.delete(key)) this.levels--;
      return;
    }
    if (this.levels === 0 || key < this.#base) {
      this.#moveWindow(Math.min(key, this.levels === 0 ? key : this.best));
    } else if (key - this.best < REACH_MAX) {
      this.#moveWindow(this.best, key);
    }
    const i = key - this.#base;
    if (i >= 0 && i < this.#amounts.length) {
      this.#setNear(i, key, amount);
      return;
    }
    if (!this.#far.has(key)) this.levels++;
    this.#far.set(key, amount);
  }

  /**
   * Moves the window so that `best` has space on both sides and the key `reach` is inside. Sorts the levels into near
   * and far levels again.
   */
  #moveWindow(best: number, reach = best): void {
    const kept: [number, number][] = [...this.#far.entries()];
    for (let i = 0, left = this.#near; left > 0; i++) {
      if (this.#amounts[i]! > 0) {
        kept.push([i + this.#base, this.#amounts[i]!]);
        left--;
      }
    }
    const margin = Math.max(this.#amounts.length, 2 * (reach - best)) >> 2;
    let length = this.#amounts.length;
    while (length < WINDOW_MAX && length < reach - best + 2 * margin) length *= 2;
    if (length === this.#amounts.length) this.#amounts.fill(0);
    else this.#amounts = new Float64Array(length);
    this.#base = best - Math.min(margin, length >> 2);
    this.#far.clear();
    this.#from = best;
    for (const [key, amount] of kept) {
      const i = key - this.#base;
      if (i >= 0 && i < length) this.#amounts[i] = amount;
      else this.#far.set(key, amount);
    }
  }
}

/**
 * Subtracts the bot's amount (lots) at one price from a depth, in place. Removes the level if no amount remains. Does
 * nothing if the depth has no such price.
 */
export function subtractOwn(depth: Depth, side: Side, ownPrice: Price, ownAmount: Amount): void {
  const prices = side === 'buy' ? depth.bidPrices : depth.askPrices;
  const amounts = side === 'buy' ? depth.bidAmounts : depth.askAmounts;
  const count = side === 'buy' ? depth.bids : depth.asks;
  for (let i = 0; i < count; i++) {
    if (prices[i] !== ownPrice) continue;
    const left = amounts[i]! - ownAmount;
    if (left > 0) {
      amounts[i] = left;
      return;
    }
    prices.copyWithin(i, i + 1, count);
    amounts.copyWithin(i, i + 1, count);
    if (side === 'buy') depth.bids--;
    else depth.asks--;
    return;
  }
}

/** Returns the best price of a side, in ticks, or 0 if the side is empty. */
export const bestOf = (depth: Depth, side: Side): Price =>
  (side === 'buy' ? (depth.bids > 0 ? depth.bidPrices[0]! : 0) : depth.asks > 0 ? depth.askPrices[0]! : 0) as Price;

/** Whether an order at this price would trade immediately; false if the other side is empty. */
export function crosses(depth: Depth, side: Side, price: Price): boolean {
  const best = bestOf(depth, opposite(side));
  if (best === 0) return false;
  return side === 'buy' ? price >= best : price <= best;
}
