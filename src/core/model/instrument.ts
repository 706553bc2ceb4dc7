/** Rules of one order book. Only this file converts between decimal text and ticks or lots. */
import { Decimal } from 'decimal.js';
import { pairOf } from './bookName.ts';
import {
  isDecimalText,
  MONEY_DECIMALS,
  moneyOf,
  type Amount,
  type DecimalText,
  type Money,
  type Price,
  type Side,
  type Value,
} from './units.ts';

const Exact = Decimal.clone({ precision: 80, toExpNeg: -60, toExpPos: 60 });

/**
 * Finest unit of amounts. The exchange writes eight decimals in every currency and publishes no lot size (public
 * captures).
 */
export const LOT: DecimalText = '0.00000001';
const LOT_DECIMALS = 8;

/** One row of `available_books`, with numbers as text. */
export type BookRules = {
  readonly book: string;
  readonly tickSize: DecimalText;
  readonly minimumAmount: DecimalText;
  readonly maximumAmount: DecimalText;
  readonly minimumPrice: DecimalText;
  readonly maximumPrice: DecimalText;
  readonly minimumValue: DecimalText;
  readonly maximumValue: DecimalText;
  /** Step of amounts; absent if the exchange publishes none. */
  readonly lotSize?: DecimalText;
};

export type Instrument = {
  readonly symbol: string;
  readonly major: string;
  readonly minor: string;
  readonly tick: DecimalText;
  readonly lot: DecimalText;
  /** Number of decimals of prices; `amountDecimals` is the number for amounts. */
  readonly priceDecimals: number;
  readonly amountDecimals: number;
  /** Bounds of prices, amounts and values in the book, rounded inwards to whole ticks, lots and tick-lots. */
  readonly priceMin: Price;
  readonly priceMax: Price;
  readonly amountMin: Amount;
  readonly amountMax: Amount;
  readonly valueMin: Value;
  readonly valueMax: Value;
  /**
   * Exact value of one tick, in the quote currency. `lotMoney` is the value of one lot, in the base currency;
   * `tickLotMoney` is the value of one tick-lot, in the quote currency.
   */
  readonly tickMoney: Money;
  readonly lotMoney: Money;
  readonly tickLotMoney: Money;
};

/**
 * Returns the lot of a book: its published step of amounts, or else the finest power of ten, at least `LOT`, in which
 * the maximum amount is below 2^53 lots.
 *
 * The lot divides the minimum amount exactly, and its product with the tick has at most 18 decimals. A published step
 * that is too fine for this is multiplied by a power of ten. Throws as `instrumentOf` does.
 */
export function lotOf(rules: BookRules): DecimalText {
  if (rules.lotSize !== undefined) return coarseEnough(rules, rules.lotSize);
  const [tick, minimum, maximum] = [
    ruleOf(rules, 'tick_size', rules.tickSize),
    ruleOf(rules, 'minimum_amount', rules.minimumAmount),
    ruleOf(rules, 'maximum_amount', rules.maximumAmount),
  ];
  let decimals = Math.min(LOT_DECIMALS, Math.max(0, MONEY_DECIMALS - tick.dp()));
  while (decimals > minimum.dp() && maximum.mul(new Exact(10).pow(decimals)).gt(UNITS_MAX)) decimals--;
  return new Exact(10).pow(-decimals).toFixed();
}

/** Multiplies a step by ten until its product with the tick has at most 18 decimals. */
function coarseEnough(rules: BookRules, lotSize: DecimalText): DecimalText {
  const tick = ruleOf(rules, 'tick_size', rules.tickSize);
  let lot = ruleOf(rules, 'amount_step', lotSize);
  while (tick.dp() + lot.dp() > MONEY_DECIMALS && lot.dp() > 0) lot = lot.mul(10);
  return lot.toFixed();
}

function ruleOf({ book }: BookRules, field: string, text: string): Decimal {
  if (isDecimalText(text)) return new Exact(text);
  throw new RangeError(`book ${book}: ${field} must be decimal text, found ${JSON.stringify(text)}`);
}

