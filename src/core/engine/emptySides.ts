/** Explanation of an empty side: the decision's reason, its numbers, and the configuration key to change. */
import { shortDecimal } from '../model/trimmedEnd.ts';
import { bestOf } from '../model/book.ts';
import {
  moneyOfAmount,
  moneyOfValue,
  textOfAmount,
  textOfPrice,
  valueOf,
  type Instrument,
} from '../model/instrument.ts';
import { mayLive } from '../orders/orders.ts';
import type { Reason } from './reasons.ts';
import type { HedgeRefusal } from '../risk/hedgeDebt.ts';
import { exceededRoom, exchangedBy } from '../risk/currencyLimits.ts';
import { exceededValue } from '../risk/valueLimit.ts';
import { exchangedInBook, fundsFor, positionRoom, type RiskContext, type RiskRefusal } from '../risk/preTradeRisk.ts';
import type { AmountStep } from '../quoting/strategy.ts';
import { money, textOfMoney, type Amount, type Money, type Price, type Side } from '../model/units.ts';

/** Wanted level without an order. The price may be NaN or not a multiple of the tick. */
export type RefusedLevel = {
  readonly price: number;
  readonly amount: Amount;
  readonly amounts?: readonly AmountStep[] | undefined;
};

/**
 * Reason why a side is empty: the reason of its first level without an order, or a reason that applies to the whole
 * side.
 */
export type EmptySide = {
  readonly reason: Reason;
  /**
   * Text with details of the reason, from the strategy or from the refusal to quote; `null` if there are no details.
   */
  readonly words: string | null;
  readonly level: RefusedLevel | null;
};

export type EmptySides = Readonly<Record<Side, EmptySide | null>>;

/** Reasons that usually last until the operator changes the configuration, its limits or the balances. */
const LASTING: readonly Reason[] = [
  'no limits',
  'order value limit',
  'order amount limit',
  'order count limit',
  'position limit',
  'currency limit',
  'value limit',
  'hedge debt limit',
  'no hedge elsewhere',
  'price outside the collar',
  'price or amount outside the book rules',
  'insufficient funds',
  'amount is not a number',
  'price is not a number',
  'price below the minimum',
  'price above the maximum',
  'below the minimum amount',
  'below the minimum value',
];

const SIDE_SPECIFIC: readonly Reason[] = [
  'insufficient funds',
  'position limit',
  'currency limit',
  'value limit',
  'hedge debt limit',
  'waits for a hedge',
  'no hedge elsewhere',
];

/**
 * Reason that lasts only if both sides have it: the spread is then too wide for the limit. If only one side has it, the
 * market moved, and the side returns with the market.
 */
const LASTING_ON_BOTH_SIDES: Reason = 'price too far from past prices';

/** Whether both sides are empty, at least one of them for a reason that usually lasts until the operator acts. */
export const needsOperator = ({ buy, sell }: EmptySides): boolean =>
  buy !== null &&
  sell !== null &&
  ([buy, sell].some(({ reason }) => LASTING.includes(reason)) ||
    [buy, sell].every(({ reason }) => reason === LASTING_ON_BOTH_SIDES));

/** Explains the empty sides with reasons and numbers; `null` if both sides show a quote. */
export function explainEmptySides({ buy, sell }: EmptySides, riskContext: RiskContext): string | null {
  const [bid, ask] = [reasonText('buy', buy, riskContext), reasonText('sell', sell, riskContext)];
  if (bid !== null && bid === ask) return `no bid and no ask: ${bid}`;
  // One text is enough if both sides have the same reason with equal numbers. For the reasons in `SIDE_SPECIFIC`, the
  // numbers of the sides differ.
  if (
    bid !== null &&
    buy?.reason === sell?.reason &&
    buy?.words === sell?.words &&
    !SIDE_SPECIFIC.includes(buy!.reason)
  )
    return `no bid and no ask: ${bid}`;
  const parts = [...(bid === null ? [] : [`no bid: ${bid}`]), ...(ask === null ? [] : [`no ask: ${ask}`])];
  return parts.length === 0 ? null : parts.join('; ');
}

/** Returns details of a refusal that applies to every order, as text; `null` if this refusal has no details. */
export function refusalDetail(reason: RiskRefusal | null, riskContext: () => RiskContext): string | null {
  if (reason === 'not ready') return riskContext().missing;
  if (reason === 'no live price') return riskContext().livePriceMissing ?? null;
  if (reason === 'ledger differs from the balances') return riskContext().differenceElsewhere ?? null;
  if (reason !== 'price moved too far') return null;
  const { depth, pastPrice, limits, instrument } = riskContext();
  // The book may have changed since the decision.
  if (depth.bids === 0 || depth.asks === 0 || pastPrice === 0) return null;
  const mid = bestOf(depth, 'buy') + bestOf(depth, 'sell');
  return `the mid price ${halfTicks(mid, instrument)} is ${pastDistance(mid, pastPrice, limits, instrument)}`;
}

