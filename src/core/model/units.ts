/** Prices, amounts and money as exact integers, and the decimal text that the outside world speaks. */
import { trimmedEnd } from './trimmedEnd.ts';

/** A price in whole ticks of its instrument. */
export type Price = number & { readonly unit: 'ticks' };
/** An amount of the major currency in whole lots of its instrument. */
export type Amount = number & { readonly unit: 'lots' };
/** A value in tick-lots: price times amount. One tick-lot is tick x lot of the minor currency. Past 2^53, hence bigint. */
export type Value = bigint & { readonly unit: 'tick-lots' };
/** An exact sum of any currency in units of 10^-18. May be negative. */
export type Money = bigint & { readonly unit: '1e-18' };
/** Wall-clock time in milliseconds since 1970 UTC, on the injected clock. */
export type Millis = number;
/** Decimal digits as the exchange writes them: no sign, exponent, hex or separators. */
export type DecimalText = string;

export type Side = 'buy' | 'sell';
/** +1 for buy, -1 for sell. */
export const signOf = (side: Side): 1 | -1 => (side === 'buy' ? 1 : -1);
/** The side that an order of this one trades against. */
export const opposite = (side: Side): Side => (side === 'buy' ? 'sell' : 'buy');

/** Whole ticks are the caller's to see to: this and the next three only name the unit, and check nothing. */
export const price = (ticks: number): Price => ticks as Price;
/** Of whole lots. */
export const amount = (lots: number): Amount => lots as Amount;
/** Of tick-lots. */
export const value = (tickLots: bigint): Value => tickLots as Value;
/** Of units of 10^-18; decimal text goes through `moneyOf`. */
export const money = (atto: bigint): Money => atto as Money;

export const MONEY_DECIMALS = 18;
const ONE = 10n ** 18n;
const UNSIGNED = /^\d{1,20}(?:\.\d{1,18})?$/;
const SIGNED = /^-?\d{1,20}(?:\.\d{1,18})?$/;

/** True for text that is plain decimal digits: at most 20 before the point and 18 after it. */
export const isDecimalText = (text: unknown): text is DecimalText => typeof text === 'string' && UNSIGNED.test(text);

/**
 * Exact money of decimal text; a leading minus is allowed, because the exchange writes sold amounts that way. Throws a RangeError on anything else.
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

/** Shortest exact decimal text of money, with at least `decimals` places (zeros are added, never digits dropped). */
export function textOfMoney(sum: Money, decimals = 0): string {
  const negative = sum < 0n;
  const digits = (negative ? -sum : sum).toString().padStart(MONEY_DECIMALS + 1, '0');
  const whole = digits.slice(0, -MONEY_DECIMALS);
  const fraction = trimmedEnd(digits.slice(-MONEY_DECIMALS), '0').padEnd(decimals, '0');
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Money times money divided by one, rounded toward minus infinity at 10^-18. */
export function multiplyMoneyFloor(a: Money, b: Money): Money {
  const product = a * b;
  const quotient = product / ONE;
  return money(product < 0n && quotient * ONE !== product ? quotient - 1n : quotient);
}

/** Money as a float, for metrics and log lines only: never for a decision about money. */
export const approximately = (sum: Money): number => Number(sum) / 1e18;
