import { describe, expect, test } from 'vitest';
import { EwmaVolatility, normal, randomOf, subgridsFor, twoScaleVariance } from '../../../src/core/index.ts';

/** A price with a relative deviation per root second, told at irregular times. */
function walk(seed: number, perRootSecond: number, seconds: number, see: (at: number, price: number) => void): void {
  const random = randomOf(seed);
  let price = 1_000;
  for (let at = 0; at < seconds * 1_000;) {
    const ms = 200 + Math.floor(random.next() * 4_000);
    at += ms;
    price *= Math.exp(perRootSecond * Math.sqrt(ms / 1_000) * normal(random));
    see(at, price);
  }
}

describe('the irregular average', () => {
  test('recovers the volatility of generated prices, whatever it was told at the start', () => {
    for (const start of [1e-6, 1e-2]) {
      const estimate = new EwmaVolatility({ startPerRootSecond: start, memoryMs: 1_800_000, sampleMs: 1_000 });
      walk(3, 2e-4, 6 * 3_600, (at, price) => estimate.observe(at, price));
      // Some 750 moves are remembered: a relative error of 1 / sqrt(2 * 750), 2.6%.
      expect(estimate.perRootSecond / 2e-4).toBeGreaterThan(0.9);
      expect(estimate.perRootSecond / 2e-4).toBeLessThan(1.1);
    }
  });

  test('does not depend on how often it is told of a price that has not been sampled', () => {
    const [often, rarely] = [0, 1].map(
      () => new EwmaVolatility({ startPerRootSecond: 1e-4, memoryMs: 60_000, sampleMs: 1_000 }),
    );
    for (let ms = 0; ms <= 60_000; ms += 100) {
      const price = 1_000 + Math.sin(Math.floor(ms / 1_000));
      often!.observe(ms, price);
      if (ms % 1_000 === 0) rarely!.observe(ms, price);
    }
    expect(often!.perRootSecond).toBe(rarely!.perRootSecond);
  });

  test('stays within its factor of the initial value whatever the prices, and follows them inside it', () => {
    const start = 1e-4;
    for (const [perRootSecond, expected] of [
      [1e-6, start / 4],
      [1e-2, start * 4],
    ] as const) {
      const estimate = new EwmaVolatility({
        ...{ startPerRootSecond: start, memoryMs: 60_000, sampleMs: 1_000, factorMax: 4 },
      });
      walk(3, perRootSecond, 3_600, (at, price) => estimate.observe(at, price));
      expect(estimate.perRootSecond).toBe(expected);
      walk(4, 2e-4, 3_600, (at, price) => estimate.observe(3_600_000 + at, price));
      expect(estimate.perRootSecond).toBeGreaterThan(start / 4);
      expect(estimate.perRootSecond).toBeLessThan(start * 4);
    }
  });

  test('passes over what is no price or no time', () => {
    const estimate = new EwmaVolatility({ startPerRootSecond: 1e-4, memoryMs: 60_000, sampleMs: 1_000 });
    estimate.observe(0, 100);
    for (const bad of [Number.NaN, 0, -5, Infinity]) expect(estimate.observe(5_000, bad)).toBe(false);
    expect(estimate.observe(Number.NaN, 100)).toBe(false);
    expect(estimate.perRootSecond).toBe(1e-4);
  });
});

describe('the two-scale variance', () => {
  test('recovers the variance under noise that makes the plain sum ten times too large', () => {
    const n = 20_000;
    const noise = Math.sqrt(9 / (2 * n));
    const found = Array.from({ length: 10 }, (_, seed) => {
      const random = randomOf(seed);
      let price = 0;
      const seen = Array.from({ length: n + 1 }, () => {
        price += normal(random) / Math.sqrt(n);
        return price + noise * normal(random);
      });
      expect(twoScaleVariance(seen, 1)).toBeGreaterThan(9);
      return twoScaleVariance(seen, subgridsFor(n));
    });
    const mean = found.reduce((sum, variance) => sum + variance, 0) / found.length;
    expect(Math.abs(mean - 1)).toBeLessThan(0.15);
  });

  test('is the plain sum of squares on one grid, and no number without enough prices', () => {
    expect(twoScaleVariance([1, 2, 4, 3], 1)).toBe(1 + 4 + 1);
    expect(twoScaleVariance([1, 2, 4], 2)).toBeNaN();
    expect(twoScaleVariance([], 1)).toBeNaN();
  });
});
