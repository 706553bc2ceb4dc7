/**
 * Orders and trades of the second exchange as its answers show them. Source of the fields: rest-api.md of
 * github.com/binance/binance-spot-api-docs at a5e0bc3.
 */
import { money, type Amount } from '../../core/index.ts';
import type { VenueOrder } from '../venue/order.ts';
import type { OwnTradeRecord } from '../venue/ownTrades.ts';
import { text8 } from '../wire/wire.ts';
import { price8, quantity8, symbolOf } from './symbols.ts';

export type ResponseType = 'ACK' | 'RESULT' | 'FULL';

/**
 * Returns the status word of an order. Without a cancel, only an immediate order can end before it is filled; its word
 * is EXPIRED.
 */
export function statusWord({ status, filled, finishedAt, cancelling }: VenueOrder): string {
  if (finishedAt === null) return filled > 0 ? 'PARTIALLY_FILLED' : 'NEW';
  if (status === 'completed') return 'FILLED';
  return cancelling ? 'CANCELED' : 'EXPIRED';
}

const typeWord = ({ type, timeInForce }: VenueOrder): string => {
  if (type === 'market') return 'MARKET';
  return timeInForce === 'postonly' ? 'LIMIT_MAKER' : 'LIMIT';
};
const lifetimeWord = ({ timeInForce }: VenueOrder): string => {
  if (timeInForce === 'immediateorcancel') return 'IOC';
  return timeInForce === 'fillorkill' ? 'FOK' : 'GTC';
};

const identity = (order: VenueOrder) => ({
  symbol: symbolOf(order.instrument),
  orderId: Number(order.oid),
  orderListId: -1,
});

/** Returns the fields that every answer about an order has: price, amounts, status, time in force, type and side. */
function progress(order: VenueOrder) {
  const { instrument: i, minor } = order;
  // A market order by value has no amount of its own; its amount is what it traded.
  const original = minor === undefined ? order.original : order.filled;
  return {
    price: price8(i, order.price),
    origQty: quantity8(i, original),
    executedQty: quantity8(i, order.filled),
    origQuoteOrderQty: text8(minor ?? money(0n)),
    cummulativeQuoteQty: text8(order.traded),
    status: statusWord(order),
    timeInForce: lifetimeWord(order),
    type: typeWord(order),
    side: order.side.toUpperCase(),
    ...(statusWord(order) === 'EXPIRED' && { expiryReason: 'INSUFFICIENT_LIQUIDITY' }),
  };
}

/** Answer to a new order. `trades` are the order's own trades. */
export function placedAnswer(
  order: VenueOrder,
  form: ResponseType,
  trades: readonly OwnTradeRecord[],
): Record<string, unknown> {
  const { instrument: i } = order;
  const ack = { ...identity(order), clientOrderId: order.originId, transactTime: wholeTime(order.createdAt) };
  if (form === 'ACK') return ack;
  const result = {
    ...ack,
    ...progress(order),
    workingTime: wholeTime(order.createdAt),
    selfTradePreventionMode: 'NONE',
  };
  if (form === 'RESULT') return result;
  return {
    ...result,
    fills: trades.map(({ price, amount, fee, feeCurrency, ordinal }) => ({
      price: price8(i, price),
      qty: quantity8(i, amount),
      commission: text8(fee),
      commissionAsset: feeCurrency.toUpperCase(),
      tradeId: ordinal,
    })),
  };
}

/** Answer to a cancel, which has an id of its own. */
export const canceledAnswer = (order: VenueOrder, cancelId: string, now: number): Record<string, unknown> => ({
  symbol: symbolOf(order.instrument),
  origClientOrderId: order.originId,
  orderId: Number(order.oid),
  orderListId: -1,
  clientOrderId: cancelId,
  transactTime: wholeTime(now),
  ...progress(order),
  selfTradePreventionMode: 'NONE',
});

/** Entry of a look-up or a list of orders. */
export const orderEntry = (order: VenueOrder): Record<string, unknown> => ({
  ...identity(order),
  clientOrderId: order.originId,
  ...progress(order),
  stopPrice: text8(money(0n)),
  icebergQty: text8(money(0n)),
  time: wholeTime(order.createdAt),
  updateTime: wholeTime(order.updatedAt ?? order.createdAt),
  isWorking: true,
  workingTime: wholeTime(order.createdAt),
  selfTradePreventionMode: 'NONE',
});

/** Entry of the account's trades. */
export function ownTradeEntry(trade: OwnTradeRecord): Record<string, unknown> {
  const { order, price, amount, minor, fee, feeCurrency, makerSide } = trade;
  const { instrument: i, side } = order;
  return {
    symbol: symbolOf(i),
    id: trade.ordinal,
    orderId: Number(order.oid),
    orderListId: -1,
    price: price8(i, price),
    qty: quantity8(i, amount),
    quoteQty: text8(minor),
    commission: text8(fee),
    commissionAsset: feeCurrency.toUpperCase(),
    time: wholeTime(trade.at),
    isBuyer: side === 'buy',
    isMaker: side === makerSide,
    isBestMatch: true,
  };
}

/** Returns a time in whole milliseconds, rounded down. */
export const wholeTime = (at: number): number => Math.floor(at);

/** Returns the share of an amount in parts of 10,000, rounded down to whole lots. */
export const shareOf = (amount: Amount, pips: number): Amount =>
  Number((BigInt(amount) * BigInt(pips)) / 10_000n) as Amount;
