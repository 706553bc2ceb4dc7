/** Limit on the total value, in one currency, by which the books of an account are away from their targets. */
import type { Exchanged } from './currencyLimits.ts';
import { money, moneyOf, type Money, type Side } from '../model/units.ts';

export type ValueLimit = { readonly currency: string; readonly max: Money };

/** Best prices of other traders in a book, in its quote currency. */
export type QuotedBook = {
  readonly base: string;
  readonly quote: string;
  readonly bid: Money;
  readonly ask: Money;
  /** Whether the prices of other books contradict this book, so that it is not quoted. */
  readonly isPulled?: boolean;
};

/** Price of one unit of a currency, as an exact fraction. */
export type ExactPrice = { readonly numerator: bigint; readonly denominator: bigint };

const UNIT: bigint = moneyOf('1');

/**
 * Returns the price at which each currency can be bought, in the currency of the limit, through the shortest chain of
 * books. A pulled book is used only if there is no other chain. The result lacks currencies that no chain connects.
 */
export function highPrices(currency: string, books: readonly QuotedBook[]): ReadonlyMap<string, ExactPrice> {
  const prices = new Map<string, ExactPrice>([[currency, { numerator: 1n, denominator: 1n }]]);
  addPrices(
    prices,
    books.filter(({ isPulled }) => isPulled !== true),
  );
  addPrices(prices, books);
  return prices;
}

/** Adds the price of each currency that the books connect to a currency with a price. */
function addPrices(prices: Map<string, ExactPrice>, books: readonly QuotedBook[]): void {
  for (let found: [string, ExactPrice][] = []; ; found = []) {
    for (const { base, quote, bid, ask } of books) {
      const [ofBase, ofQuote] = [prices.get(base), prices.get(quote)];
      if (ofBase === undefined && ofQuote !== undefined)
        found.push([base, { numerator: ofQuote.numerator * ask, denominator: ofQuote.denominator * UNIT }]);
      if (ofQuote === undefined && ofBase !== undefined)
        found.push([quote, { numerator: ofBase.numerator * UNIT, denominator: ofBase.denominator * bid }]);
    }
    if (found.length === 0) return;
    for (const [name, price] of found) if (!prices.has(name)) prices.set(name, price);
  }
}

/** Returns the value of an amount, rounded up. */
export const valueCeil = (amount: bigint, { numerator, denominator }: ExactPrice): Money => {
  const product = amount * numerator;
  return money((product > 0n ? product + denominator - 1n : product) / denominator);
};

/**
 * Distance of a currency from its target if everything that raises it happens (`up`), or everything that lowers it
 * (`down`, with the opposite sign).
 */
export type Reach = { readonly up: bigint; readonly down: bigint };

/** A currency with its price; `null` if no fresh prices lead to it. */
export type PricedReach = Reach & { readonly currency: string; readonly price: ExactPrice | null };

/** Amounts that one order, or all orders on one side of a book, exchange if they fill. */
export type DirectedExchange = Exchanged & {
  readonly side: Side;
  readonly pair: readonly [base: string, quote: string];
};

/**
 * Room of one book under the limit. `held`: base currencies without orders. `others`: live orders of the other books.
 */
export type ValueRoom = ValueLimit & {
  readonly held: readonly PricedReach[];
  readonly others: readonly DirectedExchange[];
  readonly pair: readonly [base: string, quote: string];
};

/** Largest total value, and a currency without a price that could be away from its target; `null` if there is none. */
export type WorstValue = { readonly value: Money; readonly unpriced: string | null };

/**
 * Maximum number of linked currencies for which all directions are tried. In a larger group, each counts on its own.
 */
const LINKED_MAX = 8;

/**
 * Share by which the value may exceed the limit before live orders are canceled, as a divisor: 1%. Otherwise, each
 * small move of a price would cancel and replace orders near the limit.
 */
const SLACK_DIVISOR = 100n;

/** Maximum rise of the total value by the price of an order that only reduces, as a divisor of its own value: 5%. */
const SPREAD_DIVISOR = 20n;

/** Values of the amounts of base and quote currency that an order, or all orders on one side of a book, exchange. */
type Worth = { readonly of: DirectedExchange; readonly base: bigint; readonly quote: bigint };

/**
 * Total value of the distances of linked currencies, for one combination of their directions, and the exchanges that
 * raise this value.
 */
type Case = { readonly value: bigint; readonly raisers: readonly DirectedExchange[] };

const raisesIn = ({ side }: DirectedExchange, isBase: boolean): keyof Reach =>
  (side === 'buy') === isBase ? 'up' : 'down';

/** Returns the direction and amount by which an exchange changes a currency; `null` if it does not change it. */
export function changeIn(
  currency: string,
  of: DirectedExchange,
): { readonly direction: keyof Reach; readonly amount: bigint } | null {
  const i = of.pair.indexOf(currency);
  return i === -1 ? null : { direction: raisesIn(of, i === 0), amount: i === 0 ? of.base : of.quote };
}

/** Returns the distances of a currency from its target, each as if all exchanges in its direction were filled. */
export function reachWith(
  { currency, up, down }: Reach & { readonly currency: string },
  of: readonly DirectedExchange[],
): Reach {
  const reach = { up, down };
  for (const one of of) {
    const change = changeIn(currency, one);
    if (change !== null) reach[change.direction] += change.amount;
  }
  return reach;
}

/**
 * Whether an order only reduces the distance of its base currency from the target, even if all orders in the same
 * direction fill. Such an order changes the distance of its quote currency by about the same value.
 */
export function isCovered(
  order: DirectedExchange,
  held: readonly PricedReach[],
  all: readonly DirectedExchange[],
): boolean {
  const base = held.find(({ currency }) => currency === order.pair[0]);
  return base !== undefined && reachWith(base, all)[raisesIn(order, true)] <= 0n;
}

