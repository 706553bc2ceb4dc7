/**
 * Columns of a replay, with one row per event: its price as an index into a window of ticks, its exchange time and its
 * receive time. The simulated exchange and the bot read the same columns.
 */
import { counted, enlarged } from '../../src/core/index.ts';

/**
 * Bits of a row's flags.
 * - `unseen`: the level moved beyond the recorded depth, and may still exist.
 * - `snapshot`: the row is from a snapshot of the book.
 * - `again`: the row repeats a level that executions may have invalidated.
 * - `end`: last row of a snapshot, which repeats a level.
 * - `ghost`: the level is removed as stale, because executions passed it.
 * - `crossed`: the recorded best bid is above the best ask.
 */
export const FLAG = { trade: 1, sell: 2, unseen: 4, snapshot: 8, again: 16, end: 32, ghost: 64, crossed: 128 } as const;
export const BUY = 0;
export const SELL = 1;
export type SideIndex = typeof BUY | typeof SELL;
/** Returns the side in the flags of a row. */
export const sideOf = (flags: number): SideIndex => ((flags & FLAG.sell) >> 1) as SideIndex;

/**
 * Rows of a market. A level row has the total amount at a price; 0 if the level is empty. A trade row is one execution
 * with the taker's side. Prices are price indices (`place`): index p is the price `base` + p ticks. Indices outside 1
 * .. `places` - 2 are far from all trades. All times are in the unit of the source.
 */
export type MarketRows = {
  readonly length: number;
  readonly base: number;
  readonly places: number;
  /** Number of recorded levels per side; Infinity for a complete book. Deeper levels are unknown. */
  readonly depth: number;
  /** Exchange times, never decreasing. A last entry of Infinity ends loops over the rows. */
  readonly at: Float64Array;
  /**
   * Receive times at the bot: never before the exchange time, never decreasing. The last entry is Infinity, as in `at`.
   */
  readonly local: Float64Array;
  readonly place: Int32Array;
  readonly lots: Float64Array;
  readonly flags: Uint8Array;
  /** Columns about the orders that caused the rows; `null` for a tape without single orders. */
  readonly orders: OrderColumns | null;
};

/**
 * Columns for a tape of single orders, with one entry per row. Each execution is a trade row, followed by the level row
 * that it caused.
 */
export type OrderColumns = {
  /** Index of the row at which the resting order joined the queue; -1 if it rested before the tape. */
  readonly born: Int32Array;
  /** Lots by which the order shrank; negative if it arrived or grew. */
  readonly gone: Float64Array;
  /** 1 if the order shrank by an execution, otherwise 0. */
  readonly executed: Uint8Array;
};

/** Copies the rows to memory that several threads can share. */
export function rowsInShared(rows: MarketRows): MarketRows {
  if (rows.at.buffer instanceof SharedArrayBuffer) return rows;
  const { length, base, places, depth, at, local, place, lots, flags, orders } = rows;
  const shared = <T extends Float64Array | Int32Array | Uint8Array>(from: T): T => {
    const to = new (from.constructor as new (memory: SharedArrayBuffer) => T)(new SharedArrayBuffer(from.byteLength));
    to.set(from);
    return to;
  };
  return {
    ...{ length, base, places, depth, at: shared(at), local: shared(local) },
    ...{ place: shared(place), lots: shared(lots), flags: shared(flags) },
    orders: orders && { born: shared(orders.born), gone: shared(orders.gone), executed: shared(orders.executed) },
  };
}

/** Receiver of rows, whose prices are in ticks. */
export interface RowsOut {
  add(at: number, local: number, tick: number, lots: number, flags: number): void;
}

/** Collector of rows. It makes local times monotonic, and never earlier than exchange times. */
export class RowBuilder implements RowsOut {
  #length = 0;
  #at = new Float64Array(1024);
  #local = new Float64Array(1024);
  #tick = new Float64Array(1024);
  #lots = new Float64Array(1024);
  #flags = new Uint8Array(1024);

  get length(): number {
    return this.#length;
  }

