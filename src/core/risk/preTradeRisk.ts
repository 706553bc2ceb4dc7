/** Pre-trade risk gate: the last check before the exchange, and the only code that approves placements. */
import { bestOf, crosses, type Depth } from '../model/book.ts';
import type { Approved, PlaceCommand } from '../orders/commands.ts';
import type { ForeignBests } from '../orders/foreignOrders.ts';
import { moneyOfAmount, moneyOfValue, valueOf, type Instrument } from '../model/instrument.ts';
import { exceededRoom, exchangedBy, type CurrencyRoom, type Exchanged } from './currencyLimits.ts';
import { exceededValue, type ValueRoom } from './valueLimit.ts';
import type { HedgeRefusal, HedgeRooms } from './hedgeDebt.ts';
import { lotsOnSide, mayLive, remaining, type Order } from '../orders/orders.ts';
import { farthestPrice, isNearPast, type PriceMoveLimit } from './pastPrice.ts';
import { money, type Amount, type Millis, type Money, type Price, type Side, type Value } from '../model/units.ts';

export type RiskLimits = {
  /** Maximum of |inventory - target| if every possibly live order of the bot fills, in lots. */
  readonly positionMax: Amount;
  /** Maximum value (price times amount) of one order. */
  readonly orderValueMax: Value;
  /** Maximum amount of one order, in lots; absent if only the book limits it. */
  readonly orderAmountMax?: Amount;
  /** Maximum number of possibly live orders, of both sides together. */
  readonly ordersMax: number;
  /** Maximum distance of a price from the mid price, in basis points. */
  readonly collarBps: number;
  /**
   * Limit on the distance of the mid price and of orders from the past price (median over `windowMs`); absent if there
   * is none.
   */
  readonly priceMove?: PriceMoveLimit;
  /** Maximum age of the book; the bot does not quote if the book is older. */
  readonly staleAfterMs: Millis;
};

/** Maximum age of the account reads: `reads` polling intervals, and at least `minMs`. */
export const ACCOUNT_STALE = { reads: 3, minMs: 10_000 } as const;

/** Refusals that apply to every order at any price, so that the bot cannot quote. */
export type QuotingRefusal =
  | 'stopping'
  | 'halted'
  | 'paused by a person'
  | 'not ready'
  | 'no limits'
  | 'rules of the book changed'
  | 'book is not traded any more'
  | 'book stale'
  | 'book one-sided'
  | 'book crossed'
  | 'no live price'
  | 'price moved too far'
  | 'private data stale'
  | 'ledger differs from the balances'
  | 'sentinel is missing'
  | 'held by the sentinel'
  | 'too many unknown orders';

export type RiskRefusal =
  | QuotingRefusal
  | 'price outside the collar'
  | 'price too far from past prices'
  | 'price or amount outside the book rules'
  | 'order value limit'
  | 'order amount limit'
  | 'order count limit'
  | 'position limit'
  | 'currency limit'
  | 'value limit'
  | 'reduce only'
  | 'would cross the book'
  | 'not towards the target'
  | 'would cross our own order'
  | 'would cross another order of the account'
  | 'insufficient funds'
  | HedgeRefusal;

/** Inputs of the risk gate. */
export type RiskContext = {
  readonly instrument: Instrument;
  readonly limits: RiskLimits | null;
  readonly stopping: boolean;
  readonly halted: boolean;
  /** Whether the operator has paused quoting. */
  readonly paused: boolean;
  /** Change of the book's rules since this run started; absent or `null` if none. */
  readonly bookRefusal?: 'rules of the book changed' | 'book is not traded any more' | null;
  /** Data that is missing before the first quote, as text; `null` if complete. */
  readonly missing: string | null;
  /**
   * Reason why the live sources give no reference price; absent or `null` if they give one, or if none are configured.
   */
  readonly livePriceMissing?: string | null;
  readonly bookAge: Millis;
  readonly privateAge: Millis;
  readonly privateStaleAfterMs: Millis;
  /** Whether the exchange's balances differ from the bot's ledger. */
  readonly ledgerDiffers: boolean;
  /** Difference between the balances and the ledger of another exchange, as text; absent or `null` if there is none. */
  readonly differenceElsewhere?: string | null;
  /** Whether a sentinel is required and sends no heartbeat. */
  readonly sentinelMissing: boolean;
  /** Whether the sentinel blocks quotes, because it found the bot disconnected. */
  readonly heldBySentinel: boolean;
  /** The book without the bot's own orders. */
  readonly depth: Depth;
  /** Past price of the book, in half ticks; 0 if unknown, or if price moves are not limited. */
  readonly pastPrice: number;
  /** Best prices of the account's orders in this book that the bot did not place. */
  readonly foreignBests: ForeignBests;
  /** Held amount of the base currency minus the target, in lots. */
  readonly position: number;
  /**
   * Base currency that pending conversions and hedges on another exchange may still add (`buy`) and remove (`sell`), in
   * lots, rounded up.
   */
  readonly converting: Readonly<Record<Side, number>>;
  /**
   * Maximum lots of orders per side, so that hedges on another exchange can keep up; absent or `null` without such
   * hedges.
   */
  readonly hedgeRooms?: HedgeRooms | null;
  /** Room of each side under the limits by currency; absent or `null` if there are none. */
  readonly currencyRooms?: Readonly<Record<Side, CurrencyRoom>> | null;
  /** Room under the limit on the value of all currencies; absent or `null` if there is none. */
  readonly valueRoom?: ValueRoom | null;
  /** All orders, except those in state `done`. */
  readonly orders: readonly Order[];
  /**
   * Balance of the base currency minus the amounts that other programs of the account lock or pending conversions may
   * spend. `minorFunds` is the same figure for the quote currency.
   */
  readonly majorFunds: Money;
  readonly minorFunds: Money;
  readonly unknownMax: number;
  /** Whether the gate approves only orders that reduce inventory. */
  readonly reduceOnly: boolean;
};

