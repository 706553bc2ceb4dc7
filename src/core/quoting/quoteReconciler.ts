/**
 * Quote reconciler: compares wanted levels with live orders, and finds the fewest commands that turn the orders into
 * the quote.
 */
import type { NormalizedLevel } from './normalizeQuote.ts';
import type { PullReason } from './quotePuller.ts';
import { isInBook, mayLive, remaining, type Order } from '../orders/orders.ts';
import type { Millis, Side } from '../model/units.ts';

export type RequoteTolerance = {
  /** Maximum distance of an order from its wanted price, in basis points of that price, to keep its queue position. */
  readonly priceBps: number;
  /**
   * Minimum remaining amount with which an order is kept, as a share of the wanted amount; the maximum share is 2 minus
   * this share.
   */
  readonly amountShare: number;
  /** Maximum age of an order; an older order is replaced even if its price fits. */
  readonly maxAgeMs: Millis;
};

/** Limit over all books that an order exceeds. */
export type ExcessReason = 'currency limit' | 'value limit';

/** Reason why an order is canceled. */
export type CancelReason =
  'price moved' | 'amount changed' | 'too old' | 'level not wanted' | 'reduce only' | ExcessReason | PullReason;

export type QuotePlan = {
  readonly place: readonly NormalizedLevel[];
  /** Orders to cancel. `level` is the wanted level of the order; `null` if no wanted level belongs to the order. */
  readonly cancel: readonly {
    readonly order: Order;
    readonly reason: CancelReason;
    readonly level: NormalizedLevel | null;
  }[];
  readonly keep: readonly { readonly order: Order; readonly level: NormalizedLevel }[];
  /** Levels that wait, because their order is being placed or canceled, or the state of their order is unknown. */
  readonly wait: readonly { readonly order: Order; readonly level: NormalizedLevel }[];
};

/**
 * Plans one side; a wanted level has at most one possibly live order.
 *
 * First, as many orders as possible keep a level that they still fit. The other orders are paired to leave the fewest
 * levels empty, then with the smallest sum of price differences. A level whose order is being canceled or unknown
 * waits. Levels without an order are placed; orders without a level are canceled.
 */
export function reconcileSide(
  side: Side,
  wanted: readonly NormalizedLevel[],
  live: readonly Order[],
  tolerance: RequoteTolerance,
  at: Millis,
): QuotePlan {
  const orders = quotesOf(side, live);
  const levels = levelsOf(side, wanted);
  const plan = { place: NO_LEVELS, cancel: NO_CANCELS, keep: NO_PAIRS, wait: NO_PAIRS };
  // In the common case, all orders fit their levels one to one, and no other pairing keeps more orders.
  if (allFit(levels, orders, tolerance, at)) {
    plan.keep = levels.map((level, i) => ({ order: orders[i]!, level }));
    return plan;
  }
  const partner = pair(levels, orders, tolerance, at);
  for (let i = 0; i < levels.length; i++) {
    const level = levels[i]!;
    const order = orders[partner[i]!];
    if (order === undefined) plan.place = added(plan.place, level);
    else if (!isInBook(order)) plan.wait = added(plan.wait, { order, level });
    else {
      const reason = mismatch(order, level, tolerance, at);
      if (reason === null) plan.keep = added(plan.keep, { order, level });
      else plan.cancel = added(plan.cancel, { order, reason, level });
    }
  }
  for (let j = 0; j < orders.length; j++) {
    const order = orders[j]!;
    if (isInBook(order) && !partner.includes(j))
      plan.cancel = added(plan.cancel, { order, reason: 'level not wanted', level: null });
  }
  return plan;
}

/** Shared empty lists, so that most decisions allocate none. */
const NO_LEVELS: QuotePlan['place'] = [];
const NO_CANCELS: QuotePlan['cancel'] = [];
const NO_PAIRS: QuotePlan['keep'] = [];

function added<T>(list: readonly T[], one: T): readonly T[] {
  if (list.length === 0) return [one];
  (list as T[]).push(one);
  return list;
}

/** Whether an order is a quote of this side. A taker order is not a quote, because it never rests. */
const isQuote = (order: Order, side: Side): boolean => order.side === side && mayLive(order) && order.takes !== true;

/**
 * Returns the quotes of a side, best price first, and by id at equal prices. The array has its exact length from the
 * start, because a growing array reserves space for sixteen more entries.
 */
