/** Order of an account in the embedded exchange: its request, its progress and its lock. */
import {
  money,
  moneyOfAmount,
  moneyOfValue,
  valueOf,
  type Amount,
  type Instrument,
  type Millis,
  type Money,
  type Price,
  type Side,
} from '../../core/index.ts';
import type { TimeInForceWord } from '../wire/wire.ts';
import { ceil8 } from '../wire/rounding.ts';

export type OrderStatus = 'queued' | 'open' | 'partially filled' | 'completed' | 'cancelled';

/** Checked order request, in the units of its book. */
export type Draft = {
  readonly side: Side;
  readonly type: 'limit' | 'market';
  readonly timeInForce: TimeInForceWord;
  /** Limit price in ticks; 0 for market orders. */
  readonly price: Price;
  /** Original amount in lots; 0 for a market order by value. */
  readonly amount: Amount;
  /** Value to spend or to receive, in the quote currency; only for a market order by value. */
  readonly minor: Money | undefined;
  readonly stop: Price | undefined;
  readonly originId: string | undefined;
  readonly marginOrderType: 'CROSS_MARGIN' | undefined;
  /** Slippage tolerance in parts of 10^-8 of the reference price. */
  readonly slippage: bigint | undefined;
  /** Injected fault: maximum amount that an immediate order executes; absent for no maximum. */
  readonly fillMax?: Amount;
};

/** Owner of an order, with the owner's number in the matching engine and the owner's funds. */
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
  /**
   * Margin type of the request. Replies return the type, but it has no effect: the order needs the funds of a spot
   * order (public-facts 16.4).
   */
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
  /** Value of the order's trades, in the quote currency. */
  traded: Money;
  status: OrderStatus;
  updatedAt: Millis | null;
  stop: Price | undefined;
  /** Whether the stop triggers on a rise of the last trade price; `undefined` without a stop. */
  stopUp: boolean | undefined;
  triggeredAt: Millis | undefined;
  /** Amount locked for the order, in the currency that the order pays with. */
  locked: Money;
  /** Additional amount locked for a pending modification. */
  reserved: Money;
  /** Id of the order in the matching engine while it rests there, else 0. */
  engineId: number;
  cancelling: boolean;
  /** Injected fault: maximum amount that an immediate order executes; absent for no maximum. */
  fillMax?: Amount;
  finishedAt: Millis | null;
};

/** Returns the unfilled amount in lots; 0 for a market order by value, which has no amount. */
export const unfilled = (order: VenueOrder): Amount => Math.max(0, order.original - order.filled) as Amount;
/** Whether the order is queued, resting, waiting for its stop or being canceled. */
export const isActive = (order: VenueOrder): boolean => order.finishedAt === null;
/** Whether the order is an untriggered stop order, which is outside the book. */
export const isWaiting = (order: VenueOrder): boolean => order.stop !== undefined && order.triggeredAt === undefined;
/** Returns the currency that the order pays with and locks. */
export const payingCurrency = (order: Pick<VenueOrder, 'side' | 'instrument'>): string =>
  order.side === 'buy' ? order.instrument.minor : order.instrument.major;

/**
 * Returns the lock of a limit order: for a buy its remaining value, rounded up to eight decimals; for a sell its
 * remaining amount (public-facts 9.3). The lock excludes fees.
 */
export function limitLock(instrument: Instrument, side: Side, price: Price, left: Amount): Money {
  if (left === 0) return money(0n);
  return side === 'sell' ? moneyOfAmount(instrument, left) : ceil8(moneyOfValue(instrument, valueOf(price, left)));
}

/**
 * Returns the lock of an untriggered stop order. A market buy by amount is valued at its stop price. A sell by value
 * locks whole lots, rounded up.
 */
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
