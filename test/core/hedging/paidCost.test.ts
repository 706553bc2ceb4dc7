/** Cost of an executed hedge elsewhere, by hand and as laws. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { moneyOf, paidCost, textOfMoney, type OwnTrade } from '../../../src/core/index.ts';

const trade = (of: Partial<OwnTrade>): OwnTrade => ({
  ...{ book: 'btc_usdt', tid: '1', oid: 'a', createdAt: 0, side: 'sell', price: '80000', maker: false },
  ...{ major: '0.01', minor: '800', feeAmount: '0.8', feeCurrency: 'usdt' },
  ...of,
});
const [rate, mid] = [moneyOf('18.5'), moneyOf('1481480')];

test('a sale costs the mid price here minus its proceeds there, with the fee', () => {
  // 0.01 x 1481480 = 14814.8; 799.2 x 18.5 = 14785.2.
  const cost = paidCost([trade({})], rate, mid)!;
  expect(textOfMoney(cost.cost)).toBe('29.6');
  expect(cost.bps).toBeCloseTo((29.6 / 14_814.8) * 10_000, 9);
  expect(cost.otherFees).toBeNull();
});

test('a purchase costs what it pays there, and the fee in the base currency at the mid price here', () => {
  // 800 x 18.5 = 14800; received 0.00999 x 1481480 = 14799.9852.
  const bought = trade({ side: 'buy', feeAmount: '0.00001', feeCurrency: 'btc' });
  expect(textOfMoney(paidCost([bought], rate, mid)!.cost)).toBe('0.0148');
});

test('fees in other currencies are named, and no trade has no cost', () => {
  const inBnb = trade({ feeAmount: '0.001', feeCurrency: 'bnb' });
  const cost = paidCost([inBnb, { ...inBnb, tid: '2' }], rate, mid)!;
  expect([textOfMoney(cost.cost), cost.otherFees]).toEqual(['29.6', '0.002 bnb']);
  expect(paidCost([], rate, mid)).toBeNull();
});

test('the sum of the trades is what was sold, or bought below 0, without fees', () => {
  const bought = trade({ side: 'buy', major: '0.004', feeAmount: '0.00001', feeCurrency: 'btc' });
  const sums = [
    [trade({}), trade({ tid: '2' })],
    [bought, { ...bought, tid: '2' }],
  ].map(trades => paidCost(trades, rate, mid)!.sold);
  expect(sums.map(textOfMoney)).toEqual(['0.02', '-0.008']);
});

test('trades cost together what they cost apart, up to the rounding, and a trade back costs the opposite without fees', () => {
  const sum = fc.bigInt({ min: 1n, max: 10n ** 24n }).map(units => textOfMoney(units as ReturnType<typeof moneyOf>));
  const drawn = fc.record({ side: fc.constantFrom('buy' as const, 'sell' as const), major: sum, minor: sum });
  fc.assert(
    fc.property(fc.array(drawn, { minLength: 1, maxLength: 5 }), list => {
      const trades = list.map(of => trade({ ...of, feeAmount: '0' }));
      const together = paidCost(trades, rate, mid)!.cost;
      const apart = trades.reduce((all, one) => all + paidCost([one], rate, mid)!.cost, 0n);
      expect(apart - together).toBeGreaterThanOrEqual(0n);
      expect(apart - together).toBeLessThan(2n * BigInt(trades.length) + 1n);
      const back = trades.map(one => trade({ ...one, side: one.side === 'buy' ? 'sell' : 'buy' }));
      const round = together + paidCost(back, rate, mid)!.cost;
      expect(round >= 0n && round <= 2n).toBe(true);
    }),
  );
});