/**
 * Returns the groups of priced currencies that orders link, each with one case per combination of directions. An order
 * counts in a case only if its fill would raise the value.
 */
function casesOf(held: readonly PricedReach[], exchanges: readonly DirectedExchange[]): readonly (readonly Case[])[] {
  const priced = held.flatMap(({ price, ...one }) => (price === null ? [] : [{ ...one, price }]));
  const priceOf = new Map(priced.map(({ currency, price }) => [currency, price]));
  const worths = exchanges.map(of => {
    const worth = (i: 0 | 1, amount: bigint): bigint => {
      const price = priceOf.get(of.pair[i]);
      return price === undefined ? 0n : valueCeil(amount, price);
    };
    return { of, base: worth(0, of.base), quote: worth(1, of.quote) } satisfies Worth;
  });
  let groups = priced.map(one => [one]);
  for (const { pair } of exchanges) {
    const linked = groups.filter(group => group.some(({ currency }) => pair.includes(currency)));
    if (linked.length > 1) groups = [...groups.filter(group => !linked.includes(group)), linked.flat()];
  }
  return groups
    .flatMap(group => (group.length > LINKED_MAX ? group.map(one => [one]) : [group]))
    .map(group => {
      const indices = new Map(group.map(({ currency }, i) => [currency, i]));
      return Array.from({ length: 2 ** group.length }, (_, bits) => {
        const isUp = (i: number): boolean => (bits & (1 << i)) !== 0;
        let value = group.reduce((sum, { up, down, price }, i) => sum + valueCeil(isUp(i) ? up : down, price), 0n);
        const raisers: DirectedExchange[] = [];
        for (const { of, base, quote } of worths) {
          const signed = ([base, quote] as const).map((worth, j) => {
            const i = indices.get(of.pair[j as 0 | 1]);
            if (i === undefined) return 0n;
            return (raisesIn(of, j === 0) === 'up') === isUp(i) ? worth : -worth;
          });
          const added = signed[0]! + signed[1]!;
          if (added <= 0n) continue;
          value += added;
          raisers.push(of);
        }
        return { value, raisers };
      });
    });
}

const largestOf = (cases: readonly Case[]): bigint =>
  cases.reduce((most, { value }) => (value > most ? value : most), 0n);

/**
 * Returns the largest total value of all distances after any combination of fills, each at the price at which the
 * currency can be bought. The value does not include currencies without a price.
 */
export function worstValue(held: readonly PricedReach[], exchanges: readonly DirectedExchange[]): WorstValue {
  const value = casesOf(held, exchanges).reduce((sum, cases) => sum + largestOf(cases), 0n);
  const unpriced = held.find(one => one.price === null && largest(reachWith(one, exchanges)) > 0n);
  return { value: money(value), unpriced: unpriced?.currency ?? null };
}

/**
 * Returns the orders that raise the value by their fills beyond the limit and its slack, without orders that only
 * reduce. If the holdings alone are already beyond `limit`, their value is the limit, because cancels cannot lower it.
 */
export function ordersBeyond(
  limit: bigint,
  held: readonly PricedReach[],
  exchanges: readonly DirectedExchange[],
): readonly DirectedExchange[] {
  const groups = casesOf(held, exchanges);
  const total = groups.reduce((sum, cases) => sum + largestOf(cases), 0n);
  const { value: now } = worstValue(held, []);
  const larger = limit > now ? limit : now;
  const most = larger + larger / SLACK_DIVISOR;
  const beyond = groups.flatMap(cases =>
    cases.flatMap(({ value, raisers }) => (total - largestOf(cases) + value > most ? raisers : [])),
  );
  return exchanges.filter(one => beyond.includes(one) && !isCovered(one, held, exchanges));
}

const largest = ({ up, down }: Reach): bigint => (up > down ? up : down);

/**
 * Returns why an order would exceed the limit: the largest total value with the order, or the name of a currency
 * without a price; `null` if the order is allowed. An order that does not raise the largest value, apart from the
 * spread, is always allowed. `ordered`: amounts that the possibly live orders of the book exchange.
 */
export function exceededValue(
  room: ValueRoom,
  ordered: Readonly<Record<Side, Exchanged>>,
  side: Side,
  order: Exchanged,
): Money | string | null {
  const { held, pair } = room;
  const own = (['buy', 'sell'] as const).map(one => ({ ...ordered[one], side: one, pair }));
  const exchanges = [...room.others, ...own];
  const added = { ...order, side, pair };
  const all = [...exchanges, added];
  const before = worstValue(held, exchanges);
  const after = worstValue(held, all);
  if (after.unpriced === null && after.value <= room.max) return null;
  const isReducing = isCovered(added, held, all);
  const raised = held.find(
    one =>
      one.price === null &&
      pair.includes(one.currency) &&
      largest(reachWith(one, all)) > largest(reachWith(one, exchanges)),
  );
  if (raised !== undefined && !isReducing) return raised.currency;
  const isRaised = after.value - before.value > (isReducing ? spreadOf(added, held) : 0n);
  return isRaised ? (after.unpriced ?? after.value) : null;
}

/** Returns the amount by which the price of an order that only reduces may raise the total value. */
function spreadOf({ pair, base, quote }: DirectedExchange, held: readonly PricedReach[]): bigint {
  const [ofBase, ofQuote] = pair.map(name => held.find(({ currency }) => currency === name)?.price ?? null);
  if (!ofBase || !ofQuote) return 0n;
  const value = valueCeil(base, ofBase);
  const gain = valueCeil(quote, ofQuote) - value;
  return gain > 0n && gain * SPREAD_DIVISOR <= value ? gain : 0n;
}
