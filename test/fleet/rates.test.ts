/** Rates are fractions of the books' own prices, and a sum of conversions is exact to the digit. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { money, moneyOf, textOfMoney } from '../../src/core/index.ts';
import { converted, RATE_AGE_MAX_MS, currencyRate, type BookMid } from '../../src/fleet/rates.ts';

const mid = (book: string, bid: string, ask: string, ageMs = 0): BookMid => {
  const [base = '', quote = ''] = book.split('_');
  return { book, base, quote, twiceMid: money(moneyOf(bid) + moneyOf(ask)), ageMs };
};
const inMxn = (sum: string, from: string, mids: readonly BookMid[]): string | null => {
  const rate = currencyRate(from, 'mxn', mids);
  return rate && textOfMoney(converted(moneyOf(sum), rate));
};

describe('a rate', () => {
  test('is the mid price of a book, or its inverse, or two of them in sequence', () => {
    expect(inMxn('2', 'btc', [mid('btc_mxn', '999', '1002')])).toBe('2001');
    expect(inMxn('1', 'usd', [mid('mxn_usd', '0.05', '0.05')])).toBe('20');
    expect(inMxn('3', 'usd', [mid('btc_mxn', '1000', '1000'), mid('btc_usd', '50', '50')])).toBe('60');
    expect(currencyRate('usd', 'mxn', [mid('btc_mxn', '1', '1', 7), mid('btc_usd', '1', '1', 9)])).toMatchObject({
      ageMs: 9,
      books: ['btc_usd', 'btc_mxn'],
    });
  });

  test('is unknown without a book, with a book that is too old, and across three books', () => {
    expect(inMxn('1', 'usd', [])).toBeNull();
    expect(inMxn('1', 'btc', [mid('btc_mxn', '1', '1', RATE_AGE_MAX_MS + 1)])).toBeNull();
    expect(inMxn('1', 'btc', [mid('btc_mxn', '1', '1', Infinity)])).toBeNull();
    expect(inMxn('1', 'btc', [mid('btc_mxn', '1', '1', RATE_AGE_MAX_MS)])).toBe('1');
    expect(
      inMxn('1', 'eth', [mid('eth_btc', '1', '1'), mid('btc_usd', '1', '1'), mid('usd_mxn', '1', '1')]),
    ).toBeNull();
  });

  test('prefers one book to two, and the youngest of several', () => {
    const mids = [
      mid('btc_mxn', '5', '5', 20),
      mid('btc_mxn', '7', '7', 10),
      mid('btc_usd', '1', '1'),
      mid('usd_mxn', '9', '9'),
    ];
    expect(inMxn('1', 'btc', mids)).toBe('7');
  });
});

const sum = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(money);
const twice = fc.bigInt({ min: 1n, max: 10n ** 27n }).map(money);

describe('a conversion', () => {
  test('is below the exact value by less than 10^-8, and never above it', () => {
    fc.assert(
      fc.property(sum, twice, fc.boolean(), (of, twiceMid, isInverse) => {
        const rate = currencyRate(isInverse ? 'b' : 'a', isInverse ? 'a' : 'b', [
          { book: 'a_b', base: 'a', quote: 'b', twiceMid, ageMs: 0 },
        ])!;
        const value = converted(of, rate);
        // value <= of * up / down < value + 10^-8, in integers.
        expect(value * rate.down <= of * rate.up).toBe(true);
        expect((value + 10n ** 10n) * rate.down > of * rate.up).toBe(true);
        expect(value % 10n ** 10n).toBe(0n);
      }),
    );
  });

  test('into the same currency changes no digit', () => {
    fc.assert(fc.property(sum, of => converted(of, currencyRate('mxn', 'mxn', [])!) === of));
  });
});