/**
 * Builds the instrument of one row. Throws a one-line RangeError with the book, the field, the value found and the
 * expected value.
 */
export function instrumentOf(rules: BookRules, lot: DecimalText = lotOf(rules)): Instrument {
  const decimal = (field: string, text: string): Decimal => ruleOf(rules, field, text);
  const [major, minor] = pairOf(rules.book);
  const tick = decimal('tick_size', rules.tickSize);
  const step = decimal('lot', lot);
  if (!(tick.gt(0) && step.gt(0))) throw new RangeError(`book ${rules.book}: tick_size and lot must be above zero`);
  if (tick.dp() + step.dp() > MONEY_DECIMALS) {
    throw new RangeError(
      `book ${rules.book}: tick_size ${rules.tickSize} times lot ${lot} has more than ${MONEY_DECIMALS} decimals`,
    );
  }
  const whole = (field: string, text: string, unit: Decimal, up: boolean): number => {
    const quotient = decimal(field, text).div(unit);
    const integer = (up ? quotient.ceil() : quotient.floor()).toNumber();
    if (Number.isSafeInteger(integer)) return integer;
    // A maximum above 2^53 - 1 is limited to 2^53 - 1. With a minimum above 2^53 - 1, no order is possible.
    if (up) throw new RangeError(`book ${rules.book}: ${field} ${text} is more than 2^53 units of ${unit.toFixed()}`);
    return UNITS_MAX;
  };
  const tickLots = (field: string, text: string, up: boolean): Value => {
    const quotient = decimal(field, text).div(tick.mul(step));
    return BigInt((up ? quotient.ceil() : quotient.floor()).toFixed(0)) as Value;
  };
  const atto = (d: Decimal): Money => BigInt(d.mul(new Exact(10).pow(MONEY_DECIMALS)).toFixed(0)) as Money;
  return {
    symbol: rules.book,
    major,
    minor,
    tick: tick.toFixed(),
    lot: step.toFixed(),
    priceDecimals: tick.dp(),
    amountDecimals: step.dp(),
    priceMin: Math.max(1, whole('minimum_price', rules.minimumPrice, tick, true)) as Price,
    priceMax: whole('maximum_price', rules.maximumPrice, tick, false) as Price,
    amountMin: Math.max(1, whole('minimum_amount', rules.minimumAmount, step, true)) as Amount,
    amountMax: whole('maximum_amount', rules.maximumAmount, step, false) as Amount,
    valueMin: tickLots('minimum_value', rules.minimumValue, true),
    valueMax: tickLots('maximum_value', rules.maximumValue, false),
    tickMoney: atto(tick),
    lotMoney: atto(step),
    tickLotMoney: atto(tick.mul(step)),
  };
}

/** Largest count of ticks or lots; larger integers are not exact floats. */
export const UNITS_MAX = Number.MAX_SAFE_INTEGER;

type Rounding = 'exact' | 'floor' | 'ceil';

/**
 * Returns the number of units in `text`: fast up to 15 digits, exact for any length. Returns `null` if `rounding` is
 * `exact` and there is a remainder. Above 2^53 - 1 units, returns `otherwise`, or throws `TooLarge` if `otherwise` is
 * omitted.
 */
function unitsOf(
  text: string,
  unit: DecimalText,
  unitDecimals: number,
  rounding: Rounding,
  otherwise?: number,
): number | null {
  if (!isDecimalText(text)) throw new RangeError(`expected decimal digits like "12.50", found ${JSON.stringify(text)}`);
  const fast = scaledInteger(text, unitDecimals);
  const unitScaled = scaledInteger(unit, unitDecimals);
  if (fast >= 0 && unitScaled > 0) {
    const remainder = fast % unitScaled;
    if (remainder === 0) return fast / unitScaled;
    if (rounding === 'exact') return null;
    return (fast - remainder) / unitScaled + (rounding === 'ceil' ? 1 : 0);
  }
  const quotient = new Exact(text).div(unit);
  if (rounding === 'exact' && !quotient.isInteger()) return null;
  const integer = (rounding === 'ceil' ? quotient.ceil() : quotient.floor()).toNumber();
  if (Number.isSafeInteger(integer)) return integer;
  if (otherwise === undefined) throw new TooLarge(text, unit);
  return otherwise;
}

