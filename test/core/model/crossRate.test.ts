import { expect, test } from 'vitest';
import { legsOf, priceAcross } from '../../../src/core/index.ts';

test.each([
  [['btc_usd', 'usd_mxn'], [80_000, 18.5], 1_480_000],
  [['btc_usd', 'mxn_usd'], [80_000, 0.05], 1_600_000],
  [['usd_btc', 'usd_mxn'], [0.0000125, 18.5], 1_480_000],
  [['btc_eth', 'eth_usd', 'usd_mxn'], [20, 4_000, 18.5], 1_480_000],
])('btc_mxn is reached through %j: each book multiplies or divides', (books, middles, price) => {
  expect(priceAcross(legsOf('btc_mxn', books)!, middles)).toBeCloseTo(price, 6);
});

test.each([[['usd_mxn', 'btc_usd']], [['btc_usd']], [['eth_usd', 'usd_mxn']], [[]]])(
  'btc_mxn is not reached through %j',
  books => {
    expect(legsOf('btc_mxn', books)).toBeNull();
  },
);

test('a missing middle makes no price', () => {
  expect(priceAcross(legsOf('btc_mxn', ['btc_usd', 'usd_mxn'])!, [80_000])).toBeNaN();
});
