/** An order of an account, as the embedded exchange keeps it: what was asked, how far it has come, and what it locks. */
import { money, moneyOfAmount, moneyOfValue, valueOf } from '../../core/index.ts';
import type { TimeInForceWord } from '../wire/wire.ts';
import type { Amount, Instrument, Millis, Money, Price, Side } from '../../core/index.ts';
import { ceil8 } from '../wire/rounding.ts';

export type OrderStatus = 'queued' | 'open' | 'partially filled' | 'completed' | 'cancelled';

/** A checked request for an order, in the units of its book. */
export type Draft = {
  readonly side: Side;
  readonly type: 'limit' | 'market';
  readonly timeInForce: TimeInForceWord;
  /** 0 on market orders. */
  readonly price: Price;
  /** 0 on a market order by value. */
  readonly amount: Amount;
  /** Value to spend or to receive, on a market order by value. */
  readonly minor: Money | undefined;
  readonly stop: Price | undefined;
  readonly originId: string | undefined;
  readonly marginOrderType: 'CROSS_MARGIN' | undefined;
  /** In parts of 10^-8 of the reference price. */
  readonly slippage: bigint | undefined;
};

/** Of the account that an order is of: who it is in the matching engine, and what it can pay with. */
export type OrderAccount = {
  readonly id: string;
  readonly owner: number;
  available(currency: string): Money;
  lock(currency: string, amount: Money): void;
};

export type VenueOrder = {
  readonly oid: string;
  readonly book: string;
  readonly instrument: Instrument;
  readonly account: OrderAccount;
  readonly originId: string | undefined;
  /** Told back and nothing more: funds are those of a spot order (public-facts 16.4). */
  readonly marginOrderType: 'CROSS_MARGIN' | undefined;
  readonly side: Side;
  readonly type: 'limit' | 'market';
  readonly timeInForce: TimeInForceWord;
  readonly slippage: bigint | undefined;
  readonly createdAt: Millis;
  price: Price;
  original: Amount;
  minor: Money | undefined;
  filled: Amount;
  /** Minor value of its trades. */
  traded: Money;
  status: OrderStatus;
  updatedAt: Millis | null;
  stop: Price | undefined;
  /** True when the stop waits for a rise of the last trade. */
  stopUp: boolean | undefined;
  triggeredAt: Millis | undefined;
  /** What it locks now, in its paying currency. */
  locked: Money;
  /** Extra held for a modification that is under way. */
  reserved: Money;
  /** Its id in the matching engine while it rests there, else 0. */
  engineId: number;
  cancelling: boolean;
  finishedAt: Millis | null;
};

/** In lots; 0 on a market order by value, which has no amount of its own. */
export const unfilled = (order: VenueOrder): Amount => Math.max(0, order.original - order.filled) as Amount;
/** True while it is queued, rests, waits for its stop or is being canceled. */
export const isActive = (order: VenueOrder): boolean => order.finishedAt === null;
/** A stop order that has not been triggered rests outside the book. */
export const isWaiting = (order: VenueOrder): boolean => order.stop !== undefined && order.triggeredAt === undefined;
/** The currency that the order pays with, and locks. */
export const payingCurrency = (order: Pick<VenueOrder, 'side' | 'instrument'>): string =>
  order.side === 'buy' ? order.instrument.minor : order.instrument.major;

/**
 * Lock of a limit order with this much unfilled: a buy its remaining value, up to eight decimals, a sell its remaining amount (public-facts 9.3).
 * No extra for fees.
 */
export function limitLock(instrument: Instrument, side: Side, price: Price, left: Amount): Money {
  if (left === 0) return money(0n);
  return side === 'sell' ? moneyOfAmount(instrument, left) : ceil8(moneyOfValue(instrument, valueOf(price, left)));
}

/** Lock of a stop order that waits: a market buy by amount is valued at its stop price; a sell by value in lots, up. */
export function stopLock(order: {
  readonly instrument: Instrument;
  readonly side: Side;
  readonly type: 'limit' | 'market';
  readonly price: Price;
  readonly amount: Amount;
  readonly minor: Money | undefined;
  readonly stop: Price;
}): Money {
  const { instrument, side, minor } = order;
  if (order.type === 'limit') return limitLock(instrument, side, order.price, order.amount);
  if (minor === undefined) return limitLock(instrument, side, order.stop, order.amount);
  if (side === 'buy') return minor;
  const unit = instrument.tickLotMoney * BigInt(order.stop);
  return money(((minor + unit - 1n) / unit) * instrument.lotMoney);
}
