/** Wanted minus live: the fewest commands that bring the book to what the strategy asked for. */
import type { LegalLevel } from './legalise.ts';
import { mayLive, remaining } from './orders.ts';
import type { Order } from './orders.ts';
import type { Millis, Side } from './units.ts';

export type Tolerance = {
  /** An order this near to its wanted price, in basis points of it, keeps its place in the queue. */
  readonly priceBps: number;
  /** An order with at least this share of the wanted amount left is kept. */
  readonly amountShare: number;
  /** An older order is replaced whatever its price. */
  readonly maxAgeMs: Millis;
};

/** Why an order is taken out. */
export type CancelReason = 'price moved' | 'amount changed' | 'too old' | 'level not wanted';

export type Plan = {
  readonly place: readonly LegalLevel[];
  readonly cancel: readonly { readonly order: Order; readonly reason: CancelReason }[];
  readonly keep: readonly { readonly order: Order; readonly level: LegalLevel }[];
};

/**
 * One wanted level has at most one order that may live. Every order that may be in the book is paired with a level by the assignment
 * that leaves the fewest levels empty and then the smallest sum of price differences; a level whose order is on its way out, or unknown,
 * waits. Levels without an order are placed, orders without a level are canceled.
 */
export function planSide(
  side: Side,
  wanted: readonly LegalLevel[],
  live: Iterable<Order>,
  tolerance: Tolerance,
  at: Millis,
): Plan {
  const orders = [...live].filter(order => order.side === side && mayLive(order));
  const best = side === 'buy' ? -1 : 1;
  orders.sort((a, b) => best * (a.price - b.price) || (a.id < b.id ? -1 : 1));
  const levels = [...wanted].filter(level => level.side === side).sort((a, b) => best * (a.price - b.price));
  const partner = assign(
    levels.map(level => level.price),
    orders.map(order => order.price),
  );
  const place: LegalLevel[] = [];
  const cancel: { order: Order; reason: CancelReason }[] = [];
  const keep: { order: Order; level: LegalLevel }[] = [];
  const paired = new Set<number>();
  levels.forEach((level, i) => {
    const j = partner[i]!;
    if (j < 0) {
      place.push(level);
      return;
    }
    paired.add(j);
    const order = orders[j]!;
    if (!isSettledInBook(order)) return;
    const reason = mismatch(order, level, tolerance, at);
    if (reason === null) keep.push({ order, level });
    else cancel.push({ order, reason });
  });
  orders.forEach((order, j) => {
    if (!paired.has(j) && isSettledInBook(order)) cancel.push({ order, reason: 'level not wanted' });
  });
  return { place, cancel, keep };
}

/** The exchange has confirmed it and no cancel is under way. */
const isSettledInBook = (order: Order): boolean => order.state === 'open' || order.state === 'partially filled';

function mismatch(order: Order, level: LegalLevel, tolerance: Tolerance, at: Millis): CancelReason | null {
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