/** Describes the distance of a price from the past price, both in half ticks, and the limit on that distance. */
function pastDistance(price: number, past: number, limits: RiskContext['limits'], instrument: Instrument): string {
  const { bps, windowMs } = limits?.priceMove ?? { bps: 0, windowMs: 0 };
  const away = ((Math.abs(price - past) * 10_000) / past).toFixed(1);
  const minutes = shortDecimal((windowMs / 60_000).toFixed(1));
  return `${away} bps from ${halfTicks(past, instrument)}, the median of the last ${minutes} min, but limits.priceMove.bps is ${bps}`;
}

/** Formats a price in half ticks. */
const halfTicks = (price: number, { tickMoney }: Instrument): string =>
  shortDecimal(textOfMoney(money((BigInt(price) * tickMoney) / 2n)));

function reasonText(side: Side, of: EmptySide | null, riskContext: RiskContext): string | null {
  if (of === null) return null;
  const detail = of.words ?? (of.level === null ? null : refusalNumbers(side, of.reason, of.level, riskContext));
  if (detail === null) return of.reason;
  return detail.startsWith(of.reason) ? detail : `${of.reason} (${detail})`;
}

/**
 * Returns the numbers that explain a refusal and the configuration key to change; `null` if the reason needs no
 * explanation.
 */
function refusalNumbers(side: Side, reason: Reason, level: RefusedLevel, riskContext: RiskContext): string | null {
  const { instrument } = riskContext;
  const { price, amount } = onGrid(level, instrument);
  const value = moneyOfValue(instrument, valueOf(price, amount));
  return NUMBERS[reason]?.({ side, level, price, amount, value, riskContext, write: writer(instrument) }) ?? null;
}

type RefusalFacts = {
  readonly side: Side;
  readonly level: RefusedLevel;
  readonly price: Price;
  readonly amount: Amount;
  readonly value: Money;
  readonly riskContext: RiskContext;
  readonly write: ReturnType<typeof writer>;
};

const writer = (instrument: Instrument) => {
  const price = (ticks: Price) => (ticks > 0 ? shortDecimal(textOfPrice(instrument, ticks)) : 'no price');
  const amount = (lots: number) =>
    `${shortDecimal(textOfAmount(instrument, Math.max(0, lots) as Amount))} ${instrument.major}`;
  const minor = (sum: Money) => `${textOfMoney(sum)} ${instrument.minor}`;
  const major = (sum: Money) => `${textOfMoney(sum)} ${instrument.major}`;
  return { price, amount, minor, major, order: (of: RefusalFacts) => `${amount(of.amount)} at ${price(of.price)}` };
};