/** Returns the reason why the bot cannot quote; `null` if the bot can quote. */
export function quotingRefusal(s: RiskContext): QuotingRefusal | null {
  if (s.stopping) return 'stopping';
  if (s.halted) return 'halted';
  if (s.paused) return 'paused by a person';
  if (s.bookRefusal) return s.bookRefusal;
  if (s.missing !== null) return 'not ready';
  if (s.limits === null) return 'no limits';
  if (s.heldBySentinel) return 'held by the sentinel';
  if (s.sentinelMissing) return 'sentinel is missing';
  if (s.ledgerDiffers) return 'ledger differs from the balances';
  if (!(s.bookAge <= s.limits.staleAfterMs)) return 'book stale';
  if (s.depth.bids === 0 || s.depth.asks === 0) return 'book one-sided';
  if (!(bestOf(s.depth, 'buy') < bestOf(s.depth, 'sell'))) return 'book crossed';
  if (s.livePriceMissing) return 'no live price';
  if (s.limits.priceMove && !isNearPast(twiceMid(s.depth), s.pastPrice, s.limits.priceMove))
    return 'price moved too far';
  if (!(s.privateAge <= s.privateStaleAfterMs)) return 'private data stale';
  let unknown = 0;
  for (const order of s.orders) if (order.state === 'unknown') unknown++;
  if (!(unknown <= s.unknownMax)) return 'too many unknown orders';
  return null;
}

/**
 * Returns the reason why the bot cannot reduce inventory with a taker order; `null` if it can. A taker order is priced
 * from this book, so it needs no reference price.
 */
export const takingRefusal = (s: RiskContext): QuotingRefusal | null =>
  quotingRefusal({ ...s, livePriceMissing: null });

/** Approves one placement, or returns the reason against it. An invalid value such as NaN is rejected. */
export function approvePlace(command: PlaceCommand, s: RiskContext): Approved<PlaceCommand> | RiskRefusal {
  const general = command.takes ? takingRefusal(s) : quotingRefusal(s);
  if (general !== null) return general;
  const limits = s.limits!;
  const { side, price, amount } = command;
  const { instrument } = s;
  if (
    !(Number.isSafeInteger(price) && price >= instrument.priceMin && price <= instrument.priceMax) ||
    !(Number.isSafeInteger(amount) && amount >= instrument.amountMin && amount <= instrument.amountMax)
  ) {
    return 'price or amount outside the book rules';
  }
  // The value is computed after the integer checks, because BigInt throws for a fraction.
  const value = valueOf(price, amount);
  if (!(value >= instrument.valueMin && value <= instrument.valueMax)) return 'price or amount outside the book rules';
  if (!(value <= limits.orderValueMax)) return 'order value limit';
  if (!(amount <= (limits.orderAmountMax ?? Infinity))) return 'order amount limit';
  const mid = twiceMid(s.depth) / 2;
  if (!(Math.abs(price - mid) * 10_000 <= limits.collarBps * mid)) return 'price outside the collar';
  if (limits.priceMove && !isNearPast(2 * price, s.pastPrice, limits.priceMove))
    return 'price too far from past prices';
  if (command.takes) {
    if (!(amount <= (side === 'sell' ? s.position : -s.position))) return 'not towards the target';
  } else if (crosses(s.depth, side, price)) return 'would cross the book';
  if (!(countLiveOrders(s.orders) < limits.ordersMax)) return 'order count limit';
  if (crossesOwn(side, price, s.orders)) return 'would cross our own order';
  if (crossesForeign(side, price, s.foreignBests)) return 'would cross another order of the account';
  if (!(amount <= positionRoom(side, s))) return 'position limit';
  if (s.currencyRooms && !isWithinRoom(command, s, s.currencyRooms[side])) return 'currency limit';
  if (s.valueRoom && !isWithinValue(command, s, s.valueRoom)) return 'value limit';
  if (s.hedgeRooms) {
    const { lots, hedgeLots, refusal } = s.hedgeRooms[side];
    if (!(lotsOnSide(s.orders, side) + amount <= (command.takes ? hedgeLots : lots))) return refusal;
  }
  if (s.reduceOnly && !(amount <= positionRoom(side, s) - limits.positionMax)) return 'reduce only';
  if (!(neededFor(side, price, amount, s) <= fundsFor(side, s))) return 'insufficient funds';
  return command as Approved<PlaceCommand>;
}

