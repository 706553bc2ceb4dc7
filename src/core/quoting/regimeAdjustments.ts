/**
 * Adjustments of quotes and plans for the regime and for limits over all books. Each adjustment of a price adds a
 * named step to the level's `why`, which explains the price.
 */
import type { NormalizedLevel } from './normalizeQuote.ts';
import { isExpectedToFill, remaining, type Order } from '../orders/orders.ts';
import type { ExcessReason, QuotePlan } from './quoteReconciler.ts';
import type { Level, Quote } from './strategy.ts';
import type { Amount, Side } from '../model/units.ts';

/**
 * Moves both sides away from the quote's mid price, so that the distance between the best bid and ask is `factor` times
 * as large. A one-sided quote moves away from the market's mid price. Quotes never move closer to the market.
 */
export function widenQuote(quote: Quote, factor: number, mid: number): Quote {
  const bid = quote.bids[0]?.price;
  const ask = quote.asks[0]?.price;
  const half = bid !== undefined && ask !== undefined ? (ask - bid) / 2 : Math.abs((bid ?? ask ?? mid) - mid);
  const shift = (factor - 1) * half;
  // If the shift is NaN, all prices become NaN and are refused, so no quote stays close to the market.
  if (!(shift > 0) && !Number.isNaN(shift)) return quote;
  const move = (levels: readonly Level[], away: -1 | 1): readonly Level[] =>
    levels.map(level => ({
      ...level,
      price: level.price + away * shift,
      why: [...level.why, { name: 'wide', ticks: away * shift }],
    }));
  return { ...quote, bids: move(quote.bids, -1), asks: move(quote.asks, 1) };
}

/**
 * Returns the lots that a side may execute before inventory reaches its target; 0 for the side that increases
 * inventory.
 */
export const closableLots = (side: Side, position: number): number => {
  const lots = side === 'buy' ? -position : position;
  return lots > 0 ? lots : 0;
};

/**
 * Returns only the side that reduces inventory, best levels first, for at most the lots beyond the target. `position`
 * is the inventory minus its target, in lots.
 */
export function reduceOnlyQuote(quote: Quote, position: number): Quote {
  const [bids, asks] = [
    limitLots(quote.bids, closableLots('buy', position)),
    limitLots(quote.asks, closableLots('sell', position)),
  ];
  return {
    ...quote,
    bids,
    asks,
    ...(bids.length === 0 && quote.bids.length > 0 ? { noBid: REDUCE_ONLY } : {}),
    ...(asks.length === 0 && quote.asks.length > 0 ? { noAsk: REDUCE_ONLY } : {}),
  };
}

const REDUCE_ONLY = 'reduce only';

function limitLots(levels: readonly Level[], lots: number): readonly Level[] {
  const kept: Level[] = [];
  let left = lots;
  for (const level of levels) {
    const amount = Math.min(level.amount, left);
    if (!(amount > 0)) break;
    left -= amount;
    const cut = level.amount - amount;
    kept.push(
      cut === 0 ? level : { ...level, amount: amount as Amount, amounts: [...amountSteps(level), cutStep(cut)] },
    );
  }
  return kept;
}

const amountSteps = ({ amount, amounts }: Level) => amounts ?? [{ name: 'amount', lots: amount }];
const cutStep = (lots: number) => ({ name: REDUCE_ONLY, lots: -lots });

/** Cancels the kept orders that the limits over all books no longer allow. */
export function planWithoutExcess(plan: QuotePlan, excess: ReadonlyMap<string, ExcessReason>): QuotePlan {
  if (!plan.keep.some(({ order }) => excess.has(order.id))) return plan;
  const cancel = [...plan.cancel];
  for (const { order, level } of plan.keep) {
    const reason = excess.get(order.id);
    if (reason !== undefined) cancel.push({ order, level, reason });
  }
  return { ...plan, cancel, keep: plan.keep.filter(({ order }) => !excess.has(order.id)) };
}

/**
 * Restricts a plan to orders that reduce inventory: cancels kept orders that could move inventory past its target,
 * together with those of `orders` that are expected to fill and that the plan neither keeps nor cancels.
 */
export function reducedPlan(plan: QuotePlan, side: Side, position: number, orders: readonly Order[]): QuotePlan {
  const planned = new Set([...plan.keep, ...plan.cancel].map(({ order }) => order.id));
  let left = closableLots(side, position);
  // Canceled orders do not count: their end would bring back the order that is canceled for them.
  for (const order of orders)
    if (order.side === side && isExpectedToFill(order) && !planned.has(order.id)) left -= remaining(order);
  const keep: { order: QuotePlan['keep'][number]['order']; level: NormalizedLevel }[] = [];
  const cancel = plan.cancel.map(one =>
    left <= 0 && one.reason === 'level not wanted' ? { ...one, reason: 'reduce only' as const } : one,
  );
  for (const { order, level } of plan.keep) {
    if (remaining(order) <= left) {
      left -= remaining(order);
      keep.push({ order, level });
    } else cancel.push({ order, level, reason: 'reduce only' });
  }
  return { ...plan, cancel, keep };
}