function quotesOf(side: Side, live: readonly Order[]): readonly Order[] {
  let count = 0;
  for (const order of live) if (isQuote(order, side)) count++;
  const quotes = new Array<Order>(count);
  count = 0;
  for (const order of live) {
    if (!isQuote(order, side)) continue;
    let i = count++;
    for (; i > 0; i--) {
      const before = quotes[i - 1]!;
      if (order.price === before.price ? order.id >= before.id : !isBefore(order.price, before.price, side)) break;
      quotes[i] = before;
    }
    quotes[i] = order;
  }
  return quotes;
}

/** Returns the levels of a side, best price first. Levels at one price keep their sequence in `wanted`. */
function levelsOf(side: Side, wanted: readonly NormalizedLevel[]): readonly NormalizedLevel[] {
  let count = 0;
  for (const level of wanted) if (level.side === side) count++;
  const levels = new Array<NormalizedLevel>(count);
  count = 0;
  for (const level of wanted) {
    if (level.side !== side) continue;
    let i = count++;
    for (; i > 0 && isBefore(level.price, levels[i - 1]!.price, side); i--) levels[i] = levels[i - 1]!;
    levels[i] = level;
  }
  return levels;
}

const isBefore = (price: number, other: number, side: Side): boolean =>
  side === 'buy' ? price > other : price < other;

function allFit(
  levels: readonly NormalizedLevel[],
  orders: readonly Order[],
  tolerance: RequoteTolerance,
  at: Millis,
): boolean {
  if (levels.length !== orders.length) return false;
  for (let i = 0; i < levels.length; i++) if (!fits(levels[i]!, orders[i]!, tolerance, at)) return false;
  return true;
}

/**
 * Returns the order index per level; -1 for a level without an order. Maximizes the number of pairs, then the number of
 * fitting pairs that do not cross.
 */
function pair(
  levels: readonly NormalizedLevel[],
  orders: readonly Order[],
  tolerance: RequoteTolerance,
  at: Millis,
): readonly number[] {
  if (levels.length === 0 || orders.length === 0) return new Array<number>(levels.length).fill(-1);
  const partner = bestKeptPairs(levels, orders, tolerance, at);
  const freeLevels = unpaired(levels.length, i => partner[i]! < 0);
  const freeOrders = unpaired(orders.length, j => !partner.includes(j));
  // With one level and one order left, there is nothing to optimize.
  if (freeLevels.length === 1 && freeOrders.length === 1) partner[freeLevels[0]!] = freeOrders[0]!;
  else if (freeLevels.length > 0 && freeOrders.length > 0) {
    const rest = assign(
      freeLevels.map(i => levels[i]!.price),
      freeOrders.map(j => orders[j]!.price),
    );
    for (let i = 0; i < rest.length; i++) if (rest[i]! >= 0) partner[freeLevels[i]!] = freeOrders[rest[i]!]!;
  }
  return partner;
}

const NONE: readonly number[] = [];

function unpaired(count: number, isFree: (i: number) => boolean): readonly number[] {
  let free = NONE;
  for (let i = 0; i < count; i++) if (isFree(i)) free = added(free, i);
  return free;
}

/**
 * Tables for `bestKeptPairs`, reused by every decision. The tables grow to the largest size that a decision has needed.
 */
let kept = new Int32Array(64);
let away = new Float64Array(64);
let choice = new Int8Array(64);
let cost = new Float64Array(64);

/**
 * Returns the order index per level, or -1, for the largest set of fitting pairs that do not cross. Among equally large
 * sets, chooses the set with the smallest sum of price differences. Uses dynamic programming over prefixes.
 */
