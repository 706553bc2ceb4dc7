/** Wanted minus live: the fewest commands that bring the book to what the strategy asked for. */
import type { NormalizedLevel } from './normalizeQuote.ts';
import type { PullReason } from './quotePuller.ts';
import { mayLive, remaining } from '../orders/orders.ts';
import type { Order } from '../orders/orders.ts';
import type { Millis, Side } from '../model/units.ts';

export type RequoteTolerance = {
  /** An order this near to its wanted price, in basis points of it, keeps its place in the queue. */
  readonly priceBps: number;
  /** An order with at least this share of the wanted amount left is kept. */
  readonly amountShare: number;
  /** An older order is replaced whatever its price. */
  readonly maxAgeMs: Millis;
};

/** Why an order is taken out. */
export type CancelReason =
  'price moved' | 'amount changed' | 'too old' | 'level not wanted' | 'reduce only' | PullReason;

export type QuotePlan = {
  readonly place: readonly NormalizedLevel[];
  /** `level`: the one that it stood for; null when no level wants it. */
  readonly cancel: readonly {
    readonly order: Order;
    readonly reason: CancelReason;
    readonly level: NormalizedLevel | null;
  }[];
  readonly keep: readonly { readonly order: Order; readonly level: NormalizedLevel }[];
  /** Levels whose order is on its way in or out, or unknown. */
  readonly wait: readonly { readonly order: Order; readonly level: NormalizedLevel }[];
};

/**
 * One wanted level has at most one order that may live. First as many orders as possible keep a level that they still fit; the others are
 * paired by the assignment that leaves the fewest levels empty and then the smallest sum of price differences; a level whose order is on
 * its way out, or unknown, waits. Levels without an order are placed, orders without a level are canceled.
 */
export function reconcileSide(
  side: Side,
  wanted: readonly NormalizedLevel[],
  live: Iterable<Order>,
  tolerance: RequoteTolerance,
  at: Millis,
): QuotePlan {
  const orders: Order[] = [];
  for (const order of live) {
    // What takes is no quote: it never rests.
    if (order.side === side && mayLive(order) && order.takes !== true) orders.push(order);
  }
  const best = side === 'buy' ? -1 : 1;
  if (orders.length > 1) orders.sort((a, b) => best * (a.price - b.price) || (a.id < b.id ? -1 : 1));
  const levels: NormalizedLevel[] = [];
  for (const level of wanted) if (level.side === side) levels.push(level);
  if (levels.length > 1) levels.sort((a, b) => best * (a.price - b.price));
  const partner = pair(levels, orders, tolerance, at);
  const place: NormalizedLevel[] = [];
  const cancel: { order: Order; reason: CancelReason; level: NormalizedLevel | null }[] = [];
  const keep: { order: Order; level: NormalizedLevel }[] = [];
  const wait: { order: Order; level: NormalizedLevel }[] = [];
  const paired = new Set<number>();
  levels.forEach((level, i) => {
    const j = partner[i]!;
    if (j < 0) {
      place.push(level);
      return;
    }
    paired.add(j);
    const order = orders[j]!;
    if (!isSettledInBook(order)) {
      wait.push({ order, level });
      return;
    }
    const reason = mismatch(order, level, tolerance, at);
    if (reason === null) keep.push({ order, level });
    else cancel.push({ order, reason, level });
  });
  orders.forEach((order, j) => {
    if (!paired.has(j) && isSettledInBook(order)) cancel.push({ order, reason: 'level not wanted', level: null });
  });
  return { place, cancel, keep, wait };
}

/** For each level the index of its order, or -1: as many pairs as there can be, and among them as many fitting ones as do not cross. */
function pair(
  levels: readonly NormalizedLevel[],
  orders: readonly Order[],
  tolerance: RequoteTolerance,
  at: Millis,
): number[] {
  const fits = (level: NormalizedLevel, order: Order): boolean =>
    isSettledInBook(order) && mismatch(order, level, tolerance, at) === null;
  // One to one and all fitting, as at most decisions: no other pairing keeps as many.
  if (levels.length === orders.length && levels.every((level, i) => fits(level, orders[i]!))) {
    return levels.map((_, i) => i);
  }
  if (levels.length === 0 || orders.length === 0) return levels.map(() => -1);
  const partner = keepers(levels, orders, fits);
  const freeLevels = levels.flatMap((_, i) => (partner[i]! < 0 ? [i] : []));
  const freeOrders = orders.flatMap((_, j) => (partner.includes(j) ? [] : [j]));
  const rest = assign(
    freeLevels.map(i => levels[i]!.price),
    freeOrders.map(j => orders[j]!.price),
  );
  rest.forEach((k, i) => {
    if (k >= 0) partner[freeLevels[i]!] = freeOrders[k]!;
  });
  return partner;
}

