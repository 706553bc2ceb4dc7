/** The book as a hedge route: a taker order that trades through several levels, and its proceeds. */
import type { Depth } from '../model/book.ts';
import type { RouteOption } from './hedgeChoice.ts';
import { moneyOfAmount, moneyOfValue, valueOf, type Instrument } from '../model/instrument.ts';
import type { TakerRequest } from './takerOrder.ts';
import { money, textOfMoney, type Amount, type Money, type Price, type Side, type Value } from '../model/units.ts';

/** Limits of a taker order. */
export type TakerLimits = {
  /** Maximum cost against the mid price, including the fee, in basis points. */
  readonly costMaxBps: number;
  readonly collarBps: number;
  readonly orderValueMax: Value;
  readonly orderAmountMax?: Amount;
  /** Lots by which the worst-case position of the side may still grow. */
  readonly room: number;
  /** Worst price that the risk gate approves on this side, in ticks; absent if only the collar limits the price. */
  readonly priceBound?: Price;
  /** Returns the order's limit price for the worst level that it takes; if absent, the price of that level. */
  readonly limitOf?: (level: Price) => Price;
};

/** Taker order, limited to the price of the worst level that it takes. */
export type Take = Pick<TakerRequest, 'side' | 'price' | 'amount'>;

/**
 * Returns a taker order, in whole lots, with its cost. The order trades the visible levels within the limits; a
 * positive `amount` is sold. The proceeds are at the current prices of the levels, minus the taker fee (in 10^-8).
 * `costMax` is the cost against `mid` if everything trades at the order's limit price.
 */
export function sweepCost(
  instrument: Instrument,
  depth: Depth,
  amount: Money,
  takerRate: number,
  mid: Money,
  bounds: TakerLimits,
): RouteOption & { readonly take?: Take } {
  const side: Side = amount > 0n ? 'sell' : 'buy';
  const sells = side === 'sell';
  const [prices, amounts, count] = sells
    ? [depth.bidPrices, depth.bidAmounts, depth.bids]
    : [depth.askPrices, depth.askAmounts, depth.asks];
  const unavailable = (why: string) => ({ way: 'book', unavailableReason: why }) as const;
  if (!(Math.abs(takerRate) < RATE_ONE)) return unavailable('the taker fee is unknown');
  const worst = worstTicks(Number(mid) / Number(instrument.tickMoney), sells, takerRate, bounds);
  let lots = Math.min(Number((sells ? amount : -amount) / instrument.lotMoney), instrument.amountMax, bounds.room);
  lots = Math.min(lots, bounds.orderAmountMax ?? Infinity);
  const valueMax = bounds.orderValueMax < instrument.valueMax ? bounds.orderValueMax : instrument.valueMax;
  const { limitOf = level => level } = bounds;
  let price = 0;
  let value = 0n;
  let taken = 0;
  for (let i = 0; i < count; i++) {
    const level = prices[i] as Price;
    if (!(sells ? level >= worst : level <= worst)) break;
    const limit = limitOf(level);
    lots = Math.min(lots, Number(valueMax / BigInt(Math.max(level, limit))));
    const part = Math.min(amounts[i] as number, lots - taken);
    if (!(part > 0)) break;
    price = limit;
    taken += part;
    value += valueOf(level, part as Amount);
  }
  const order = { side, price: price as Price, amount: taken as Amount };
  if (taken === 0) return unavailable('no visible price level is within the limits of the order');
  if (taken < instrument.amountMin || valueOf(order.price, order.amount) < instrument.valueMin)
    return unavailable('the available amount is below the minimum order amount or value');
  const fee = BigInt(Math.ceil(takerRate));
  const net = (sum: bigint) => (sum * (ONE_RATE - fee)) / ONE_RATE;
  const major = moneyOfAmount(instrument, order.amount);
  const minorAt = (sum: bigint) => moneyOfValue(instrument, sum as Value);
  const bring = (minor: bigint): readonly [Money, Money] =>
    sells ? [money(major), money(net(minor))] : [money(net(major)), money(minor)];
  const [given, cash] = bring(minorAt(value));
  const [, atWorst] = bring(minorAt(valueOf(order.price, order.amount)));
  const fair = (given * mid) / ONE;
  const one = { currency: instrument.major, amount: textOfMoney(given) };
  const other = { currency: instrument.minor, amount: textOfMoney(cash) };
  return {
    way: 'book',
    give: sells ? one : other,
    get: sells ? other : one,
    costMax: money(sells ? fair - atWorst : atWorst - fair),
    take: order,
  };
}

/** Returns the worst price, in ticks, that is within the bounds and costs at most `costMaxBps`, including the fee. */
function worstTicks(mid: number, sells: boolean, takerRate: number, bounds: TakerLimits): number {
  const { costMaxBps, collarBps, priceBound = sells ? 0 : Infinity } = bounds;
  const keeps = 1 - takerRate / RATE_ONE;
  const sign = sells ? -1 : 1;
  const byCost = mid * (1 + (sign * costMaxBps) / 10_000) * (sells ? 1 / keeps : keeps);
  const byCollar = mid * (1 + (sign * collarBps) / 10_000);
  return sells ? Math.ceil(Math.max(byCost, byCollar, priceBound)) : Math.floor(Math.min(byCost, byCollar, priceBound));
}

const RATE_ONE = 100_000_000;
const ONE_RATE = BigInt(RATE_ONE);
const ONE = 10n ** 18n;