const NUMBERS: Readonly<Partial<Record<Reason, (of: RefusalFacts) => string | null>>> = {
  'order value limit': of => {
    const { instrument, limits } = of.riskContext;
    if (limits === null) return null;
    const { write } = of;
    const most = moneyOfValue(instrument, limits.orderValueMax);
    const least = moneyOfValue(instrument, instrument.valueMin);
    return most < least
      ? `limits.orderValueMax ${write.minor(most)} is below ${write.minor(least)}, the exchange's minimum order value of ${instrument.symbol}; raise limits.orderValueMax`
      : `${write.order(of)} is worth ${write.minor(of.value)}, but limits.orderValueMax is ${write.minor(most)}; raise this limit, or lower strategy.amount`;
  },
  'below the minimum amount': ({ level, amount, riskContext: { instrument }, write }) =>
    `${write.amount(amount)} is below ${write.amount(instrument.amountMin)}, the exchange's minimum order amount of ${instrument.symbol}${raiseAmountHint(level)}`,
  'below the minimum value': of => {
    const { instrument } = of.riskContext;
    const least = of.write.minor(moneyOfValue(instrument, instrument.valueMin));
    return `${of.write.order(of)} is worth ${of.write.minor(of.value)}, but the exchange's minimum order value of ${instrument.symbol} is ${least}${raiseAmountHint(of.level)}`;
  },
  'price below the minimum': ({ riskContext: { instrument }, write }) =>
    `the lowest price that the exchange accepts in ${instrument.symbol} is ${write.price(instrument.priceMin)}; quote nearer to the market`,
  'price above the maximum': ({ riskContext: { instrument }, write }) =>
    `the highest price that the exchange accepts in ${instrument.symbol} is ${write.price(instrument.priceMax)}; quote nearer to the market`,
  'price outside the collar': of => {
    const { depth, limits } = of.riskContext;
    const mid = (bestOf(depth, 'buy') + bestOf(depth, 'sell')) / 2;
    const bps = ((Math.abs(of.price - mid) * 10_000) / mid).toFixed(1);
    return `${of.write.order(of)} is ${bps} bps from the mid price, but limits.collarBps is ${limits?.collarBps ?? 0}; raise this limit, or quote nearer to the market`;
  },
  'order amount limit': of => {
    const most = of.riskContext.limits?.orderAmountMax ?? 0;
    return `${of.write.order(of)} is more than limits.orderAmountMax (${of.write.amount(most)}); raise this limit, or lower strategy.amount`;
  },
  'price too far from past prices': of => {
    const { pastPrice, limits, instrument } = of.riskContext;
    return `${of.write.order(of)} is ${pastDistance(2 * of.price, pastPrice, limits, instrument)}`;
  },
  'order count limit': ({ riskContext: { orders, limits } }) =>
    `${orders.filter(mayLive).length} orders may be live already, and limits.ordersMax is ${limits?.ordersMax ?? 0}; raise this limit, or quote fewer levels`,
  'position limit': ({ side, amount, riskContext, write }) =>
    `the order is for ${write.amount(amount)}, but limits.positionMax (${write.amount(riskContext.limits?.positionMax ?? 0)}) allows only ${write.amount(positionRoom(side, riskContext))} more`,
  'currency limit': of => {
    const { side, amount, value, riskContext, write } = of;
    const room = riskContext.currencyRooms?.[side];
    if (room === undefined) return null;
    const ordered = exchangedBy(riskContext.instrument, riskContext.orders, side);
    const order = { base: moneyOfAmount(riskContext.instrument, amount), quote: value };
    const over = exceededRoom(room, ordered, order);
    // The room may have grown since the refusal.
    if (over === null) return null;
    const text = over === 'base' ? write.major : write.minor;
    const left = room[over]! - ordered[over];
    return `${write.order(of)} exchanges ${text(order[over])}, but accountLimits allows only ${text(money(left > 0n ? left : 0n))} more over all books`;
  },
  'value limit': ({ side, amount, value, riskContext, write, price }) => {
    const { valueRoom, instrument } = riskContext;
    if (!valueRoom) return null;
    const order = { base: moneyOfAmount(instrument, amount), quote: value };
    const over = exceededValue(valueRoom, exchangedInBook(riskContext), side, order);
    // Prices or orders may have changed since the refusal.
    if (over === null) return null;
    const { currency, max } = valueRoom;
    if (typeof over === 'string') return `no fresh price leads from ${over} to ${currency}`;
    return `with ${write.amount(amount)} at ${write.price(price)}, all books could be ${textOfMoney(over, 2)} ${currency} from their targets, but accountLimits.value.max is ${textOfMoney(max)} ${currency}`;
  },
  'hedge debt limit': of => hedgeBoundText(of, 'hedge debt limit'),
  'waits for a hedge': of => hedgeBoundText(of, 'waits for a hedge'),
  'no hedge elsewhere': of => hedgeBoundText(of, 'no hedge elsewhere'),
  'insufficient funds': of => {
    const { side, amount, value, riskContext, write } = of;
    const funds = fundsFor(side, riskContext);
    const free = funds > 0n ? funds : money(0n);
    const [needed, left] =
      side === 'buy'
        ? [write.minor(value), write.minor(free)]
        : [write.major(moneyOfAmount(riskContext.instrument, amount)), write.major(free)];
    return `${write.order(of)} needs ${needed}, but only ${left} is available; deposit more, or lower strategy.amount`;
  },
};

/** Returns the bound on hedge debt that refused a level; `null` if it has changed since. */
function hedgeBoundText({ side, riskContext: { hedgeRooms } }: RefusalFacts, refusal: HedgeRefusal): string | null {
  const room = hedgeRooms?.[side];
  return room?.refusal === refusal ? room.why() : null;
}

/** Returns the advice to raise the amount; empty for a level that was reduced because of inventory. */
const raiseAmountHint = ({ amounts }: RefusedLevel): string =>
  amounts?.some(({ lots }) => lots < 0) === true ? '' : '; raise strategy.amount';

/** Rounds the price to whole ticks and the amount to whole lots; a value that is NaN becomes 0. */
function onGrid({ price, amount }: RefusedLevel, { priceMax }: Instrument): { price: Price; amount: Amount } {
  const whole = (x: number, most: number) => (x > 0 ? Math.min(Math.round(x), most) : 0);
  return {
    price: whole(price, priceMax) as Price,
    amount: whole(amount, Number.MAX_SAFE_INTEGER) as Amount,
  };
}