/** The most fitting pairs that do not cross, and of those the least sum of price differences, by a table over prefixes. */
function keepers(
  levels: readonly NormalizedLevel[],
  orders: readonly Order[],
  fits: (level: NormalizedLevel, order: Order) => boolean,
): number[] {
  const width = orders.length + 1;
  const kept = new Int32Array((levels.length + 1) * width);
  const away = new Float64Array(kept.length);
  const isBetter = (n: number, distance: number, c: number): boolean =>
    n > kept[c]! || (n === kept[c]! && distance < away[c]!);
  const result = new Array<number>(levels.length).fill(-1);
  const choice = new Int8Array(kept.length);
  for (let i = 1; i <= levels.length; i++) {
    for (let j = 1; j <= orders.length; j++) {
      const c = i * width + j;
      const take = (from: number, n: number, distance: number, how: number): void => {
        if (how !== SKIP_LEVEL && !isBetter(kept[from]! + n, away[from]! + distance, c)) return;
        kept[c] = kept[from]! + n;
        away[c] = away[from]! + distance;
        choice[c] = how;
      };
      take(c - width, 0, 0, SKIP_LEVEL);
      take(c - 1, 0, 0, SKIP_ORDER);
      const level = levels[i - 1]!;
      const order = orders[j - 1]!;
      if (fits(level, order)) take(c - width - 1, 1, Math.abs(level.price - order.price), PAIR);
    }
  }
  for (let i = levels.length, j = orders.length; i > 0 && j > 0;) {
    const how = choice[i * width + j];
    if (how === PAIR) result[i - 1] = j - 1;
    if (how !== SKIP_ORDER) i--;
    if (how !== SKIP_LEVEL) j--;
  }
  return result;
}

const SKIP_LEVEL = 0;
const SKIP_ORDER = 1;
const PAIR = 2;

/** The exchange has confirmed it and no cancel is under way. */
const isSettledInBook = (order: Order): boolean => order.state === 'open' || order.state === 'partially filled';

function mismatch(order: Order, level: NormalizedLevel, tolerance: RequoteTolerance, at: Millis): CancelReason | null {
  if (!(Math.abs(order.price - level.price) * 10_000 <= tolerance.priceBps * level.price)) return 'price moved';
  const left = remaining(order);
  if (!(left >= level.amount * tolerance.amountShare && left <= level.amount * (2 - tolerance.amountShare)))
    return 'amount changed';
  if (!(at - order.placedAt <= tolerance.maxAgeMs)) return 'too old';
  return null;
}

/**
 * For each of the sorted `wants`, the index of its partner among the sorted `haves`, or -1: as many pairs as possible, then the least
 * sum of distances. For points on a line the best pairing never crosses, so a table over prefixes finds it.
 */
export function assign(wants: readonly number[], haves: readonly number[]): number[] {
  const swap = wants.length > haves.length;
  const few = swap ? haves : wants;
  const many = swap ? wants : haves;
  const n = few.length;
  const m = many.length;
  // cost[i][j]: least sum with the first i of `few` all paired among the first j of `many`.
  const cost = Array.from({ length: n + 1 }, () => new Float64Array(m + 1).fill(Infinity));
  cost[0]!.fill(0);
  for (let i = 1; i <= n; i++) {
    for (let j = i; j <= m; j++) {
      const pair = cost[i - 1]![j - 1]! + Math.abs(few[i - 1]! - many[j - 1]!);
      cost[i]![j] = Math.min(pair, cost[i]![j - 1]!);
    }
  }
  const result = new Array<number>(wants.length).fill(-1);
  for (let i = n, j = m; i > 0; j--) {
    if (cost[i]![j] === cost[i]![j - 1]) continue;
    if (swap) result[j - 1] = i - 1;
    else result[i - 1] = j - 1;
    i--;
  }
  return result;
}
