/** The band while it runs: what is seen moves it, within bounds, and what leaving costs is asked for again. */
import { describe, expect, test } from 'vitest';
import { money, moneyOf, randomOf, type Money } from '../../src/core/index.ts';
import { BandFollower } from '../../src/hedge/bandFollower.ts';

const model = {
  ...{ order: moneyOf('0.01'), ordersMax: 100, risk: 100, volatilityBps: 57, fillsPerMinute: 1, decayPerBps: 0.19 },
};
const MID = moneyOf('1500000');
const HOUR = 3_600_000;
const COST_MAX = 40;
const bandsOf = (): BandFollower => new BandFollower(model, COST_MAX);
/** Orders that are held. */
const held = (bands: BandFollower, at: number, mid = MID): number =>
  Number(bands.rules(at, mid).residual) / Number(model.order);

/** An hour of looks, with fills of both sides so often a minute and a price that moves by so many bps an hour. */
function after(fillsPerMinute: number, volatilityBps: number): number {
  const bands = bandsOf();
  const random = randomOf(7);
  const step = volatilityBps / 10_000 / Math.sqrt(360);
  let mid = Number(MID);
  for (let at = 0; at <= HOUR; at += 10_000) {
    mid *= 1 + step * (random.next() < 0.5 ? 1 : -1);
    bands.rules(at, money(BigInt(Math.round(mid))));
    if (at % 60_000 === 0) for (let i = 0; i < 2 * fillsPerMinute; i++) bands.fill(at, model.order);
    bands.recordCost(at, 20);
  }
  return held(bands, HOUR, money(BigInt(Math.round(mid))));
}

describe('the band that follows', () => {
  test('widens with fills and narrows with volatility, as both are seen', () => {
    const usual = after(1, 57);
    expect(after(4, 57)).toBeGreaterThan(usual);
    expect(after(0, 57)).toBeLessThan(usual);
    expect(after(1, 200)).toBeLessThan(usual);
    expect(after(1, 15)).toBeGreaterThan(usual);
  });

  test('stays where the start put it while what is seen agrees with it', () => {
    const bands = bandsOf();
    bands.recordCost(0, 20);
    expect(Math.abs(after(1, 57) - held(bands, 0))).toBeLessThanOrEqual(1);
  });

  test('widens with what leaving costs; what it costs is asked for at half of it, at first and after ten minutes', () => {
    const at = (...bps: number[]): BandFollower => {
      const bands = bandsOf();
      for (const each of bps) bands.recordCost(0, each);
      return bands;
    };
    const [half, whole] = [held(at(10), 1), held(at(20), 1)];
    expect(whole).toBeGreaterThan(half);
    expect(held(at(), 1)).toBe(held(at(COST_MAX / 2), 1));
    expect(held(at(20), 599_999)).toBe(whole);
    expect(held(at(20), 600_000)).toBe(half);
    // The mean of the last and those before.
    expect(held(at(10, 30), 1)).toBe(whole);
  });

  test('begins half an order beyond what stays, and holds everything where no limit would', () => {
    const bands = bandsOf();
    const { band, residual } = bands.rules(0, MID);
    expect(band - residual).toBe(model.order / 2n);
    const careless = new BandFollower({ ...model, risk: 1e9 }, COST_MAX).rules(0, MID);
    expect(careless.band).toBeGreaterThan(model.order * 1_000n);
  });

  test('prices waiting by the order: all of leaving outside, less and less inside', () => {
    const bands = bandsOf();
    bands.recordCost(0, 20);
    const { residual } = bands.rules(1, MID);
    const orders = (count: number): Money => money(BigInt(Math.round(count * 100)) * 10n ** 14n);
    const b = Number(residual) / Number(model.order);
    expect(bands.waitBps(orders(b + 3), orders(2.5))).toBeCloseTo(20, 9);
    expect(bands.waitBps(money(-orders(b + 3)), money(-orders(2.5)))).toBeCloseTo(20, 9);
    const inside = [1, 2, 3].map(q => bands.waitBps(orders(q), orders(1)));
    expect(inside).toEqual(inside.toSorted((x, y) => x - y));
    expect(inside[2]).toBeLessThan(20);
    expect(bands.waitBps(orders(2), orders(2))).toBeCloseTo((inside[0]! + inside[1]!) / 2, 9);
    expect(bands.waitBps(orders(1.5), orders(1))).toBeCloseTo((inside[0]! + inside[1]!) / 2, 9);
  });
});