/** Error for a decimal number that is more than 2^53 ticks or lots. */
export class TooLarge extends RangeError {
  readonly text: DecimalText;
  readonly unit: DecimalText;
  constructor(text: DecimalText, unit: DecimalText) {
    super(`${text} is more than 2^53 units of ${unit}`);
    this.name = 'TooLarge';
    this.text = text;
    this.unit = unit;
  }

  /** Largest decimal number that is countable in `unit`. */
  get largest(): DecimalText {
    return new Exact(UNITS_MAX).mul(this.unit).toFixed();
  }
}

/** Returns `text` times 10^decimals; -1 unless the product is an integer of at most 15 digits. */
function scaledInteger(text: string, decimals: number): number {
  let result = 0;
  let digits = 0;
  let fraction = -1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 46) {
      fraction = 0;
      continue;
    }
    if (fraction >= decimals) {
      if (code !== 48) return -1;
      continue;
    }
    result = result * 10 + (code - 48);
    if (result > 0 && ++digits > 15) return -1;
    if (fraction >= 0) fraction++;
  }
  for (let missing = decimals - Math.max(fraction, 0); missing > 0; missing--) {
    result *= 10;
    if (result > 0 && ++digits > 15) return -1;
  }
  return result;
}

/**
 * Converts a price to ticks; `null` if the price is not a multiple of the tick. Throws RangeError if the text is not
 * decimal or has more than 2^53 ticks.
 */
export const priceExact = (i: Instrument, text: DecimalText): Price | null =>
  unitsOf(text, i.tick, i.priceDecimals, 'exact') as Price | null;
/**
 * Converts a price to ticks, rounded down; 0 if below one tick. Ignores the book's bounds. Throws RangeError if the
 * text is not decimal or has more than 2^53 ticks.
 */
export const priceFloor = (i: Instrument, text: DecimalText): Price =>
  unitsOf(text, i.tick, i.priceDecimals, 'floor') as Price;
/** Converts a price as `priceFloor` does, but rounds up. */
export const priceCeil = (i: Instrument, text: DecimalText): Price =>
  unitsOf(text, i.tick, i.priceDecimals, 'ceil') as Price;
/** Converts an amount to lots; `null` if the amount is not a multiple of the lot. Throws as `priceExact` does. */
export const amountExact = (i: Instrument, text: DecimalText): Amount | null =>
  unitsOf(text, i.lot, i.amountDecimals, 'exact') as Amount | null;
/**
 * Converts an amount to lots, rounded down; 0 if below one lot. Ignores the book's bounds. Throws RangeError if the
 * text is not decimal or has more than 2^53 lots.
 */
export const amountFloor = (i: Instrument, text: DecimalText): Amount =>
  unitsOf(text, i.lot, i.amountDecimals, 'floor') as Amount;

/** Converts an amount as `amountFloor` does, but rounds up. */
export const amountCeil = (i: Instrument, text: DecimalText): Amount =>
  unitsOf(text, i.lot, i.amountDecimals, 'ceil') as Amount;

/** Whether tick and lot are the same. If one differs, counts of ticks and lots become invalid. */
export const haveSameGrid = (a: Pick<Instrument, 'tick' | 'lot'>, b: Pick<Instrument, 'tick' | 'lot'>): boolean =>
  a.tick === b.tick && a.lot === b.lot;

/**
 * Converts an amount that is only displayed, such as that of a public order, to lots: rounded down, then limited to
 * between one lot (if above zero) and 2^53 - 1 lots.
 *
 * `null` means an unreadable amount and counts as one lot, because the order exists. Throws RangeError if the text is
 * not decimal.
 */
