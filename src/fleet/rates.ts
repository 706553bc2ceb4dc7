/**
 * Exact conversion of sums between currencies, at the mid prices of the bots' own books. A rate is a fraction of
 * integers, directly from one book or across two. Nothing is rounded before the one division of a conversion.
 */
import { money, type Millis, type Money } from '../core/index.ts';

/** Mid price of a book. `twiceMid` is the sum of best bid and best ask, so that no half is rounded. */
export type BookMid = {
  readonly book: string;
  readonly base: string;
  readonly quote: string;
  readonly twiceMid: Money;
  readonly ageMs: Millis;
};

/** Exchange rate as a fraction: a sum in `from`, times `up` / `down`, is in `to`. */
export type CurrencyRate = {
  readonly from: string;
  readonly to: string;
  readonly up: bigint;
  readonly down: bigint;
  /** Age of the oldest price in the rate, in ms; 0 if `from` and `to` are equal. */
  readonly ageMs: Millis;
  /** Books whose prices the rate uses, in the order from `from` to `to`; empty if both are equal. */
  readonly books: readonly string[];
};

/** Maximum age of a mid price for a rate, in ms. */
export const RATE_AGE_MAX_MS = 60_000;
/** Twice 10^18, the unit of `twiceMid`. */
const TWO_ONES = 2n * 10n ** 18n;

/**
 * Returns the rate between two currencies; `null` if it is unknown. Prefers one book to two, then the youngest price.
 * Prices older than `RATE_AGE_MAX_MS` are not used.
 */
export function currencyRate(from: string, to: string, mids: readonly BookMid[]): CurrencyRate | null {
  if (from === to) return { from, to, up: 1n, down: 1n, ageMs: 0, books: [] };
  const steps = mids
    .filter(({ twiceMid, ageMs }) => twiceMid > 0n && ageMs <= RATE_AGE_MAX_MS)
    .flatMap(({ book, base, quote, twiceMid, ageMs }): readonly CurrencyRate[] => [
      { from: base, to: quote, up: twiceMid, down: TWO_ONES, ageMs, books: [book] },
      { from: quote, to: base, up: TWO_ONES, down: twiceMid, ageMs, books: [book] },
    ]);
  const youngest = (rates: readonly CurrencyRate[]): CurrencyRate | null =>
    rates.reduce<CurrencyRate | null>((best, rate) => (best === null || rate.ageMs < best.ageMs ? rate : best), null);
  const direct = youngest(steps.filter(step => step.from === from && step.to === to));
  if (direct !== null) return direct;
  const across = steps
    .filter(first => first.from === from)
    .flatMap(first =>
      steps
        .filter(second => second.from === first.to && second.to === to)
        .map(second => ({
          ...{ from, to, up: first.up * second.up, down: first.down * second.down },
          ageMs: Math.max(first.ageMs, second.ageMs),
          books: [...first.books, ...second.books],
        })),
    );
  return youngest(across);
}

/** Decimals of a converted sum. */
export const VALUE_DECIMALS = 8;
const VALUE_UNIT = 10n ** BigInt(18 - VALUE_DECIMALS);

/**
 * Converts a sum, rounded down (toward minus infinity) at 10^-8, so that a profit is never shown too high. A sum in the
 * same currency is not rounded.
 */
export function converted(sum: Money, { up, down, books }: CurrencyRate): Money {
  if (books.length === 0) return sum;
  const [product, unit] = [sum * up, down * VALUE_UNIT];
  const quotient = product / unit;
  return money((product < 0n && quotient * unit !== product ? quotient - 1n : quotient) * VALUE_UNIT);
}
