/** Limits on the amounts that several books of one account hold together in a base currency. */
import { moneyOfAmount, moneyOfValue, valueOf, type Instrument } from '../model/instrument.ts';
import { lotsOnSide, remaining, type Order } from '../orders/orders.ts';
import { money, type Amount, type Money, type Side, type Value } from '../model/units.ts';

/** Maximum of |exposure| by currency, even if all possibly live orders fill. */
export type CurrencyLimits = ReadonlyMap<string, Money>;

/** Amounts of base and quote currency that orders exchange. */
export type Exchanged = { readonly base: Money; readonly quote: Money };

/** A book, as the limits by currency see it. */
export type ExposedBook = {
  readonly base: string;
  readonly quote: string;
  /** Base and quote currency that the possibly live orders of each side exchange if they fill. */
  readonly orders: Readonly<Record<Side, Exchanged>>;
};

/**
 * Maximum amounts of base and quote currency that the possibly live orders of one side of a book may exchange; `null`
 * for a currency without a limit. Negative if the limit is exceeded even without these orders.
 */
export type CurrencyRoom = { readonly base: Money | null; readonly quote: Money | null };

/**
 * Returns the room of each side of a book that the possibly live orders of the other books leave. `exposure` returns
 * the amount that the account holds of a currency beyond its target, as if the pending conversions that raise this
 * amount (`isRaised`) or lower it were executed.
 */
export function currencyRooms(
  limits: CurrencyLimits,
  [ofBase, ofQuote]: readonly [base: string, quote: string],
  others: readonly ExposedBook[],
  exposure: (currency: string, isRaised: boolean) => Money,
): Readonly<Record<Side, CurrencyRoom>> {
  const room = (currency: string, isRaised: boolean): Money | null => {
    const most = limits.get(currency);
    if (most === undefined) return null;
    const held = exposure(currency, isRaised);
    let left: bigint = isRaised ? most - held : most + held;
    for (const { base, quote, orders } of others) {
      const { buy, sell } = orders;
      if (base === currency) left -= isRaised ? buy.base : sell.base;
      if (quote === currency) left -= isRaised ? sell.quote : buy.quote;
    }
    return money(left);
  };
  return {
    buy: { base: room(ofBase, true), quote: room(ofQuote, false) },
    sell: { base: room(ofBase, false), quote: room(ofQuote, true) },
  };
}

/** Returns the amounts that the possibly live orders of one side exchange if they fill. */
export function exchangedBy(instrument: Instrument, orders: readonly Order[], side: Side): Exchanged {
  let value = 0n;
  for (const order of orders) if (order.side === side) value += valueOf(order.price, remaining(order) as Amount);
  return {
    base: moneyOfAmount(instrument, lotsOnSide(orders, side) as Amount),
    quote: moneyOfValue(instrument, value as Value),
  };
}

/**
 * Returns the currency whose room an order and the possibly live orders of its side together exceed; `null` if there is
 * none.
 */
export const exceededRoom = (room: CurrencyRoom, ordered: Exchanged, order: Exchanged): 'base' | 'quote' | null =>
  (['base', 'quote'] as const).find(of => room[of] !== null && ordered[of] + order[of] > room[of]) ?? null;