function bestKeptPairs(
  levels: readonly NormalizedLevel[],
  orders: readonly Order[],
  tolerance: RequoteTolerance,
  at: Millis,
): number[] {
  const width = orders.length + 1;
  const size = (levels.length + 1) * width;
  if (size > kept.length) {
    kept = new Int32Array(2 * size);
    away = new Float64Array(2 * size);
    choice = new Int8Array(2 * size);
  }
  // The first row and the first column are empty prefixes, without pairs. All other cells are written before they are
  // read.
  for (let j = 0; j < width; j++) kept[j] = away[j] = 0;
  for (let c = width; c < size; c += width) kept[c] = away[c] = 0;
  for (let i = 1; i <= levels.length; i++) {
    for (let j = 1; j <= orders.length; j++) {
      const c = i * width + j;
      let how = SKIP_LEVEL;
      let count = kept[c - width]!;
      let distance = away[c - width]!;
      if (isBetterPairing(kept[c - 1]!, away[c - 1]!, count, distance)) {
        how = SKIP_ORDER;
        count = kept[c - 1]!;
        distance = away[c - 1]!;
      }
      const level = levels[i - 1]!;
      const order = orders[j - 1]!;
      if (fits(level, order, tolerance, at)) {
        const paired = kept[c - width - 1]! + 1;
        const apart = away[c - width - 1]! + Math.abs(level.price - order.price);
        if (isBetterPairing(paired, apart, count, distance)) {
          how = PAIR;
          count = paired;
          distance = apart;
        }
      }
      kept[c] = count;
      away[c] = distance;
      choice[c] = how;
    }
  }
  const result = new Array<number>(levels.length).fill(-1);
  for (let i = levels.length, j = orders.length; i > 0 && j > 0;) {
    const how = choice[i * width + j];
    if (how === PAIR) result[i - 1] = j - 1;
    if (how !== SKIP_ORDER) i--;
    if (how !== SKIP_LEVEL) j--;
  }
  return result;
}

const isBetterPairing = (pairs: number, distance: number, thanPairs: number, thanDistance: number): boolean =>
  pairs > thanPairs || (pairs === thanPairs && distance < thanDistance);

const SKIP_LEVEL = 0;
const SKIP_ORDER = 1;
const PAIR = 2;

const fits = (level: NormalizedLevel, order: Order, tolerance: RequoteTolerance, at: Millis): boolean =>
  isInBook(order) && mismatch(order, level, tolerance, at) === null;

function mismatch(order: Order, level: NormalizedLevel, tolerance: RequoteTolerance, at: Millis): CancelReason | null {
  if (!(Math.abs(order.price - level.price) * 10_000 <= tolerance.priceBps * level.price)) return 'price moved';
  const left = remaining(order);
  if (!(left >= level.amount * tolerance.amountShare && left <= level.amount * (2 - tolerance.amountShare)))
    return 'amount changed';
  if (hasOtherMakeup(order, level) && !(Math.abs(order.amount - level.amount) <= OTHER_MAKEUP_SHARE * level.amount))
    return 'amount changed';
  if (!(at - order.placedAt <= tolerance.maxAgeMs)) return 'too old';
  return null;
}

/**
 * Maximum relative difference between an order's amount and its level's amount if the order was placed for other
 * levels. When levels merge on one tick or split, the wanted amount changes by a whole level, so the usual tolerance is
 * too wide.
 */
const OTHER_MAKEUP_SHARE = 0.1;

/**
 * Whether the order was placed for other levels of the strategy than this level. True only if the order or the level
 * merges several levels.
 */
function hasOtherMakeup({ placedFor }: Order, { index, parts = 1 }: NormalizedLevel): boolean {
  if (placedFor === undefined) return false;
  const { index: first, parts: count = 1 } = placedFor;
  return count !== parts || (parts > 1 && first !== index);
}

/**
 * Returns the partner index in the sorted `haves` for each of the sorted `wants`, or -1. Maximizes the number of pairs,
 * then minimizes the sum of distances.
 *
 * For points on a line the best pairing never crosses, so dynamic programming over prefixes finds it.
 */
export function assign(wants: readonly number[], haves: readonly number[]): number[] {
  const swap = wants.length > haves.length;
  const few = swap ? haves : wants;
  const many = swap ? wants : haves;
  const n = few.length;
  const m = many.length;
  const width = m + 1;
  if ((n + 1) * width > cost.length) cost = new Float64Array(2 * (n + 1) * width);
  // `cost[i * width + j]` is the minimum sum if the first i of `few` are all paired among the first j of `many`.
  cost.fill(Infinity, width, (n + 1) * width);
  cost.fill(0, 0, width);
  for (let i = 1; i <= n; i++) {
    for (let j = i; j <= m; j++) {
      const pair = cost[(i - 1) * width + j - 1]! + Math.abs(few[i - 1]! - many[j - 1]!);
      cost[i * width + j] = Math.min(pair, cost[i * width + j - 1]!);
    }
  }
  const result = new Array<number>(wants.length).fill(-1);
  for (let i = n, j = m; i > 0; j--) {
    if (cost[i * width + j] === cost[i * width + j - 1]) continue;
    if (swap) result[j - 1] = i - 1;
    else result[i - 1] = j - 1;
    i--;
  }
  return result;
}
