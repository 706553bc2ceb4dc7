/** Routes through a third currency: two conversions in sequence. */
import {
  hedgeCostMax,
  money,
  moneyOf,
  textOfMoney,
  type Conversion,
  type ConversionOffer,
  type HedgeRoute,
  type HedgeRow,
  type HedgeRules,
  type Instrument,
  type Millis,
  type Money,
  type PricedRoute,
} from '../core/index.ts';
import { ceilTo, floorTo, type Offers } from './offers.ts';

export type RouteRules = {
  /** Currencies allowed between two legs. */
  readonly via: readonly string[];
  /**
   * Possible loss from price moves between the legs, in bps of the hedged amount. The comparison of routes adds this
   * loss to the cost of the route.
   */
  readonly riskBps: number;
  /** Maximum wait for a second leg whose price is within the limits. */
  readonly waitMs: Millis;
};

/** Binding offer for the first leg, and the current price of the complete route, which is not binding. */
export type RouteOffer = {
  readonly via: string;
  readonly first: ConversionOffer;
  readonly out: PricedRoute;
  /** Proceeds of the first leg, in the third currency. */
  readonly holds: Money;
};

/**
 * Prices a route for `amount` of the base currency; a positive amount is sold, a negative one bought. Returns the
 * reason if the route has no price.
 */
export async function requestRoute(
  offers: Offers,
  { major, minor }: Instrument,
  amount: Money,
  mid: Money,
  via: string,
  { riskBps }: RouteRules,
): Promise<RouteOffer | string> {
  const legs =
    amount > 0n
      ? await legsToSell(offers, major, minor, via, amount)
      : await legsToBuy(offers, major, minor, via, amount);
  if (typeof legs === 'string') return legs;
  const [first, second] = legs;
  const size = moneyOf(amount > 0n ? first.give.amount : second.get.amount);
  const risk = money((((size * mid) / ONE) * BigInt(Math.round(riskBps * 100))) / 1_000_000n);
  return {
    via,
    first,
    holds: moneyOf(first.get.amount),
    out: { way: `rfq via ${via}`, give: first.give, get: second.get, risk },
  };
}

type Legs = readonly [first: ConversionOffer, second: ConversionOffer];

async function legsToSell(
  offers: Offers,
  major: string,
  minor: string,
  via: string,
  amount: Money,
): Promise<Legs | string> {
  const first = await offers.rfq({ from: major, to: via, fixed: 'give', size: amount });
  if (typeof first === 'string') return `first leg: ${first}`;
  const second = await requestSecondLeg(offers, via, minor, moneyOf(first.get.amount));
  return typeof second === 'string' ? `second leg: ${second}` : [first, second];
}

/** Requests the second leg first, because it determines the required amount of the third currency. */
async function legsToBuy(
  offers: Offers,
  major: string,
  minor: string,
  via: string,
  amount: Money,
): Promise<Legs | string> {
  const second = await offers.rfq({ from: via, to: major, fixed: 'get', size: money(-amount) });
  if (typeof second === 'string') return `second leg: ${second}`;
  const needs = moneyOf(second.give.amount);
  const unit = await offers.unit({ from: minor, to: via, fixed: 'get' });
  if (typeof unit === 'string') return `first leg: ${unit}`;
  const first = await offers.rfq({ from: minor, to: via, fixed: 'get', size: ceilTo(needs, unit) });
  if (typeof first === 'string') return `first leg: ${first}`;
  return moneyOf(first.get.amount) < needs
    ? 'first leg: the exchange offers to convert only part of the amount'
    : [first, second];
}

/** Requests an offer that converts all of the third currency. Returns the reason as text if there is no offer. */
export async function requestSecondLeg(
  offers: Offers,
  via: string,
  to: string,
  holds: Money,
): Promise<ConversionOffer | string> {
  const wish = { from: via, to, fixed: 'give', size: holds } as const;
  const unit = await offers.unit(wish);
  if (typeof unit === 'string') return unit;
  const offer = await offers.request('rfq', wish, unit);
  if (typeof offer === 'string') return offer;
  return moneyOf(offer.give.amount) < floorTo(holds, unit)
    ? 'the exchange offers to convert only part of the amount'
    : offer;
}

/**
 * Returns the route's record. `worth` is the value of the third currency in the quote currency. If the hedge sells,
 * `worth` is what the current offer of the second leg pays; otherwise it is the amount paid in the first leg. `least`
 * is the minimum result of the second leg at which the complete route costs at most `costMax`.
 */
export function routeRecord({ via, holds, out }: RouteOffer, amount: Money, mid: Money, costMax: Money): HedgeRoute {
  const [give, get] = [moneyOf(out.give.amount), moneyOf(out.get.amount)];
  const sells = amount > 0n;
  const least = sells ? (give * mid) / ONE - costMax : ((give - costMax) * ONE + mid - 1n) / mid;
  return {
    via,
    leg: 1,
    holds: textOfMoney(holds),
    worth: textOfMoney(sells ? get : give),
    least: textOfMoney(money(least > 0n ? least : 0n)),
    until: null,
  };
}

/** Returns the maximum cost of a route, reached if its second leg executes at the worst accepted price. */
export function routeCostMax(major: Money, mid: Money, rules: HedgeRules, dayLeft: Money | null): Money {
  const limit = hedgeCostMax(major, mid, rules);
  return dayLeft !== null && dayLeft < limit ? dayLeft : limit;
}

/**
 * Returns the planned second leg, before an offer for this leg exists: it gives all of the third currency, for the
 * minimum proceeds of a sale or for the complete amount of a purchase.
 */
export function plannedSecondLeg(
  { id, amount, route }: HedgeRow,
  { major, minor }: Pick<Instrument, 'major' | 'minor'>,
): Conversion {
  if (route === undefined) throw new Error(`hedge ${id} has no route`);
  const wanted = moneyOf(amount);
  return {
    id: secondId(id),
    give: { currency: route.via, amount: moneyOf(route.holds) },
    get: wanted > 0n ? { currency: minor, amount: moneyOf(route.least) } : { currency: major, amount: money(-wanted) },
    worth: moneyOf(route.worth),
  };
}

/** Returns the conversion id of the second leg, which differs from the id of the first leg. */
export const secondId = (id: string): string => `${id}~2`;

const ONE = 10n ** 18n;
