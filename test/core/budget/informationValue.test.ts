import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  lossCount,
  lossRate,
  readCountValue,
  XI_PEAK,
  readValue,
  requoteFrom,
  requoteValue,
  type StaleRisk,
} from '../../../src/core/budget/informationValue.ts';
import { between } from '../../draws.ts';

const risk = (sigma: number, distance: number, takers = 0.1, worth = 1): StaleRisk => ({
  ...{ sigma, distance, takers, worth },
});

/** Integral by Simpson's rule over the square root of the age, in which the loss is smooth. */
function integralOf(rate: (ageS: number) => number, untilS: number): number {
  const n = 4_000;
  const h = Math.sqrt(untilS) / n;
  let sum = 0;
  for (let i = 0; i <= n; i++) {
    const root = i * h;
    sum += rate(root * root) * 2 * root * (i === 0 || i === n ? 1 : i % 2 === 1 ? 4 : 2);
  }
  return (sum * h) / 3;
}

describe('the value of a read', () => {
  test('has the calculated values of formulas-desk E15', () => {
    expect(lossRate(risk(4, 12), 5)).toBeCloseTo(0.07449330008089, 13);
    expect(lossCount(risk(4, 12), 5)).toBeCloseTo(0.0179712494879, 13);
    expect(readValue(risk(4, 12), 5).value).toBeCloseTo(0.2601005896501, 12);
    expect(readCountValue(risk(4, 12), 5).value).toBeCloseTo(0.05586997506067, 13);
    expect(readValue(risk(1, 12), 60).value).toBeCloseTo(1.776719207703, 11);
    expect(readCountValue(risk(1, 12), 60).value).toBeCloseTo(0.4865686289573, 12);
  });

  test('is age times loss minus the loss so far, by money and by count', () => {
    fc.assert(
      fc.property(between(0.2, 8), between(1, 90), (sigma, ageS) => {
        const of = risk(sigma, 12);
        const money = ageS * lossRate(of, ageS) - integralOf(age => lossRate(of, age), ageS);
        expect(readValue(of, ageS).value).toBeCloseTo(money, 8);
        const count = ageS * lossCount(of, ageS) - integralOf(age => lossCount(of, age), ageS);
        // A quote that most moves pass has at least the index of the same age at the best distance.
        const isPassed = 12 / (sigma * Math.sqrt(ageS)) < XI_PEAK;
        if (isPassed) expect(readCountValue(of, ageS).value).toBeGreaterThan(count);
        else expect(readCountValue(of, ageS).value).toBeCloseTo(count, 8);
      }),
      { numRuns: 40 },
    );
  });

  test('is equal for all books at the intervals of least loss', () => {
    const sigmas = [0.5, 1, 2, 4, 8];
    const intervals = [90.45461947829, 30.04550086919, 10.55318743477, 3.980855505643, 1.640146877083];
    const costAt = (ages: readonly number[]) =>
      sigmas.reduce((sum, sigma, i) => {
        const of = risk(sigma, 12);
        return sum + 3_600 * (lossRate(of, ages[i]!) - readValue(of, ages[i]!).value / ages[i]!);
      }, 0);
    sigmas.forEach((sigma, i) =>
      expect(readValue(risk(sigma, 12), intervals[i]!).value).toBeCloseTo(0.1336556695669, 10),
    );
    expect(intervals.reduce((sum, each) => sum + 1 / each, 0)).toBeCloseTo(1, 11);
    expect(costAt(intervals)).toBeCloseTo(210.2664106925, 6);
    expect(costAt(sigmas.map(() => 5))).toBeCloseTo(936.6418267265, 9);
  });

  test('never falls with age, and is zero just after a read and without a quote', () => {
    const sigma = between(1e-6, 100);
    const age = between(0, 1e4);
    fc.assert(
      fc.property(sigma, between(0, 1e3), age, age, (s, d, a, b) => {
        const [younger, older] = [Math.min(a, b), Math.max(a, b)];
        const of = risk(s, d);
        for (const value of [readValue, readCountValue]) {
          const [before, after] = [value(of, younger).value, value(of, older).value];
          expect(before).toBeGreaterThanOrEqual(0);
          expect(after).toBeGreaterThanOrEqual(before * (1 - 1e-6));
          expect(value(of, 0).value).toBe(0);
          expect(value(risk(s, Infinity), older)).toEqual({ value: 0, xi: Infinity });
        }
      }),
    );
  });

  test('is halved by two requests', () => {
    expect(readValue(risk(4, 12), 5, 2).value).toBe(readValue(risk(4, 12), 5).value / 2);
    expect(requoteValue(risk(4, 12), 10, 5, 2)).toBe(requoteValue(risk(4, 12), 10, 5) / 2);
  });
});

describe('the value of a new quote', () => {
  test('is the loss that it avoids, and grows with the move', () => {
    const of = risk(2, 12);
    expect(requoteValue(of, 0, 5)).toBe(0);
    expect(requoteValue(of, 9, 5)).toBeGreaterThan(0);
    expect(requoteValue(of, 12, 5)).toBeGreaterThan(requoteValue(of, 9, 5));
    expect(requoteValue(of, -12, 5)).toBeCloseTo(requoteValue(of, 12, 5), 12);
    // Far beyond the quote, all of the move beyond the distance is lost.
    expect(requoteValue(of, 200, 1)).toBeCloseTo(0.1 * 188, 9);
    expect(requoteValue(risk(0, 12), 20, 5)).toBe(0.1 * 5 * 8);
    expect(requoteValue(risk(2, Infinity), 20, 5)).toBe(0);
  });

  test('equals the mean over the move within half the horizon', () => {
    const [sigma, distance, moved, horizonS] = [2, 12, 9, 8];
    const deviation = sigma * Math.sqrt(horizonS / 2);
    const beyond = (mean: number) => {
      let sum = 0;
      const n = 40_000;
      for (let i = 0; i < n; i++) {
        const z = -8 + (16 * (i + 0.5)) / n;
        sum += (Math.max(0, Math.abs(mean + deviation * z) - distance) * Math.exp(-0.5 * z * z) * 16) / n;
      }
      return sum / Math.sqrt(2 * Math.PI);
    };
    const expected = 0.1 * horizonS * (beyond(moved) - beyond(0));
    expect(requoteValue(risk(sigma, distance), moved, horizonS)).toBeCloseTo(expected, 7);
  });

  test('is worth a request from 0.7 to 1 times the distance, the scarcer the later', () => {
    expect([-1, 0, 0.5, 1, 2].map(scarcity => requoteFrom(10, scarcity))).toEqual([7, 7, 8.5, 10, 10]);
  });
});