/**
 * Returns the lots by which the worst-case position of a side may still grow. All possibly live orders, pending
 * conversions and hedges on another exchange count as executed.
 */
export function positionRoom(side: Side, s: RiskContext): number {
  const worst = lotsOnSide(s.orders, side) + s.converting[side] + (side === 'buy' ? s.position : -s.position);
  return (s.limits?.positionMax ?? 0) - worst;
}

/** Returns the lots of a hedge on a side within the position limit and the bounds on hedge debt. Never negative. */
export function hedgeRoomLeft(side: Side, s: RiskContext): number {
  const left = s.hedgeRooms ? s.hedgeRooms[side].hedgeLots - lotsOnSide(s.orders, side) : Infinity;
  return Math.max(0, Math.min(positionRoom(side, s), left));
}

/** Whether an order and the possibly live orders of its side stay within the limits by currency. */
function isWithinRoom(command: PlaceCommand, s: RiskContext, room: CurrencyRoom): boolean {
  const ordered = exchangedBy(s.instrument, s.orders, command.side);
  return exceededRoom(room, ordered, exchangedByOrder(command, s)) === null;
}

/** Whether an order and the possibly live orders of its book stay within the limit on the value of all currencies. */
function isWithinValue(command: PlaceCommand, s: RiskContext, room: ValueRoom): boolean {
  return exceededValue(room, exchangedInBook(s), command.side, exchangedByOrder(command, s)) === null;
}

/** Returns the amounts that the possibly live orders of each side of the book exchange if they fill. */
export const exchangedInBook = ({ instrument, orders }: Pick<RiskContext, 'instrument' | 'orders'>) => ({
  buy: exchangedBy(instrument, orders, 'buy'),
  sell: exchangedBy(instrument, orders, 'sell'),
});

/** Returns the maximum amounts that an order exchanges if it fills. */
function exchangedByOrder({ side, price, amount, takes }: PlaceCommand, { instrument, depth }: RiskContext): Exchanged {
  // A taker order to sell may be filled at up to the best bid.
  const best = takes && side === 'sell' ? Math.max(price, bestOf(depth, 'buy')) : price;
  return {
    base: moneyOfAmount(instrument, amount),
    quote: moneyOfValue(instrument, valueOf(best as Price, amount)),
  };
}

function countLiveOrders(orders: readonly Order[]): number {
  let count = 0;
  for (const order of orders) if (mayLive(order)) count++;
  return count;
}

function crossesOwn(side: Side, price: Price, orders: readonly Order[]): boolean {
  return orders.some(
    order => mayLive(order) && order.side !== side && (side === 'buy' ? price >= order.price : price <= order.price),
  );
}

function crossesForeign(side: Side, price: Price, { buy, sell }: ForeignBests): boolean {
  return side === 'buy' ? sell !== null && !(price < sell) : buy !== null && !(price > buy);
}

/**
 * Returns the worst price, in ticks, at which a taker order crosses none of the account's foreign orders and is within
 * the limit on price moves. Foreign orders are those that this bot did not place.
 */
export function takerPriceBound(side: Side, { foreignBests, limits, pastPrice }: RiskContext): Price {
  const isBuy = side === 'buy';
  const foreign = foreignBests[isBuy ? 'sell' : 'buy'];
  const beforeForeign = foreign === null ? null : isBuy ? foreign - 1 : foreign + 1;
  const nearPast = limits?.priceMove === undefined ? null : farthestPrice(side, pastPrice, limits.priceMove);
  const bounds = [beforeForeign, nearPast].filter(price => price !== null);
  return (isBuy ? Math.min(...bounds) : Math.max(0, ...bounds)) as Price;
}

/** Mid price in half ticks. */
const twiceMid = (depth: Depth): number => bestOf(depth, 'buy') + bestOf(depth, 'sell');

const neededFor = (side: Side, price: Price, amount: Amount, { instrument }: RiskContext): Money =>
  side === 'sell' ? moneyOfAmount(instrument, amount) : moneyOfValue(instrument, valueOf(price, amount));

/**
 * Returns the funds for a new order of this side: balance minus amounts reserved for all orders that are not `done`.
 * Negative if these orders need more than the balance.
 */
export function fundsFor(
  side: Side,
  s: Pick<RiskContext, 'instrument' | 'orders' | 'majorFunds' | 'minorFunds'>,
): Money {
  const { instrument, orders } = s;
  if (side === 'sell')
    return money((s.majorFunds as bigint) - moneyOfAmount(instrument, lotsOnSide(orders, 'sell') as Amount));
  let reserved = 0n;
  for (const order of orders) if (order.side === 'buy') reserved += valueOf(order.price, remaining(order) as Amount);
  return money((s.minorFunds as bigint) - moneyOfValue(instrument, reserved as Value));
}
