/** Current value of each limit next to its maximum, for display and metrics. Decisions do not use these values. */
import type { KillSwitch, HaltLimits } from './killSwitch.ts';
import { moneyOfAmount, moneyOfValue, valueOf } from '../model/instrument.ts';
import { mayLive, type Order } from '../orders/orders.ts';
import type { RiskLimits, RiskContext } from './preTradeRisk.ts';
import { money, type Amount, type Millis, type Money } from '../model/units.ts';

/** Configuration key of the limit. */
export type LimitName =
  Exclude<keyof RiskLimits, 'staleAfterMs'> | keyof HaltLimits | 'accountLimits' | 'accountLimits.value';

/**
 * Current value of one limit. A sum has a currency; a count or a distance (in bps) has `null` instead. If the limit is
 * exceeded, `used` is above `max`.
 */
export type LimitUse = { readonly limit: LimitName } & (
  | { readonly currency: string; readonly max: Money; readonly used: Money }
  | { readonly currency: null; readonly max: number; readonly used: number }
);

/**
 * Returns the current value of every limit, except those whose value is unknown; the list is empty if no limit is set.
 * `profit` is the total profit so far, in the quote currency.
 */
export function limitUsesOf(
  riskContext: RiskContext,
  killSwitch: KillSwitch | null,
  profit: Money | null,
  at: Millis,
): readonly LimitUse[] {
  return [
    ...riskUses(riskContext),
    ...(killSwitch === null ? [] : killSwitchUses(killSwitch, riskContext, profit, at)),
  ];
}

function riskUses({ limits, orders, position, instrument, depth, pastPrice }: RiskContext): readonly LimitUse[] {
  if (limits === null) return [];
  const live = orders.filter(mayLive);
  const largest = live.map(orderValue).reduce((a, b) => (b > a ? b : a), 0n);
  const mid = depth.bids > 0 && depth.asks > 0 ? (depth.bidPrices[0]! + depth.askPrices[0]!) / 2 : Number.NaN;
  const farthest = live.reduce((max, order) => Math.max(max, (Math.abs(order.price - mid) * 10_000) / mid), 0);
  const { major, minor } = instrument;
  const { orderAmountMax, priceMove } = limits;
  const sum = (lots: number) => moneyOfAmount(instrument, lots as Amount);
  return [
    { limit: 'positionMax', currency: major, max: sum(limits.positionMax), used: sum(Math.abs(position)) },
    {
      limit: 'orderValueMax',
      currency: minor,
      max: moneyOfValue(instrument, limits.orderValueMax),
      used: moneyOfValue(instrument, largest as RiskLimits['orderValueMax']),
    },
    ...(orderAmountMax === undefined
      ? []
      : [
          {
            limit: 'orderAmountMax' as const,
            currency: major,
            max: sum(orderAmountMax),
            used: sum(live.reduce((max, order) => Math.max(max, order.amount), 0)),
          },
        ]),
    { limit: 'ordersMax', currency: null, max: limits.ordersMax, used: live.length },
    // Without a mid price, the distances from it are unknown.
    ...(Number.isNaN(farthest)
      ? []
      : [{ limit: 'collarBps' as const, currency: null, max: limits.collarBps, used: farthest }]),
    ...(priceMove === undefined || Number.isNaN(mid) || pastPrice === 0
      ? []
      : [
          {
            limit: 'priceMove' as const,
            currency: null,
            max: priceMove.bps,
            used: (Math.abs(2 * mid - pastPrice) * 10_000) / pastPrice,
          },
        ]),
  ];
}

const orderValue = ({ price, amount }: Order): bigint => valueOf(price, amount);

function killSwitchUses(
  killSwitch: KillSwitch,
  { instrument }: RiskContext,
  profit: Money | null,
  at: Millis,
): readonly LimitUse[] {
  const { limits } = killSwitch;
  const lost = killSwitch.state(profit);
  const loss = (limit: 'drawdownMax' | 'dayLossMax', sum: Money | undefined): LimitUse => {
    const used = sum !== undefined && sum > 0n ? sum : money(0n);
    return { limit, currency: instrument.minor, max: limits[limit], used };
  };
  return [
    loss('drawdownMax', lost?.drawdown),
    loss('dayLossMax', lost?.dayLoss),
    ...killSwitch.counts(at).map(({ limit, max, used }) => ({ limit, currency: null, max, used })),
  ];
}
