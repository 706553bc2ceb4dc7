/** Price of a hedge on another exchange: one order for the book there, and its result in the currencies of the bot's book. */
import type { Depth } from '../model/book.ts';
import { sweepCost, type Take, type TakerLimits } from './bookSweep.ts';
import type { PricedRoute, RouteOption } from './hedgeChoice.ts';
import { moneyOfValue, valueOf, type Instrument } from '../model/instrument.ts';
import { money, moneyOf, textOfMoney, type Millis, type Money, type Price } from '../model/units.ts';

/** Rules and costs of hedges on another exchange. */
export type ElsewhereTerms = {
  /** Book on the other exchange. Its base currency is that of the bot's book. */
  readonly instrument: Instrument;
  /** Fee rate of taker orders on the other exchange, in 10^-8. */
  readonly takerRate: number;
  /** Value of one unit of the other book's quote currency, in the quote currency of the bot's book; above 0. */
  readonly rate: Money;
  /** Mid price of the bot's book, in its quote currency. */
  readonly midHere: Money;
  /** Distance of the limit price from the worst visible level that the order takes, in bps. */
  readonly marginBps: number;
  /** Possible price move until the order arrives, in bps of the value (`latencyRiskBps`). */
  readonly riskBps: number;
  /** Cost of moving quote currency back between the exchanges after the hedge, in bps of the hedged value. */
  readonly backBps: number;
  readonly bounds: Omit<TakerLimits, 'priceBound' | 'limitOf'>;
};

export type ElsewherePrice = { readonly out: PricedRoute; readonly take: Take };

/**
 * Returns the order for the other exchange and its result, or the reason why no order is possible. A positive `amount`
 * of the base currency is sold. Amounts in the other book's quote currency are converted with `rate`: proceeds rounded
 * down, payments rounded up. A book whose mid price is farther from the bot's than the collar gets no order, even if the
 * hedge would gain.
 */
export function priceElsewhere(
  minorHere: string,
  depth: Depth,
  amount: Money,
  { instrument, takerRate, rate, midHere, marginBps, riskBps, backBps, bounds }: ElsewhereTerms,
): ElsewherePrice | Extract<RouteOption, { readonly unavailableReason: string }> {
  const unavailable = (unavailableReason: string) => ({ way: 'elsewhere', unavailableReason }) as const;
  if (!(rate > 0n)) return unavailable('no exchange rate is known for the quote currency on the other exchange');
  if (depth.bids === 0 || depth.asks === 0) return unavailable('the book on the other exchange has an empty side');
  const [bid, ask] = [depth.bidPrices[0]!, depth.askPrices[0]!];
  if (!(bid < ask)) return unavailable('the book on the other exchange is crossed');
  if (![marginBps, riskBps, backBps].every(bps => bps >= 0 && bps < BPS))
    return unavailable('the price risk or another cost of the hedge is unknown');
  const mid = money(((BigInt(bid) + BigInt(ask)) * instrument.tickMoney) / 2n);
  // A price this far away is that of another currency, of a wrong exchange rate, or of an outdated or broken book.
  if (isFartherThan(bounds.collarBps, money((mid * rate) / ONE), midHere))
    return unavailable(
      `the mid price on the other exchange differs by more than ${bounds.collarBps} bps (limits.collarBps) from that of the bot's book`,
    );
  const limitOf = (level: Price): Price => limitPrice(level, amount > 0n, marginBps, instrument);
  const { take, ...swept } = sweepCost(instrument, depth, amount, takerRate, mid, { ...bounds, limitOf });
  if ('unavailableReason' in swept) return unavailable(swept.unavailableReason);
  if (take === undefined) return unavailable('no order is possible on the other exchange');
  const sells = take.side === 'sell';
  const here = (sum: Money): Money => money(sells ? (sum * rate) / ONE : (sum * rate + ONE - 1n) / ONE);
  // The fee is charged in the received currency. For a purchase, it is already subtracted from the base currency.
  const fee = BigInt(Math.ceil(takerRate));
  const worst = moneyOfValue(instrument, valueOf(take.price, take.amount));
  const atWorst = here(sells ? money((worst * (RATE_ONE - fee)) / RATE_ONE) : worst);
  const [base, cash] = sells ? [swept.give, swept.get] : [swept.get, swept.give];
  const traded = moneyOf(base.amount);
  const fair = (traded * midHere) / ONE;
  const extra = (bps: number) => (fair * BigInt(Math.ceil(bps * 1_000_000)) + BPS_SCALE - 1n) / BPS_SCALE;
  const quote = { currency: minorHere, amount: textOfMoney(here(moneyOf(cash.amount))) };
  return {
    out: {
      way: 'elsewhere',
      give: sells ? base : quote,
      get: sells ? quote : base,
      risk: money(extra(riskBps) + extra(backBps)),
      costMax: money((sells ? fair - atWorst : atWorst - fair) + extra(backBps)),
    },
    take,
  };
}

/**
 * Returns a priced hedge with its maximum cost at another mid price of the bot's book, because that price may have moved
 * while the hedge was priced. `sells`: whether the hedge sells the base currency.
 */
export function atOtherMid(out: PricedRoute, sells: boolean, before: Money, now: Money): PricedRoute {
  if (out.costMax === undefined) return out;
  const traded = moneyOf((sells ? out.give : out.get).amount);
  const dearer = traded * (sells ? now - before : before - now);
  // Rounded up also below 0, so that the cost is never understated.
  const rounded = dearer > 0n ? (dearer + ONE - 1n) / ONE : dearer / ONE;
  return { ...out, costMax: money(out.costMax + rounded) };
}

/**
 * Returns the possible price move until an order arrives, in bps: `z` standard deviations of a price whose volatility
 * is `perRootSecond` (a fraction, per square root of a second). Source: E17.
 */
export const latencyRiskBps = (perRootSecond: number, latencyMs: Millis, z: number): number =>
  z * perRootSecond * Math.sqrt(latencyMs / 1_000) * BPS;

/** Whether `price` differs from `from` by more than `bps`. */
function isFartherThan(bps: number, price: Money, from: Money): boolean {
  const distance = price > from ? price - from : from - price;
  return distance * BPS_SCALE > from * BigInt(Math.floor(bps * 1_000_000));
}

/** Returns the limit price in ticks, within the bounds of the book and never past the margin. */
function limitPrice(level: Price, sells: boolean, marginBps: number, { priceMin, priceMax }: Instrument): Price {
  const parts = BigInt(Math.floor(marginBps * 1_000_000));
  const scaled = BigInt(level) * (sells ? BPS_SCALE - parts : BPS_SCALE + parts);
  const ticks = Number(sells ? (scaled + BPS_SCALE - 1n) / BPS_SCALE : scaled / BPS_SCALE);
  return Math.min(priceMax, Math.max(priceMin, ticks)) as Price;
}

const BPS = 10_000;
/** Number of millionths of a basis point in 1. */
const BPS_SCALE = 10_000_000_000n;
const RATE_ONE = 100_000_000n;
const ONE = 10n ** 18n;
