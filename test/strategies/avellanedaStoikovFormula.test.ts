import { describe, expect, test } from 'vitest';
import { randomOf } from '../../src/core/index.ts';
import { finite, infinite } from '../../strategies/avellaneda-stoikov/formula.ts';
import { arrivalEdge } from '../../strategies/modelMaker.ts';

/** The setting of the paper's simulation: S0 100, T 1, sigma 2, dt 0.005, k 1.5, A 140, one unit a fill. */
const [SIGMA, DT, K, A, PATHS] = [2, 0.005, 1.5, 140, 4_000];

function simulate(gamma: number, isSymmetric: boolean, seed: number) {
  const random = randomOf(seed);
  const steps = Math.round(1 / DT);
  const move = SIGMA * Math.sqrt(DT);
  const profits: number[] = [];
  const inventories: number[] = [];
  let spread = 0;
  for (let path = 0; path < PATHS; path++) {
    let [s, q, cash] = [100, 0, 0];
    for (let n = 0; n < steps; n++) {
      const left = 1 - n * DT;
      const { shift, halfRisk } = finite(gamma, SIGMA, left, isSymmetric ? 0 : q);
      const half = halfRisk + arrivalEdge(gamma, K);
      spread += 2 * half;
      const [bid, ask] = [s + shift - half, s + shift + half];
      const bought = random.next() < A * Math.exp(-K * (s - bid)) * DT;
      const sold = random.next() < A * Math.exp(-K * (ask - s)) * DT;
      if (bought) [q, cash] = [q + 1, cash - bid];
      if (sold) [q, cash] = [q - 1, cash + ask];
      s += random.next() < 0.5 ? move : -move;
    }
    profits.push(cash + q * s);
    inventories.push(q);
  }
  return { spread: spread / PATHS / steps, profit: moments(profits), final: moments(inventories) };
}

function moments(values: readonly number[]) {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  const variance = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (values.length - 1);
  return { mean, sd: Math.sqrt(variance) };
}

describe('the published simulation', () => {
  test.each([
    [0.1, 'inventory', 1.49, 65.0, 6.6, 0.0, 3.0],
    [0.1, 'symmetric', 1.49, 68.1, 13.6, 0.1, 8.5],
    [0.01, 'inventory', 1.35, 68.5, 9.1, 0.0, 5.3],
    [0.01, 'symmetric', 1.35, 68.8, 13.8, -0.2, 8.7],
    [0.5, 'inventory', 2.16, 48.5, 5.9, -0.1, 1.9],
    [0.5, 'symmetric', 2.16, 58.1, 11.4, -0.2, 7.1],
  ] as const)(
    'gamma %d, %s: spread %d, profit %d / %d, final inventory %d / %d',
    (gamma, kind, spread, mean, sd, qMean, qSd) => {
      const got = simulate(gamma, kind === 'symmetric', 20_260);
      // Both are means of 4,000 paths: three errors of their difference, and half of the last digit of the table.
      const ofMean = (deviation: number): number => 3 * Math.SQRT2 * (deviation / Math.sqrt(PATHS)) + 0.05;
      const ofDeviation = (deviation: number): number => (3 * Math.SQRT2 * deviation) / Math.sqrt(2 * PATHS) + 0.05;
      expect(Math.abs(got.spread - spread)).toBeLessThan(0.006);
      expect(Math.abs(got.profit.mean - mean)).toBeLessThan(ofMean(sd));
      expect(Math.abs(got.profit.sd - sd)).toBeLessThan(ofDeviation(sd));
      expect(Math.abs(got.final.mean - qMean)).toBeLessThan(ofMean(qSd));
      expect(Math.abs(got.final.sd - qSd)).toBeLessThan(ofDeviation(qSd));
    },
  );
});

describe('the infinite horizon', () => {
  test('is the formula of the paper, in which sigma cancels', () => {
    for (const [gamma, sigma, qMax] of [
      [0.1, 2, 5],
      [0.01, 0.5, 20],
    ] as const) {
      const omega = 0.5 * gamma * gamma * sigma * sigma * (qMax + 1) ** 2;
      const below = (q: number) => 2 * omega - gamma * gamma * q * q * sigma * sigma;
      for (let q = -qMax; q <= qMax; q++) {
        const { buy, sell } = infinite(gamma, qMax, q);
        // At the cap one more is worth nothing at any price: no bid.
        if (q === qMax) expect(buy).toBe(-Infinity);
        else
          expect(buy).toBeCloseTo(Math.log(1 + ((-1 - 2 * q) * gamma * gamma * sigma * sigma) / below(q)) / gamma, 9);
        expect(sell).toBeCloseTo(Math.log(1 + ((1 - 2 * q) * gamma * gamma * sigma * sigma) / below(q)) / gamma, 9);
      }
    }
  });
});