  add(at: number, local: number, tick: number, lots: number, flags: number): void {
    const n = this.#length;
    if (n === this.#flags.length) this.#grow();
    const before = n === 0 ? -Infinity : this.#at[n - 1]!;
    if (!(at >= before && local < Infinity && lots >= 0 && Number.isSafeInteger(tick))) {
      throw new RangeError(
        `row ${n} is invalid or out of order: time ${at} (previous row: ${before}), receive time ${local}, ${counted(lots, 'lot')} at tick ${tick}`,
      );
    }
    this.#at[n] = at;
    this.#local[n] = Math.max(at, local, n === 0 ? at : this.#local[n - 1]!);
    this.#tick[n] = tick;
    this.#lots[n] = lots;
    this.#flags[n] = flags;
    this.#length = n + 1;
  }

  /** Returns the rows. The default window is the result of `windowOf`. */
  rows(orders: OrderColumns | null = null, window?: Pick<MarketRows, 'base' | 'places'>, depth = Infinity): MarketRows {
    const n = this.#length;
    const { base, places } = window ?? windowOf(this.#tick.subarray(0, n), this.#flags);
    const at = new Float64Array(n + 1).fill(Infinity);
    const local = new Float64Array(n + 1).fill(Infinity);
    const place = new Int32Array(n + 1);
    at.set(this.#at.subarray(0, n));
    local.set(this.#local.subarray(0, n));
    for (let i = 0; i < n; i++) place[i] = placeIn(this.#tick[i]! - base, places);
    const lots = this.#lots.slice(0, n);
    return { length: n, base, places, depth, at, local, place, lots, flags: this.#flags.slice(0, n), orders };
  }

  #grow(): void {
    const length = this.#flags.length * 2;
    this.#at = enlarged(this.#at, length);
    this.#local = enlarged(this.#local, length);
    this.#tick = enlarged(this.#tick, length);
    this.#lots = enlarged(this.#lots, length);
    this.#flags = enlarged(this.#flags, length);
  }
}

/** Maximum number of price indices in a window. One column of 8-byte numbers for all indices takes 32 MB. */
const PLACES_MAX = 1 << 22;
/** Number of price indices without recorded prices at each end of a window. */
const MARGIN = 1024;

/**
 * Returns a price index inside the window. Prices outside the window share the two outermost indices, which the books
 * ignore.
 */
const placeIn = (place: number, places: number): number => Math.min(Math.max(place, 0), places - 1);

/**
 * Returns a window of all prices if they fit into `PLACES_MAX` price indices. Otherwise, returns the range of traded
 * prices, or the median price without trades, extended by up to a quarter of the price on each side.
 */
export function windowOf(
  ticks: Float64Array | Int32Array,
  flags: Uint8Array,
): { readonly base: number; readonly places: number } {
  let low = Infinity;
  let high = -Infinity;
  let tradedLow = Infinity;
  let tradedHigh = -Infinity;
  for (let i = 0; i < ticks.length; i++) {
    const tick = ticks[i]!;
    if (tick < low) low = tick;
    if (tick > high) high = tick;
    if ((flags[i]! & FLAG.trade) === 0) continue;
    if (tick < tradedLow) tradedLow = tick;
    if (tick > tradedHigh) tradedHigh = tick;
  }
  if (ticks.length === 0) return { base: 0, places: 2 * MARGIN };
  const traded = tradedLow <= tradedHigh ? { low: tradedLow, high: tradedHigh } : null;
  return windowOfRange({ low, high }, traded, () => Float64Array.from(ticks).sort()[ticks.length >> 1]!);
}

type Range = { readonly low: number; readonly high: number };

/** Returns a window from the range of all prices and the range of traded prices, by the rule of `windowOf`. */
export function windowOfRange(
  prices: Range,
  traded: Range | null,
  middleOf: () => number = () => Math.floor((prices.low + prices.high) / 2),
): { readonly base: number; readonly places: number } {
  let { low, high } = prices;
  if (high - low + 2 * MARGIN > PLACES_MAX) {
    const centre = traded === null ? middleOf() : 0;
    const { low: from, high: to } = traded ?? { low: centre, high: centre };
    const margin = Math.max(MARGIN, Math.floor(Math.min(from / 4, (PLACES_MAX - (to - from)) / 2 - MARGIN)));
    low = Math.max(low, from - margin);
    high = Math.min(high, to + margin);
    if (!(high - low + 2 * MARGIN <= PLACES_MAX)) {
      throw new RangeError(`trades from tick ${from} to ${to} are more than ${PLACES_MAX} ticks apart`);
    }
  }
  return { base: low - MARGIN, places: high - low + 2 * MARGIN };
}
