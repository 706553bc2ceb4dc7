/** The order book: amounts by price on a window of ticks around the touch, reused in place. */
import { opposite } from './units.ts';
import type { Amount, Price, Side } from './units.ts';

/** Widest window, in ticks a side; levels farther from the touch are kept in a map until the touch comes near them. */
const WINDOW_MAX = 1 << 20;
const WINDOW_MIN = 1 << 12;
/** How far from the touch a level may be to have the window moved for it: half of the widest, so that each move leaves room for the next levels. */
const REACH_MAX = WINDOW_MAX >> 1;

/** Best levels of both sides, best first, in flat arrays that are reused: copy what you keep. */
export type Depth = {
  readonly bidPrices: Float64Array;
  readonly bidAmounts: Float64Array;
  readonly askPrices: Float64Array;
  readonly askAmounts: Float64Array;
  /** How many entries of each are filled. */
  bids: number;
  asks: number;
};

/** Levels a side that decisions see, and that recordings keep. */
export const DEPTH_LEVELS = 50;

/** Room for this many levels of each side; prices in ticks, amounts in lots. */
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

  /** Sets the whole amount at a price; 0 removes the level. */
  set(side: Side, price: Price, amount: Amount): void {
    this.setOn(side === 'buy' ? 0 : 1, price, amount);
  }

  /** The same with the side as a number, 0 for bids: a feed tells of the two in no order, and a branch on the side is mostly guessed wrong. */
  setOn(side: 0 | 1, price: Price, amount: Amount): void {
    if (!(amount >= 0 && price > 0 && Number.isSafeInteger(price))) {
      throw new RangeError(
        `a level must be a whole price above 0 and an amount of at least 0, found ${amount} at ${price}`,
      );
    }
    const half = this.#halves[side];
    half.set(price * half.sign, amount);
  }

  amountAt(side: Side, price: Price): Amount {
    return (side === 'buy' ? this.#bids.get(-price) : this.#asks.get(price)) as Amount;
  }

  /** Best price of a side; 0 when it is empty. */
  best(side: Side): Price {
    if (side === 'buy') return (this.#bids.levels === 0 ? 0 : -this.#bids.best) as Price;
    return (this.#asks.levels === 0 ? 0 : this.#asks.best) as Price;
  }

  /** Number of levels on a side. */
  levels(side: Side): number {
    return side === 'buy' ? this.#bids.levels : this.#asks.levels;
  }

  clear(): void {
    this.#bids.clear();
    this.#asks.clear();
  }

  /** Fills `depth` with the best levels, as many as its arrays hold. */
  depth(depth: Depth): void {
    depth.bids = this.#bids.copyBest(depth.bidPrices, depth.bidAmounts);
    depth.asks = this.#asks.copyBest(depth.askPrices, depth.askAmounts);
  }
}

/** A book that somebody else keeps: whoever reads it takes out at once what they want to keep. */
export type BookLevels = Pick<OrderBook, 'depth'>;

/**
 * One side, by key: the price for asks, the negated price for bids, so that the best level is always the smallest key.
 * Amounts lie in one array over a window of keys; what is beyond its end goes to the far map, or moves or widens the window.
 * A level that goes leaves the search for the next best one to whoever asks: a feed tells of many levels between two who do.
 */
class HalfBook {
  levels = 0;
  /** Of a price to its key. */
  readonly sign: 1 | -1;
  #amounts = new Float64Array(WINDOW_MIN);
  #base = 0;
  /** No level has a smaller key; at most the window's end. */
  #from = WINDOW_MIN;
  readonly #far = new Map<number, number>();

  constructor(sign: 1 | -1) {
    this.sign = sign;
  }

  /** Smallest key with an amount, to be asked for while `levels` is above 0. Every far level is worse than every near one. */
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

  /** Levels inside the window; the others are in #far. */
  get #near(): number {
    return this.levels - this.#far.size;
  }

  #setNear(i: number, key: number, amount: number): void {
    const window = this.#amounts;
    const before = window[i]!;
    window[i] = amount;
    // Counted without a branch: which levels come and go is not to be guessed.
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

  /** Lays the window so that `best` has room on both sides and, when asked, `reach` fits; levels are re-sorted into near and far. */
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

/** Takes amounts of ours (lots) out of a depth, in place, and closes the gaps; a price that is not in it changes nothing. */
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

/** Best price of a depth's side, in ticks; 0 when it is empty. */
export const bestOf = (depth: Depth, side: Side): Price =>
  (side === 'buy' ? (depth.bids > 0 ? depth.bidPrices[0]! : 0) : depth.asks > 0 ? depth.askPrices[0]! : 0) as Price;

/** True when a price on `side` would trade against the other side's best; false when that side is empty. */
export function crosses(depth: Depth, side: Side, price: Price): boolean {
  const best = bestOf(depth, opposite(side));
  if (best === 0) return false;
  return side === 'buy' ? price >= best : price <= best;
}
