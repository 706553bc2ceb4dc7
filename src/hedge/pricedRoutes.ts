/** Hedge routes with current prices: the desk's direct offers, routes through third currencies, and the book. */
import {
  money,
  sweepCost,
  type ConversionOffer,
  type Instrument,
  type Millis,
  type Money,
  type PricedRoute,
  type Take,
  type RouteOption,
} from '../core/index.ts';
import type { Offers } from './offers.ts';
import { requestRoute, type RouteOffer, type RouteRules } from './thirdCurrencyRoutes.ts';
import type { HedgeSetup } from './setup.ts';
import type { HedgeInputs } from './hedgeInputs.ts';

/** Priced route with the data that its execution needs. */
export type ExecutableRoute =
  | { readonly by: 'offer'; readonly out: PricedRoute; readonly offer: ConversionOffer }
  | { readonly by: 'route'; readonly out: PricedRoute; readonly route: RouteOffer }
  | { readonly by: 'take'; readonly out: PricedRoute; readonly take: Take }
  /**
   * `there`: rules of the other book in whose ticks and lots `take` is. `pricedAt`: time of the book from which the order
   * is priced, on the monotonic clock.
   */
  | {
      readonly by: 'elsewhere';
      readonly out: PricedRoute;
      readonly take: Take;
      readonly there: Instrument;
      readonly rate: Money;
      readonly pricedAt: Millis;
    }
  | { readonly by: 'nothing'; readonly out: RouteOption };

type RouteSources = Pick<HedgeSetup, 'venues' | 'routes'>;

/**
 * Requests all allowed offers from the desk in parallel. A positive `amount` of the base currency is sold, a negative
 * one bought.
 */
export async function requestRoutes(
  offers: Offers,
  { venues, routes }: RouteSources,
  instrument: Instrument,
  amount: Money,
  mid: Money,
): Promise<ExecutableRoute[]> {
  const sells = amount > 0n;
  const [from, to] = sells ? [instrument.major, instrument.minor] : [instrument.minor, instrument.major];
  const wish = { from, to, fixed: sells ? 'give' : 'get', size: sells ? amount : money(-amount) } as const;
  const direct = venues
    .filter(way => way !== 'book' && way !== 'elsewhere')
    .map(async (way): Promise<ExecutableRoute> => {
      const offer = await (way === 'rfq' ? offers.rfq(wish) : offers.request(way, wish, instrument.lotMoney));
      if (typeof offer === 'string') return { by: 'nothing', out: { way, unavailableReason: offer } };
      return { by: 'offer', out: { way, give: offer.give, get: offer.get }, offer };
    });
  const over = (rules: RouteRules) =>
    rules.via.map(async (via): Promise<ExecutableRoute> => {
      const route = await requestRoute(offers, instrument, amount, mid, via, rules);
      if (typeof route === 'string') return { by: 'nothing', out: { way: `rfq via ${via}`, unavailableReason: route } };
      return { by: 'route', out: route.out, route };
    });
  return Promise.all([...direct, ...(routes ? over(routes) : [])]);
}

/**
 * Returns the book route as a taker order. Without `mayTake`, the price is only for comparison. A positive `amount` of
 * the base currency is sold, a negative one bought.
 */
export function bookRoute(
  { venues, rules }: Pick<HedgeSetup, 'venues' | 'rules'>,
  mayTake: boolean,
  { sides, limits, instrument, depth, takerRate, mid }: HedgeInputs,
  amount: Money,
): ExecutableRoute {
  if (limits === null)
    return { by: 'nothing', out: { way: 'book', unavailableReason: 'no risk limits are configured' } };
  const isAllowed = mayTake && venues.includes('book');
  const { room, priceBound } = sides[amount > 0n ? 'sell' : 'buy'];
  const costMaxBps = isAllowed ? rules.costMaxBps : limits.collarBps;
  const bounds = { ...limits, costMaxBps, room, priceBound };
  const { take, ...out } = sweepCost(instrument, depth, amount, takerRate, mid, bounds);
  if ('unavailableReason' in out) return { by: 'nothing', out };
  if (take !== undefined && isAllowed) return { by: 'take', out, take };
  return { by: 'nothing', out: { ...out, comparisonOnlyReason: 'the bot may not take liquidity in its book' } };
}
