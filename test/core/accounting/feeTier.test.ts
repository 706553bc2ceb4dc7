import { expect, test } from 'vitest';
import { accountTierOf, describeTier, moneyOf } from '../../../src/core/index.ts';

const SCHEDULE = [
  { volume: '20000', maker: '0.006', taker: '0.0078' },
  { volume: '1000000', maker: '0.0056', taker: '0.00728' },
  { volume: '9999999999', maker: '0.0055', taker: '0.00715' },
];
const ROW = { book: 'eth_mxn', maker: '0.0056', taker: '0.00728', volumeCurrency: 'mxn', currentVolume: '612345.10' };

test('the next tier is what the account is told, and else what the schedule says', () => {
  const told = accountTierOf({ ...ROW, nextVolume: '1000000.00', nextMaker: '0.0055' }, [], 'mxn');
  expect(told).toEqual({
    currency: 'mxn',
    volume: moneyOf('612345.1'),
    makerRate: 560_000,
    next: { above: moneyOf('1000000'), makerRate: 550_000, missing: moneyOf('387654.9'), monthly: moneyOf('61.23451') },
  });
  expect(accountTierOf(ROW, SCHEDULE, 'mxn')).toEqual(told);
  expect(describeTier(told!)).toBe(
    '30-day volume 612345.1 mxn, maker fee 0.560 %; the next tier is 0.550 % above 1000000 mxn: 387654.9 more in 30 days, which saves 61.23 mxn per month at the current volume',
  );
});

test('in the best tier there is no next one, and without a volume nothing is said', () => {
  const best = accountTierOf({ ...ROW, maker: '0.0055', currentVolume: '2000000' }, SCHEDULE, 'mxn');
  expect(best?.next).toBeNull();
  expect(describeTier(best!)).toMatch(/no better tier$/);
  const same = { ...ROW, maker: '0.001', nextVolume: '9999999999', nextMaker: '0.001' };
  expect(accountTierOf(same, SCHEDULE, 'mxn')?.next).toBeNull();
  expect(accountTierOf({ book: 'eth_mxn', maker: '0.006', taker: '0.0078' }, SCHEDULE, 'mxn')).toBeNull();
});

test('a volume at the bound of a tier is of that tier: the next one begins above it', () => {
  const at = { ...ROW, maker: '0.006', currentVolume: '20000' };
  expect(accountTierOf(at, SCHEDULE, 'mxn')?.next).toMatchObject({ makerRate: 560_000, missing: 0n });
  expect(accountTierOf({ ...at, currentVolume: '20000.01' }, SCHEDULE, 'mxn')?.next).toMatchObject({
    above: moneyOf('1000000'),
  });
});
