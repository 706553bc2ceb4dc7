/** Names of books, and the words of errors about decimals and rules. */
import { describe, expect, it } from 'vitest';
import {
  approximately,
  instrumentOf,
  moneyOf,
  opposite,
  pairOf,
  priceFloor,
  rateCeil,
  shortDecimal,
  shownSum,
  signOf,
  textOfPrice,
  trimmedEnd,
  valueFloor,
} from '../../../src/core/index.ts';
import { BOOK_NAME, pairOrNull } from '../../../src/core/model/bookName.ts';
import { amountCeil, lotOf, signedRateCeil, TooLarge } from '../../../src/core/model/instrument.ts';
import { bookRules, plain } from '../market.ts';

describe('the name of a book', () => {
  it.each([
    ['btc_mxn', ['btc', 'mxn']],
    ['1inch_usd', ['1inch', 'usd']],
    ['btc', null],
    ['btc_', null],
    ['_mxn', null],
    ['', null],
    ['btc_mxn_', null],
    ['btc_mxn_usd', null],
  ])('%j has the currencies %j', (name, pair) => {
    expect(pairOrNull(name)).toEqual(pair);
    if (pair !== null) expect(pairOf(name)).toEqual(pair);
    else expect(() => pairOf(name)).toThrow(`book ${JSON.stringify(name)}: expected <major>_<minor>, like btc_mxn`);
  });

  it.each([
    ['btc_mxn', true],
    ['ab_cd', true],
    ['abcdefghijkl_abcdefghijkl', true],
    ['a_mxn', false],
    ['btc_m', false],
    ['abcdefghijklm_mxn', false],
    ['btc_abcdefghijklm', false],
    ['BTC_mxn', false],
    [' btc_mxn', false],
    ['btc_mxn ', false],
    ['btc-mxn', false],
  ])('%j may be configured: %s', (name, may) => {
    expect(BOOK_NAME.test(name)).toBe(may);
  });
});

describe('decimal text', () => {
  it.each([
    ['1.500', '1.5'],
    ['1.000', '1'],
    ['100', '100'],
    ['0.0', '0'],
    ['0.010', '0.01'],
  ])('%s is shortened to %s', (text, short) => {
    expect(shortDecimal(text)).toBe(short);
  });

  it('is trimmed at its end, of one character', () => {
    expect([trimmedEnd('a00', '0'), trimmedEnd('000', '0'), trimmedEnd('', '0'), trimmedEnd('0a', '0')]).toEqual(
      ['a', '', '', '0a'],
    ); // prettier-ignore
  });

  it.each<readonly [string, () => unknown, string]>([
    ['a price', () => priceFloor(plain, 'x'), 'expected decimal digits like "12.50", found "x"'],
    [
      'a price that is too large',
      () => priceFloor(plain, '99999999999999999'),
      '99999999999999999 is more than 2^53 units of 1',
    ],
    ['a value', () => valueFloor(plain, '-1'), 'expected decimal digits like "12.50", found "-1"'],
    ['money', () => moneyOf('1e5'), 'expected decimal digits like "12.50", found "1e5"'],
    ['a rate', () => rateCeil('-0.1'), 'expected a rate like "0.0065", found "-0.1"'],
    ['a signed rate', () => signedRateCeil('--1'), 'expected a rate like "0.0065" or "-0.0001", found "--1"'],
    ['ticks', () => textOfPrice(plain, 0.5 as never), 'expected a whole number of at least 0, found 0.5'],
    [
      'a tick',
      () => instrumentOf(bookRules({ tickSize: '1e2' })),
      'book btc_mxn: tick_size must be decimal text, found "1e2"',
    ],
    ['a lot', () => instrumentOf(bookRules(), '0'), 'book btc_mxn: tick_size and lot must be above zero'],
    [
      'no tick',
      () => instrumentOf(bookRules({ tickSize: '0' }), '1'),
      'book btc_mxn: tick_size and lot must be above zero',
    ],
    [
      'a minimum',
      () => instrumentOf(bookRules({ minimumAmount: '99999999999999999999' }), '1'),
      'book btc_mxn: minimum_amount 99999999999999999999 is more than 2^53 units of 1',
    ],
    [
      'a tick and a lot',
      () => instrumentOf(bookRules({ tickSize: '0.0000000001' }), '0.000000001'),
      'book btc_mxn: tick_size 0.0000000001 times lot 0.000000001 has more than 18 decimals',
    ],
  ])('that is not %s is named in the error', (_, read, message) => {
    expect(read).toThrow(RangeError);
    expect(read).toThrow(message);
  });

  it('that is too large tells the largest that is countable', () => {
    const error = new TooLarge('1', '0.01');
    expect([error.name, error.largest, error instanceof RangeError]).toEqual(['TooLarge', '90071992547409.91', true]);
  });
});

it('a lot is as fine as the tick leaves decimals for, and as coarse as the maximum needs, but no coarser than the minimum', () => {
  expect(lotOf(bookRules())).toBe('0.00000001');
  expect(lotOf(bookRules({ tickSize: '0.000000000001' }))).toBe('0.000001');
  expect(lotOf(bookRules({ maximumAmount: '90071992' }))).toBe('0.00000001');
  expect(lotOf(bookRules({ maximumAmount: '90071993' }))).toBe('0.0000001');
  expect(lotOf(bookRules({ maximumAmount: '99999999999999999999' }))).toBe('0.00001');
});

it('a lot is the published step of the exchange, made coarser only where its product with the tick has too many decimals', () => {
  expect(lotOf(bookRules({ lotSize: '0.001' }))).toBe('0.001');
  expect(lotOf(bookRules({ lotSize: '0.00000001', maximumAmount: '99999999999999999999' }))).toBe('0.00000001');
  expect(lotOf(bookRules({ tickSize: '0.000000000001', lotSize: '0.00000001' }))).toBe('0.000001');
  expect(lotOf(bookRules({ tickSize: '0.000000000001', lotSize: '0.0000005' }))).toBe('0.000005');
  expect(() => lotOf(bookRules({ lotSize: 'fine' }))).toThrow('amount_step must be decimal text');
});

it('a rebate is rounded up, towards a cost, and never -0', () => {
  expect([signedRateCeil('-0.0001'), signedRateCeil('0.000000001'), signedRateCeil('-0.000000019')]).toEqual([
    -10_000, 1, -1,
  ]);
  expect(Object.is(signedRateCeil('-0.000000001'), 0)).toBe(true);
});

it('sides, sums that are shown, lots that are rounded up, and floats of money', () => {
  expect([signOf('buy'), signOf('sell'), opposite('buy'), opposite('sell')]).toEqual([1, -1, 'sell', 'buy']);
  expect([shownSum(2, 3), shownSum(2 ** 53 - 1, 1)]).toEqual([5, 2 ** 53 - 1]);
  expect([amountCeil(plain, '1.01'), amountCeil(plain, '2')]).toEqual([2, 2]);
  expect(approximately(moneyOf('-1.5'))).toBe(-1.5);
});
