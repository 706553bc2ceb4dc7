import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accountTierOf, describeTier, money, moneyOf, tierWorth, type AccountTier } from '../../../src/core/index.ts';

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
  const both = accountTierOf({ ...ROW, nextVolume: '700000', nextMaker: '0.0051' }, SCHEDULE, 'mxn');
  expect(both?.next).toMatchObject({ above: moneyOf('700000'), makerRate: 510_000 });
  expect(describeTier(told!)).toBe(
    '30-day volume 612345.1 mxn, maker fee 0.560%; above 1000000 mxn (387654.9 mxn more), the maker fee is 0.550%, which saves 61.23 mxn per month at the current volume',
  );
});

test('in the best tier there is no next one, and without a volume nothing is said', () => {
  const best = accountTierOf({ ...ROW, maker: '0.0055', currentVolume: '2000000' }, SCHEDULE, 'mxn');
  expect(best?.next).toBeNull();
  expect(describeTier(best!)).toMatch(/, the best tier$/);
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

test('what the account is told of the next tier counts only where all of it is known, and lies above the volume', () => {
  const tierOfRow = (changes: object) => accountTierOf({ ...ROW, ...changes }, SCHEDULE, 'mxn');
  expect(tierOfRow({ nextVolume: '612345.10', nextMaker: '0.001' })?.next).toMatchObject({ missing: 0n });
  expect(tierOfRow({ nextVolume: '612345.09', nextMaker: '0.001' })?.next).toBeNull();
  const beyond = { currentVolume: '9999999999.01', maker: '0.007' };
  for (const told of [{}, { nextVolume: '99999999999' }, { nextMaker: '0.001' }])
    expect(tierOfRow({ ...beyond, ...told })).toMatchObject({ makerRate: 700_000, next: null });
});

test('the volume is in the quote currency where the account is told no other', () => {
  const { volumeCurrency: _, ...row } = ROW;
  expect(accountTierOf(row, SCHEDULE, 'usd')?.currency).toBe('usd');
  expect(accountTierOf(ROW, SCHEDULE, 'usd')?.currency).toBe('mxn');
});

const tierOf = (volume: bigint, missing: bigint, makerRate = 60_000, nextRate = 50_000): AccountTier => ({
  ...{ currency: 'mxn', volume: money(volume * ONE), makerRate },
  next: {
    above: money((volume + missing) * ONE),
    ...{ makerRate: nextRate, missing: money(missing * ONE), monthly: money(0n) },
  },
});
const ONE = moneyOf('1');

describe('a unit of volume', () => {
  test.each([
    [900n, 1_000n, 0],
    [1_000n, 1_000n, 0],
    [1_500n, 1_000n, 5_000],
    [2_000n, 1_000n, 10_000],
    [9_000n, 1_000n, 10_000],
    [9_000n, 0n, 10_000],
    [0n, 0n, 0],
  ])('at a pace of %s, with %s missing, is worth %s', (volume, missing, worth) => {
    expect(tierWorth(tierOf(volume, missing))).toBe(worth);
  });

  test('is worth nothing in the best tier, and before a tier that is dearer', () => {
    expect(tierWorth({ ...tierOf(9_000n, 1n), next: null })).toBe(0);
    expect(tierWorth(tierOf(9_000n, 1_000n, 50_000, 60_000))).toBe(0);
  });

  test('is never worth more than the step between the fees, nor all of it more than what the tier saves', () => {
    const rates = fc.tuple(fc.integer({ min: 0, max: 900_000 }), fc.integer({ min: 1, max: 100_000 }));
    const volumes = fc.bigInt({ min: 0n, max: 10n ** 12n });
    fc.assert(
      fc.property(volumes, volumes, rates, (volume, missing, [next, step]) => {
        const worth = tierWorth(tierOf(volume, missing, next + step, next));
        expect(worth).toBeGreaterThanOrEqual(0);
        expect(worth).toBeLessThanOrEqual(step);
        const saved = Number(volume) - Number(missing);
        expect(worth * Number(missing)).toBeLessThanOrEqual(Math.max(0, step * saved) * (1 + 1e-9) + 1e-6);
      }),
    );
  });

  test('is worth more with more volume, and less the more is missing', () => {
    const volumes = fc.bigInt({ min: 1n, max: 10n ** 6n });
    fc.assert(
      fc.property(volumes, volumes, volumes, (volume, missing, more) => {
        const worth = tierWorth(tierOf(volume, missing));
        expect(tierWorth(tierOf(volume + more, missing))).toBeGreaterThanOrEqual(worth);
        expect(tierWorth(tierOf(volume, missing + more))).toBeLessThanOrEqual(worth);
      }),
    );
  });
});