export function shownAmount(i: Instrument, text: DecimalText | null): Amount {
  if (text === null) return 1 as Amount;
  const lots = unitsOf(text, i.lot, i.amountDecimals, 'floor', UNITS_MAX) as Amount;
  return lots === 0 && /[1-9]/.test(text) ? (1 as Amount) : lots;
}
/** Adds two amounts that are only displayed, up to 2^53 - 1 lots. */
export const shownSum = (a: number, b: number): Amount => Math.min(a + b, UNITS_MAX) as Amount;

/**
 * Formats a price in the quote currency, with the tick's decimals. Throws RangeError if ticks are negative or not
 * whole.
 */
export const textOfPrice = (i: Instrument, ticks: Price): DecimalText => textOfUnits(ticks, i.tick, i.priceDecimals);
/** Formats an amount in the base currency, with the lot's decimals. Throws as `textOfPrice` does. */
export const textOfAmount = (i: Instrument, lots: Amount): DecimalText => textOfUnits(lots, i.lot, i.amountDecimals);

function textOfUnits(units: number, unit: DecimalText, decimals: number): DecimalText {
  if (!(Number.isSafeInteger(units) && units >= 0))
    throw new RangeError(`expected a whole number of at least 0, found ${units}`);
  const unitScaled = scaledInteger(unit, decimals);
  if (unitScaled < 0) return new Exact(units).mul(unit).toFixed(decimals);
  const scaled = units * unitScaled;
  // Floats are used only if the product is exact.
  const text = scaled <= Number.MAX_SAFE_INTEGER ? String(scaled) : (BigInt(units) * BigInt(unitScaled)).toString();
  const digits = text.padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Returns price times amount, exactly. Throws RangeError if ticks or lots are not whole. */
export const valueOf = (ticks: Price, lots: Amount): Value => (BigInt(ticks) * BigInt(lots)) as Value;
/**
 * Converts a sum of the quote currency to tick-lots, rounded down. Throws RangeError if the text is not decimal or is
 * negative.
 */
export function valueFloor(i: Instrument, text: DecimalText): Value {
  if (!isDecimalText(text)) throw new RangeError(`expected decimal digits like "12.50", found ${JSON.stringify(text)}`);
  return (moneyOf(text) / i.tickLotMoney) as Value;
}
/** Converts a value to exact money of the quote currency. */
export const moneyOfValue = (i: Instrument, tickLots: Value): Money => (tickLots * i.tickLotMoney) as Money;
/** Converts an amount to exact money of the base currency. Throws RangeError if lots are not whole. */
export const moneyOfAmount = (i: Instrument, lots: Amount): Money => (BigInt(lots) * i.lotMoney) as Money;

/**
 * Converts a rate such as a fee to units of 10^-8: "0.0065" is 650000. Rounds up, because a fee is a cost. Throws
 * RangeError if the text is not decimal.
 */
export function rateCeil(text: DecimalText): number {
  if (!isDecimalText(text)) throw new RangeError(`expected a rate like "0.0065", found ${JSON.stringify(text)}`);
  return new Exact(text).mul(1e8).ceil().toNumber();
}

/** Converts a rate as `rateCeil` does, but also accepts a negative rate (a rebate). */
export function signedRateCeil(text: DecimalText): number {
  if (!isDecimalText(text.replace(/^-/, '')))
    throw new RangeError(`expected a rate like "0.0065" or "-0.0001", found ${JSON.stringify(text)}`);
  // Adding 0 turns -0 into 0.
  return new Exact(text).mul(1e8).ceil().toNumber() + 0;
}

/**
 * Returns the price of an order in current ticks, because the tick may have changed since the placement. Rounds against
 * the bot: up for a buy, down for a sell. Without a price, returns the book's maximum for a buy and minimum for a sell.
 * Throws as `priceFloor` does.
 */
export function worstPrice(instrument: Instrument, side: Side, text: DecimalText | undefined): Price {
  if (text === undefined) return side === 'buy' ? instrument.priceMax : instrument.priceMin;
  return side === 'buy' ? priceCeil(instrument, text) : priceFloor(instrument, text);
}
