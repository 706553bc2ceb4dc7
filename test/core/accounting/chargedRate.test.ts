/** The rate that a fee shows: never another one for a rounded fee, and every other one on a fill that is large enough. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { differentChargedRate, money, moneyOf, textOfMoney, type Money } from '../../../src/core/index.ts';

describe('the rate that a trade was charged at', () => {
  const pair = { major: 'btc', minor: 'mxn' };
  const sides = fc.record({
    lots: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    rate: fc.integer({ min: 0, max: 5_000_000 }),
    inMajor: fc.boolean(),
    maker: fc.boolean(),
    decimals: fc.constantFrom(8, 8, 5),
  });
  /** A fee at a rate, rounded half up and listed with all its decimals. */
  const tradeOf = ({
    lots,
    rate,
    inMajor,
    maker,
    decimals = 8,
  }: {
    lots: bigint;
    rate: number;
    inMajor: boolean;
    maker: boolean;
    decimals?: number;
  }) => {
    const major = textOfMoney((lots * 10n ** 10n) as Money);
    const minor = textOfMoney((lots * 10n ** 10n * 1_500_000n) as Money);
    const base = moneyOf(inMajor ? major : minor) as bigint;
    const unit = 10n ** BigInt(18 - decimals);
    const fee = ((base * BigInt(rate)) / 10n ** 8n + unit / 2n) / unit;
    const digits = String(fee).padStart(decimals + 1, '0');
    const feeAmount = `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
    return { major, minor, feeAmount, feeCurrency: inMajor ? 'btc' : 'mxn', maker };
  };

  test('is no other one where it is the expected one, however it was rounded', () => {
    fc.assert(
      fc.property(sides, of => {
        const rates = of.maker ? { makerRate: of.rate, takerRate: 1 } : { makerRate: 1, takerRate: of.rate };
        expect(differentChargedRate(tradeOf(of), pair, rates)).toBeNull();
      }),
    );
  });

  test('is found where it is another by a tenth, on every fill that is large enough to show it', () => {
    fc.assert(
      fc.property(sides, of => {
        const base = moneyOf(of.inMajor ? tradeOf(of).major : tradeOf(of).minor) as bigint;
        fc.pre(of.rate >= 10_000 && (base * BigInt(of.rate)) / 10n ** 9n > 10n ** BigInt(20 - of.decimals));
        const expected = Math.round(of.rate * 1.1);
        const found = differentChargedRate(tradeOf(of), pair, { makerRate: expected, takerRate: expected });
        expect(found).not.toBeNull();
        expect(Math.abs(found! - of.rate)).toBeLessThanOrEqual(of.rate / 100 + 2);
      }),
    );
  });

  test('is none where the fee is in a third currency', () => {
    const trade = { major: '1', minor: '1500000', feeAmount: '5', feeCurrency: 'usd', maker: true };
    expect(differentChargedRate(trade, pair, { makerRate: 1, takerRate: 1 })).toBeNull();
  });

  test.each([
    ['above', 1n],
    ['below', -1n],
  ])('is told from the first unit %s what rounding can make, and says what it was', (_, sign) => {
    // Half a percent of 1,000 btc is 5; a digit of the fee and a digit of the rate make the tolerance.
    const tolerance = 10n ** 10n + 10n ** 13n + 1n;
    const charged = (off: bigint, currency = 'btc') => {
      const feeAmount = textOfMoney(money(moneyOf('5') + sign * off));
      const trade = { major: '1000', minor: '1', feeAmount, feeCurrency: currency, maker: true };
      return differentChargedRate(trade, pair, { makerRate: 500_000, takerRate: 1 });
    };
    expect(charged(tolerance)).toBeNull();
    const rate = sign > 0n ? 500_001 : 499_998;
    expect([charged(tolerance + 1n), charged(tolerance + 1n, 'BTC')]).toEqual([rate, rate]);
  });

  test('is none of a trade of nothing', () => {
    const trade = { major: '0', minor: '0', feeAmount: '5', feeCurrency: 'mxn', maker: false };
    expect(differentChargedRate(trade, pair, { makerRate: 1, takerRate: 1 })).toBeNull();
  });
});
