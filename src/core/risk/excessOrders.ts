/**
 * Live orders that the limits over all books no longer allow. The cause is a change of the account's holdings or of
 * their value: by trades outside of the bot, deposits or price moves.
 */
import type { CurrencyLimits, Exchanged } from './currencyLimits.ts';
import {
  changeIn,
  ordersBeyond,
  reachWith,
  valueCeil,
  type DirectedExchange,
  type ExactPrice,
  type Reach,
  type ValueLimit,
} from './valueLimit.ts';
import type { ExcessReason } from '../quoting/quoteReconciler.ts';
import { money, type Money, type Side } from '../model/units.ts';

/** A possibly live order that is not being canceled, as the limits over all books see it. */
export type LimitedOrder = {
  readonly id: string;
  readonly side: Side;
  readonly base: string;
  readonly quote: string;
  readonly exchanges: Exchanged;
  /** Whether a cancel can be sent: the order is in the book, and none was sent. */
  readonly isCancelable: boolean;
};

/** Limits over all books, and the holdings of the account. */
export type HeldUnderLimits = {
  readonly currencies: CurrencyLimits;
  readonly value: (ValueLimit & { readonly prices: ReadonlyMap<string, ExactPrice> }) | null;
  /** Distances of each base currency from its target, each as if the conversions that increase it were executed. */
  readonly held: ReadonlyMap<string, Reach>;
};

/**
 * Returns the origin ids of the orders to cancel, so that the others fit all limits. Orders of the most exceeded limit
 * come first, and of these the largest. Orders that only reduce the exposure are never returned.
 */
export function excessOrders(
  limits: HeldUnderLimits,
  orders: readonly LimitedOrder[],
): ReadonlyMap<string, ExcessReason> {
  const excess = new Map<string, ExcessReason>();
  const sorted = orders.toSorted((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)));
  const exchanges = sorted.map(order => ({ order, ...exchangeOf(order) }));
  for (;;) {
    const kept = exchanges.filter(({ order }) => !excess.has(order.id));
    const found = overCurrency(limits, kept) ?? overValue(limits, kept);
    if (found === null) return excess;
    excess.set(found.order.id, found.reason);
  }
}

type Found = { readonly order: LimitedOrder; readonly reason: ExcessReason };

type OrderExchange = DirectedExchange & { readonly order: LimitedOrder };

/** Returns the largest cancelable order that changes a currency in this direction; `null` if there is none. */
function largestIn(currency: string, direction: keyof Reach, exchanges: readonly OrderExchange[]): LimitedOrder | null {
  let largest: { readonly amount: bigint; readonly order: LimitedOrder } | null = null;
  for (const one of exchanges) {
    const change = one.order.isCancelable ? changeIn(currency, one) : null;
    if (change?.direction === direction && change.amount > (largest?.amount ?? 0n))
      largest = { amount: change.amount, order: one.order };
  }
  return largest?.order ?? null;
}

/** Returns the largest order in the currency that exceeds its limit by the largest share; `null` if none does. */
function overCurrency({ currencies, held }: HeldUnderLimits, exchanges: readonly OrderExchange[]): Found | null {
  let worst: { readonly over: bigint; readonly max: Money; readonly order: LimitedOrder } | null = null;
  for (const [currency, max] of currencies) {
    const reach = reachWith({ currency, ...(held.get(currency) ?? { up: 0n, down: 0n }) }, exchanges);
    for (const direction of ['up', 'down'] as const) {
      const over = reach[direction] - max;
      const order = over > 0n ? largestIn(currency, direction, exchanges) : null;
      if (order !== null && (worst === null || over * worst.max > worst.over * max)) worst = { over, max, order };
    }
  }
  return worst === null ? null : { order: worst.order, reason: 'currency limit' };
}

/** Returns the cancelable order of the largest value among those that raise the total value beyond the limit. */
function overValue({ value, held }: HeldUnderLimits, exchanges: readonly OrderExchange[]): Found | null {
  if (value === null) return null;
  const priced = [...held].map(([currency, reach]) => ({
    ...{ currency, ...reach, price: value.prices.get(currency) ?? null },
  }));
  let largest: { readonly worth: Money; readonly order: LimitedOrder } | null = null;
  const beyond = ordersBeyond(value.max, priced, exchanges);
  for (const { order, pair, base, quote } of exchanges.filter(one => beyond.includes(one))) {
    const price = value.prices.get(pair[0]);
    const ofQuote = value.prices.get(pair[1]);
    const worth = price ? valueCeil(base, price) : ofQuote ? valueCeil(quote, ofQuote) : money(0n);
    if (order.isCancelable && (largest === null || worth > largest.worth)) largest = { worth, order };
  }
  return largest === null ? null : { order: largest.order, reason: 'value limit' };
}

const exchangeOf = ({ base, quote, side, exchanges }: LimitedOrder): DirectedExchange => ({
  ...exchanges,
  side,
  pair: [base, quote],
});
