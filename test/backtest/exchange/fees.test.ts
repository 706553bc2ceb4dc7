import { describe, expect, test } from 'vitest';
import { Fees } from '../../../backtest/exchange/fees.ts';
import { amount, instrumentOf, moneyOf, price } from '../../../src/core/index.ts';

describe('fees', () => {
  const instrument = instrumentOf({
    book: 'btc_mxn',
    tickSize: '10',
    minimumAmount: '0.0001',
    maximumAmount: '100',
    minimumPrice: '10',
    maximumPrice: '10000000',
    minimumValue: '10',
    maximumValue: '200000000',
  });
  const tiers = [
    { volume: '1000', maker: '0.005', taker: '0.006' },
    { volume: '9999999999', maker: '0.001', taker: '0.002' },
  ];
  const day = 86_400_000;

  test('are taken on what is received, rounded at eight decimals', () => {
    const fees = new Fees(instrument, { tiers, volume30d: '0' });
    expect(fees.fill('buy', price(100), amount(1_500))).toEqual({
      major: moneyOf('0.000015'),
      minor: moneyOf('0.015'),
      fee: moneyOf('0.00000008'),
    });
    expect(fees.fill('sell', price(100), amount(1_500)).fee).toBe(moneyOf('0.000075'));
  });

  test('fall with the volume of thirty days, and rise again when it has left them', () => {
    const fees = new Fees(instrument, { tiers, volume30d: '500' });
    expect(fees.traded(moneyOf('499'), 0)).toBe(false);
    // The bound of a tier belongs to it; the next tier starts above it (rest-api 2.8).
    expect(fees.traded(moneyOf('1'), day)).toBe(false);
    expect(fees.traded(moneyOf('0.5'), day)).toBe(true);
    expect([fees.makerRate, fees.takerRate]).toEqual([100_000, 200_000]);
    expect(fees.traded(moneyOf('1'), 29 * day)).toBe(false);
    expect(fees.traded(moneyOf('1'), 30 * day)).toBe(true);
    expect(fees.makerRate).toBe(500_000);
  });
});
