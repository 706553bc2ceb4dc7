/** The columns that a replay reads: one row per event, prices as places in a window of ticks, both times, one set for both views. */

/**
 * Bits of a row's flag. `unseen`: the level slid out of what the recording shows, and may be there all the same. `snapshot`: told by a picture of the book.
 * `again`: nothing has changed, though executions had spoken against it. `end`: the last row of a picture, one that is told again.
 * `ghost`: taken out, because executions went through it and it stayed. `crossed`: with this row, the best bid as recorded is above the best ask.
 */
export const FLAG = { trade: 1, sell: 2, unseen: 4, snapshot: 8, again: 16, end: 32, ghost: 64, crossed: 128 } as const;
export const BUY = 0;
export const SELL = 1;
export type SideIndex = typeof BUY | typeof SELL;
/** Of a row with these flags. */
export const sideOf = (flags: number): SideIndex => ((flags & FLAG.sell) >> 1) as SideIndex;

/**
 * Level rows say the whole amount now at a place, 0 for none; trade rows one execution, with the taker's side. Place p is tick
 * `base` + p. A place outside 1 .. `places` - 2 is far from everything that trades. One unit of time throughout, whichever the source has.
 */
export type MarketRows = {
  readonly length: number;
  readonly base: number;
  readonly places: number;
  /** Levels a side that are recorded; Infinity for a whole book. What stands behind them is not known. */
  readonly depth: number;
  /** Exchange time, never going back; one entry of Infinity after the last row, so that a loop needs no other end. */
  readonly at: Float64Array;
  /** When the row reached us: never before its exchange time, never going back; the same entry after the last. */
  readonly local: Float64Array;
  readonly place: Int32Array;
  readonly lots: Float64Array;
  readonly flags: Uint8Array;
  /** Only of tapes that tell single orders. */
  readonly orders: OrderColumns | null;
};

/** What a row was about, where the tape tells single orders. Each execution is a trade row, then the level row that it caused. */
export type OrderColumns = {
  /** Row at which the order that rested took its place in the queue; -1: before the tape. */
  readonly born: Int32Array;
  /** Lots by which the order shrank; negative when it grew or came. */
  readonly gone: Float64Array;
  /** 1 when it shrank because a taker met it. */
  readonly executed: Uint8Array;
};

/** The same rows in memory that threads share. */
export function rowsInShared(rows: MarketRows): MarketRows {
  if (rows.at.buffer instanceof SharedArrayBuffer) return rows;
  const { length, base, places, depth, at, local, place, lots, flags, orders } = rows;
  const numbers = (from: Float64Array): Float64Array => {
    const to = new Float64Array(new SharedArrayBuffer(from.byteLength));
    to.set(from);
    return to;
  };
  const whole = (from: Int32Array): Int32Array => {
    const to = new Int32Array(new SharedArrayBuffer(from.byteLength));
    to.set(from);
    return to;
  };
  const bytes = (from: Uint8Array): Uint8Array => {
    const to = new Uint8Array(new SharedArrayBuffer(from.byteLength));
    to.set(from);
    return to;
  };
  return {
    ...{ length, base, places, depth, at: numbers(at), local: numbers(local) },
    ...{ place: whole(place), lots: numbers(lots), flags: bytes(flags) },
    orders: orders && { born: whole(orders.born), gone: numbers(orders.gone), executed: bytes(orders.executed) },
  };
}

/** Where rows go, one after another, with their price in ticks. */
export interface RowsOut {
  add(at: number, local: number, tick: number, lots: number, flags: number): void;
}

/** Collects rows; makes local times causal and orderly. */
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
        `row ${n} is no event in time: at ${at} after ${before}, local ${local}, ${lots} lots at tick ${tick}`,
      );
    }
    this.#at[n] = at;
    this.#local[n] = Math.max(at, local, n === 0 ? at : this.#local[n - 1]!);
    this.#tick[n] = tick;
    this.#lots[n] = lots;
    this.#flags[n] = flags;
    this.#length = n + 1;
  }

  /** The rows with their window: all prices when they fit, otherwise those around what traded. */
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
    const grown = (from: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
      const to = new Float64Array(from.length * 2);
      to.set(from);
      return to;
    };
    this.#at = grown(this.#at);
    this.#local = grown(this.#local);
    this.#tick = grown(this.#tick);
    this.#lots = grown(this.#lots);
    const flags = new Uint8Array(this.#flags.length * 2);
    flags.set(this.#flags);
    this.#flags = flags;
  }
}

/** 32 MB an array of eight bytes. */
const PLACES_MAX = 1 << 22;
const MARGIN = 1024;

/** Far prices share the two outermost places, which no book looks at. */
const placeIn = (place: number, places: number): number => Math.min(Math.max(place, 0), places - 1);

/** All prices when they fit in the widest window; otherwise a quarter around what traded, or around the middle price of all rows. */
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

/** The same, of what is known of the rows: all prices, and those that traded. */
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
