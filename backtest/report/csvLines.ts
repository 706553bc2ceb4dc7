/** Columns of the CSV files of fills, orders and hedges of a backtest. */
import type { ReplayedHedge } from '../replay/hedging.ts';
import type { FillRow, OrderRow } from '../replay/replay.ts';

export const FILLS_HEADER =
  'tid,order_id,level,at,heard_at,side,price,amount,value,fee,fee_currency,mid_ticks,held_since_start';
/**
 * Formats a fill as a line with the columns of `FILLS_HEADER`, without a line end. Times are in epoch ms, money and
 * amounts are decimal text. An unknown mid price is empty.
 */
export const fillLine = (f: FillRow): string =>
  [
    f.tid,
    f.orderId,
    f.level,
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
/**
 * Formats an order as a line with the columns of `ORDERS_HEADER`, without a line end. Times are in epoch ms, prices and
 * amounts are decimal text.
 */
export const orderLine = (o: OrderRow): string =>
  [o.orderId, o.side, o.price, o.amount, o.filled, o.placedAt, o.endedAt, o.ending].join(',');

export const HEDGES_HEADER =
  'hedge_id,at,state,wanted,way,gave,gave_currency,got,got_currency,weighed_bps,accepted_at,executed_at,cost,heard_at,why,weighed';
/**
 * Formats a hedge as a line with the columns of `HEDGES_HEADER`, without a line end. Times are in epoch ms, amounts are
 * decimal text, sentences are in quotes. A `null` is empty.
 */
export const hedgeLine = (h: ReplayedHedge): string =>
  [
    h.id,
    h.at,
    h.state,
    h.wanted,
    h.way,
    h.gave,
    h.gaveCurrency,
    h.got,
    h.gotCurrency,
    h.weighedBps,
    h.acceptedAt,
    h.executedAt,
    h.cost,
    h.heardAt,
    h.why && quoted(h.why),
    quoted(h.weighed),
  ]
    .map(cell => cell ?? '')
    .join(',');
/** Returns a sentence in quotes, because it may contain commas. */
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
