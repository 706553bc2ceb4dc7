import { describe, expect, test } from 'vitest';
import { normal, randomOf } from '../../../src/core/index.ts';
import { StaleRisks } from '../../../src/core/budget/staleRisks.ts';

const MINUTE = 60_000;
const quote = (price: number, amount = 1) => ({ price, amount });

describe('the risk of stale quotes', () => {
  test('has documented values before anything is known, the same for every book', () => {
    const risks = new StaleRisks(['btc_mxn', 'eth_mxn']);
    expect(risks.of([[quote(100)], []])).toEqual([
      { sigma: 1e-4, distance: Infinity, takers: 0.1, worth: 1 },
      { sigma: 1e-4, distance: Infinity, takers: 0.1, worth: 1 },
    ]);
    risks.read(0, 0, null);
    risks.read(0, 0, Number.NaN);
    expect(risks.mid(0)).toBeNull();
  });

  test('has the distance and the value of the nearest quote', () => {
    const risks = new StaleRisks(['btc_mxn']);
    risks.read(0, 0, 1_000);
    const [{ distance, worth }] = risks.of([[quote(990, 5), quote(1_004, 2), quote(1_010, 9)]]) as never as [
      { distance: number; worth: number },
    ];
    expect(distance).toBeCloseTo(0.004, 12);
    expect(worth).toBe(2_008);
  });

  test('values the quotes of all books in one currency, and those of an unconnected book at the mean', () => {
    const risks = new StaleRisks(['btc_mxn', 'btc_usd', 'usd_mxn', 'eth_eur']);
    risks.read(0, 0, 1_200_000);
    risks.read(1, 0, 60_000);
    risks.read(2, 0, 20);
    risks.read(3, 0, 3_000);
    const worths = risks
      .of([[quote(1_200_000, 0.1)], [quote(60_000, 0.1)], [quote(20, 3_000)], [quote(3_000, 1)]])
      .map(({ worth }) => Math.round(worth));
    expect(worths).toEqual([120_000, 120_000, 60_000, 100_000]);
  });

  test('finds the volatility of regular and of rare reads', () => {
    for (const everyMs of [1_000, 12_000, 40_000]) {
      const random = randomOf(7);
      const risks = new StaleRisks(['btc_mxn']);
      let log = Math.log(1_000);
      let mean = 0;
      const sigma = 4e-4;
      for (let at = 0; at <= 200 * MINUTE; at += everyMs) {
        risks.read(0, at, Math.exp(log));
        log += sigma * Math.sqrt(everyMs / 1_000) * normal(random);
        if (at >= 100 * MINUTE) mean += (risks.of([[]])[0]!.sigma * everyMs) / (100 * MINUTE);
      }
      expect(mean / sigma, `every ${everyMs} ms`).toBeGreaterThan(0.85);
      expect(mean / sigma, `every ${everyMs} ms`).toBeLessThan(1.15);
    }
  });

  test('counts public trades only while all are seen, and forgets them', () => {
    const risks = new StaleRisks(['btc_mxn', 'eth_mxn']);
    let at = 0;
    const takers = () => risks.of([[], []]).map(each => each.takers);
    risks.advanceTo(at, [true, false]);
    for (let second = 0; second < 3_600; second++) {
      at += 1_000;
      risks.advanceTo(at, [true, false]);
      risks.trade(0);
    }
    expect(takers()[0]).toBeGreaterThan(0.6);
    expect(takers()[0]).toBeLessThan(1);
    expect(takers()[1]).toBe(0.1);
    risks.advanceTo(at + 6 * 60 * MINUTE, [false, false]);
    expect(takers()[0]).toBeCloseTo(0.1, 4);
  });
});
