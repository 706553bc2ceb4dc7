/** What came of a replay, as plain numbers and text for JSON, and its fills and orders as lines of CSV. */
import { money, textOfMoney } from '../src/core/index.ts';
import type { Instrument } from '../src/core/index.ts';
import type { FillRow, OrderRow, ReplayResult } from './replay.ts';

/** Money as decimal text, in the minor currency unless the name says otherwise; fees paid are negative; parts add up to the total. */
export type ReplayReport = {
  readonly model: string;
  readonly from: string;
  readonly to: string;
  readonly seconds: number;
  readonly events: number;
  readonly decisions: number;
  readonly orders: Readonly<Record<'placed' | 'canceled' | 'filled' | 'refused' | 'unknown', number>>;
  readonly fills: number;
  readonly volume: { readonly major: string; readonly minor: string };
  readonly pnl: Readonly<Record<'spread' | 'inventory' | 'fees' | 'total', string>>;
  readonly inventory: string;
  readonly holdings: Readonly<Record<string, string>>;
  readonly uptime: Readonly<Record<'bid' | 'ask', number>>;
  readonly requests: ReplayResult['requests'];
  readonly refusedPostOnly: number;
  readonly haltedBecause: string | null;
  readonly left: number;
  readonly hash: string;
};

export function reportOf(instrument: Instrument, result: ReplayResult): ReplayReport {
  const { snapshot } = result;
  const { profit, counts, uptime } = snapshot;
  const both = (key: keyof typeof counts.buy): number => counts.buy[key] + counts.sell[key];
  const share = (x: number): number => Number(x.toFixed(4));
  return {
    model: result.model,
    from: new Date(result.from).toISOString(),
    to: new Date(result.to).toISOString(),
    seconds: (result.to - result.from) / 1000,
    events: result.events,
    decisions: result.decisions,
    orders: {
      placed: both('placed'),
      canceled: both('canceled'),
      filled: both('filled'),
      refused: both('refused'),
      unknown: both('unknown'),
    },
    fills: snapshot.fills,
    volume: result.volume,
    pnl: {
      spread: textOfMoney(profit.spread),
      inventory: textOfMoney(profit.inventory),
      fees: textOfMoney(profit.fees),
      total: textOfMoney(profit.total),
    },
    inventory: textOfMoney(snapshot.inventory),
    holdings: Object.fromEntries(
      [instrument.major, instrument.minor].map(name => [name, textOfMoney(snapshot.holdings.get(name) ?? money(0n))]),
    ),
    uptime: { bid: share(uptime.bid), ask: share(uptime.ask) },
    requests: result.requests,
    refusedPostOnly: result.refusedPostOnly,
    haltedBecause: result.haltedBecause,
    left: result.left,
    hash: result.hash,
  };
}

export const FILLS_HEADER =
  'tid,order_id,at,heard_at,side,price,amount,value,fee,fee_currency,mid_ticks,held_since_start';
export const fillLine = (f: FillRow): string =>
  [
    f.tid,
    f.orderId,
    f.at,
    f.heardAt,
    f.side,
    f.price,
    f.amount,
    f.value,
    f.fee,
    f.feeCurrency,
    f.midTicks,
    f.held,
  ].join(',');

export const ORDERS_HEADER = 'order_id,side,price,amount,filled,placed_at,ended_at,ending';
export const orderLine = (o: OrderRow): string =>
  [o.orderId, o.side, o.price, o.amount, o.filled, o.placedAt, o.endedAt, o.ending].join(',');
