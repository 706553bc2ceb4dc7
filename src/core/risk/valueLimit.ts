/** Limit on the value of what several books of one account hold together, in one currency. */
import type { Exchanged } from './currencyLimits.ts';
import { money, moneyOf, type Money, type Side } from '../model/units.ts';

export type ValueLimit = { readonly currency: string; readonly max: Money };

/** Best prices of other traders in a book, in its quote currency. */
export type QuotedBook = {
  readonly base: string;
  readonly quote: string;
  readonly bid: Money;
  readonly ask: Money;
};

/** Price of one unit of a currency, as an exact fraction. */
export type ExactPrice = { readonly numerator: bigint; readonly denominator: bigint };

const UNIT: bigint = moneyOf('1');

/**
 * Returns the price at which each currency can be bought, in the currency of the limit: through the books, by the
 * shortest chain of them. A currency that no chain of books reaches is missing.
 */
export function highPrices(currency: string, books: readonly QuotedBook[]): ReadonlyMap<string, ExactPrice> {
  const prices = new Map<string, ExactPrice>([[currency, { numerator: 1n, denominator: 1n }]]);
  for (let found: [string, ExactPrice][] = []; ; found = []) {
    for (const { base, quote, bid, ask } of books) {
      const [ofBase, ofQuote] = [prices.get(base), prices.get(quote)];
      if (ofBase === undefined && ofQuote !== undefined)
        found.push([base, { numerator: ofQuote.numerator * ask, denominator: ofQuote.denominator * UNIT }]);
      if (ofQuote === undefined && ofBase !== undefined)
        found.push([quote, { numerator: ofBase.numerator * UNIT, denominator: ofBase.denominator * bid }]);
    }
    if (found.length === 0) return prices;
    for (const [name, price] of found) if (!prices.has(name)) prices.set(name, price);
  }
}

/** Returns the value of an amount, rounded up. The amount must not be negative. */
export const valueCeil = (amount: bigint, { numerator, denominator }: ExactPrice): Money =>
  money((amount * numerator + denominator - 1n) / denominator);

/**
 * Distance of a currency from its target if all orders that raise it fill (`up`), or all that lower it (`down`, with
 * the opposite sign).
 */
export type Reach = { readonly up: bigint; readonly down: bigint };

/** A currency with its price; `null` if no fresh prices lead to it. */
export type PricedReach = Reach & { readonly currency: string; readonly price: ExactPrice | null };

/**
 * Room of one book under the limit. `others`: currencies that the book does not trade, with all live orders. `base` and
 * `quote`: those that it trades, without its own orders; `null` for a quote currency without a target.
 */
export type ValueRoom = ValueLimit & {
  readonly others: readonly PricedReach[];
  readonly base: PricedReach | null;
  readonly quote: PricedReach | null;
};

const largest = ({ up, down }: Reach): bigint => (up > down ? up : down);

/**
 * Returns the value of the largest distances of all currencies together, each at the price at which it can be bought.
 * Returns the name of a currency that is away from its target and has no price.
 */
export function totalValue(currencies: readonly PricedReach[]): Money | string {
  let sum = 0n;
  for (const { currency, price, ...reach } of currencies) {
    const away = largest(reach);
    if (away === 0n) continue;
    if (price === null) return currency;
    sum += valueCeil(away, price);
  }
  return money(sum);
}

/** Adds what the live orders of one book exchange to the distances of its currencies. */
function withOrders(room: ValueRoom, orders: Readonly<Record<Side, Exchanged>>): readonly (PricedReach | null)[] {
  const { base, quote } = room;
  const { buy, sell } = orders;
  return [
    base && { ...base, up: base.up + buy.base, down: base.down + sell.base },
    quote && { ...quote, up: quote.up + sell.quote, down: quote.down + buy.quote },
  ];
}

/**
 * Returns what an order would lead to if it exceeds the limit: the total value, or the name of a currency without a
 * price; `null` if the order is allowed. An order that increases no largest distance is always allowed. `ordered`:
 * what the possibly live orders of the book exchange.
 */
export function exceededValue(
  room: ValueRoom,
  ordered: Readonly<Record<Side, Exchanged>>,
  side: Side,
  order: Exchanged,
): Money | string | null {
  const own = ordered[side];
  const withOrder = { base: money(own.base + order.base), quote: money(own.quote + order.quote) };
  const before = withOrders(room, ordered);
  const after = withOrders(room, { ...ordered, [side]: withOrder });
  const isRaised = after.some((reach, i) => reach !== null && largest(reach) > largest(before[i]!));
  if (!isRaised) return null;
  const total = totalValue([...room.others, ...after.filter(reach => reach !== null)]);
  return typeof total === 'string' || total > room.max ? total : null;
}
