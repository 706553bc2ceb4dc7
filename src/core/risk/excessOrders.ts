/**
 * Live orders that the limits over all books no longer allow, because trades of others, deposits or prices changed what
 * the account holds or what it is worth.
 */
import type { CurrencyLimits, Exchanged } from './currencyLimits.ts';
import {
  ordersBeyond,
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

/** Limits over all books, and what the account holds. */
export type HeldUnderLimits = {
  readonly currencies: CurrencyLimits;
  readonly value: (ValueLimit & { readonly prices: ReadonlyMap<string, ExactPrice> }) | null;
  /** Distance of each base currency from its target, with pending conversions that raise or lower it. */
  readonly held: ReadonlyMap<string, Reach>;
};

/** One change of a currency by an order: `up` raises it. */
type Change = { readonly order: LimitedOrder; readonly direction: keyof Reach; readonly amount: bigint };

/**
 * Returns the orders to cancel, so that the others fit all limits: those of the most exceeded limit first, the largest
 * first. Orders that only reduce what a limit counts are never returned.
 */
export function excessOrders(
  limits: HeldUnderLimits,
  orders: readonly LimitedOrder[],
): ReadonlyMap<string, ExcessReason> {
  const excess = new Map<string, ExcessReason>();
  const sorted = orders.toSorted((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)));
  for (;;) {
    const kept = sorted.filter(({ id }) => !excess.has(id));
    const found = overCurrency(limits, kept) ?? overValue(limits, kept);
    if (found === null) return excess;
    excess.set(found.order.id, found.reason);
  }
}

type Found = { readonly order: LimitedOrder; readonly reason: ExcessReason };

/** Returns how the orders change a currency. */
function changesOf(currency: string, orders: readonly LimitedOrder[]): readonly Change[] {
  return orders.flatMap(order => {
    const { base, quote, side, exchanges } = order;
    if (base === currency)
      return [{ order, direction: side === 'buy' ? 'up' : 'down', amount: exchanges.base } as const];
    if (quote === currency)
      return [{ order, direction: side === 'buy' ? 'down' : 'up', amount: exchanges.quote } as const];
    return [];
  });
}

/** Returns the distances of a currency if all changes in each direction happen. */
function reachOf(held: Reach, changes: readonly Change[]): Reach {
  const reach = { ...held };
  for (const { direction, amount } of changes) reach[direction] += amount;
  return reach;
}

const largestOf = (changes: readonly Change[]): Change | null => {
  let largest: Change | null = null;
  for (const change of changes)
    if (change.order.isCancelable && change.amount > (largest?.amount ?? 0n)) largest = change;
  return largest;
};

/** Returns the largest order of the currency that exceeds its limit by the largest share. */
function overCurrency({ currencies, held }: HeldUnderLimits, orders: readonly LimitedOrder[]): Found | null {
  let worst: { readonly over: bigint; readonly max: Money; readonly order: LimitedOrder } | null = null;
  for (const [currency, max] of currencies) {
    const changes = changesOf(currency, orders);
    const reach = reachOf(held.get(currency) ?? { up: 0n, down: 0n }, changes);
    for (const direction of ['up', 'down'] as const) {
      const over = reach[direction] - max;
      const largest = over > 0n ? largestOf(changes.filter(change => change.direction === direction)) : null;
      if (largest !== null && (worst === null || over * worst.max > worst.over * max))
        worst = { over, max, order: largest.order };
    }
  }
  return worst === null ? null : { order: worst.order, reason: 'currency limit' };
}

/** Returns the order of the largest value that raises the value beyond the limit, if the value is exceeded. */
function overValue({ value, held }: HeldUnderLimits, orders: readonly LimitedOrder[]): Found | null {
  if (value === null) return null;
  const priced = [...held].map(([currency, reach]) => ({
    ...{ currency, ...reach, price: value.prices.get(currency) ?? null },
  }));
  const exchanges = orders.map(order => ({ order, ...exchangeOf(order) }));
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
