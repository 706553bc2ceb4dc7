/** Prices, amounts and money as exact integers, and as decimal text outside the program. */
import { trimmedEnd } from './trimmedEnd.ts';

/** Price in whole ticks of its instrument. */
export type Price = number & { readonly unit: 'ticks' };
/**
 * Amount of the base currency, in whole lots of its instrument. The documents of the exchange say major and minor for
 * base and quote currency.
 */
export type Amount = number & { readonly unit: 'lots' };
/**
 * Value in tick-lots: price times amount. One tick-lot is tick x lot of the quote currency. The type is bigint, because
 * values exceed 2^53.
 */
export type Value = bigint & { readonly unit: 'tick-lots' };
/** Exact sum in any currency, in units of 10^-18; can be negative. */
export type Money = bigint & { readonly unit: '1e-18' };
/** Time in milliseconds since 1970 UTC, on the injected clock. */
export type Millis = number;
/** Decimal digits as the exchange writes them: no sign, exponent, hex or separators. */
export type DecimalText = string;

export type Side = 'buy' | 'sell';
/** Returns +1 for buy, -1 for sell. */
export const signOf = (side: Side): 1 | -1 => (side === 'buy' ? 1 : -1);
/** Returns the other side. Orders of one side trade with orders of the other. */
export const opposite = (side: Side): Side => (side === 'buy' ? 'sell' : 'buy');

/**
 * Casts a number to ticks. Like the next three functions, this function checks nothing; the caller ensures whole units.
 */
export const price = (ticks: number): Price => ticks as Price;
/** Casts a number to lots. */
export const amount = (lots: number): Amount => lots as Amount;
/** Casts a bigint to tick-lots. */
export const value = (tickLots: bigint): Value => tickLots as Value;
/** Casts a bigint to units of 10^-18. To parse decimal text, use `moneyOf`. */
export const money = (atto: bigint): Money => atto as Money;

export const MONEY_DECIMALS = 18;
const ONE = 10n ** 18n;
const UNSIGNED = /^\d{1,20}(?:\.\d{1,18})?$/;
const SIGNED = /^-?\d{1,20}(?:\.\d{1,18})?$/;

/** Whether the text is plain decimal digits: at most 20 before the point and 18 after it. */
export const isDecimalText = (text: unknown): text is DecimalText => typeof text === 'string' && UNSIGNED.test(text);

/**
 * Moves the decimal point of a number by an exponent, and returns the digits before and after it. `before` has at least
 * one digit and no leading zeros; `after` keeps the trailing zeros.
 */
export function movedPoint(
  whole: string,
  fraction: string,
  exponent: number,
): { readonly before: string; readonly after: string } {
  const digits = whole + fraction;
  const point = whole.length + exponent;
  const padded = point < 0 ? '0'.repeat(-point) + digits : digits.padEnd(point, '0');
  const at = Math.max(0, point);
  return { before: padded.slice(0, at).replace(/^0+(?=\d)/, '') || '0', after: padded.slice(at) };
}

/**
 * Parses decimal text to exact money. Accepts a leading minus, because the exchange writes sold amounts as negative.
 * Throws RangeError for any other text.
 */
export function moneyOf(text: string): Money {
  if (!SIGNED.test(text)) throw new RangeError(`expected decimal digits like "12.50", found ${JSON.stringify(text)}`);
  const negative = text.startsWith('-');
  const digits = negative ? text.slice(1) : text;
  const point = digits.indexOf('.');
  const whole = point < 0 ? digits : digits.slice(0, point);
  const fraction = point < 0 ? '' : digits.slice(point + 1);
  const atto = BigInt(whole) * ONE + BigInt(fraction.padEnd(MONEY_DECIMALS, '0'));
  return money(negative ? -atto : atto);
}

/** Smallest number of decimals of a listed amount. A text with fewer has lost zeros at its end. */
const LISTED_DECIMALS_MIN = 5;

/**
 * Returns one unit of the last decimal of a listed amount, the maximum error by its rounding. At most `decimalsMax`
 * decimals count.
 */
export function listedUnit(text: DecimalText, decimalsMax = MONEY_DECIMALS): bigint {
  const decimals = Math.max(text.split('.')[1]?.length ?? 0, LISTED_DECIMALS_MIN);
  return 10n ** BigInt(MONEY_DECIMALS - Math.min(decimals, decimalsMax));
}

/** Formats money as the shortest exact decimal text with at least `decimals` places. Adds zeros, never drops digits. */
export function textOfMoney(sum: Money, decimals = 0): string {
  const negative = sum < 0n;
  const digits = (negative ? -sum : sum).toString().padStart(MONEY_DECIMALS + 1, '0');
  const whole = digits.slice(0, -MONEY_DECIMALS);
  const fraction = trimmedEnd(digits.slice(-MONEY_DECIMALS), '0').padEnd(decimals, '0');
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Returns the product of two decimals, rounded down (toward minus infinity) at 10^-18. */
export function multiplyMoneyFloor(a: Money, b: Money): Money {
  const product = a * b;
  const quotient = product / ONE;
  return money(product < 0n && quotient * ONE !== product ? quotient - 1n : quotient);
}

/** Converts money to a float for metrics and log lines. Never base a decision about money on the float. */
export const approximately = (sum: Money): number => Number(sum) / 1e18;
