import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { functionOfMatrix } from '../../../src/core/estimators/linear.ts';
import { RunningCovariance, type RunningCovarianceState } from '../../../src/core/risk/runningCovariance.ts';
import { normal, randomOf } from '../../../src/core/index.ts';
import { between } from '../../draws.ts';
import { runsOf } from '../../many.ts';

const RULES = { sampleMs: 60_000, halfLifeMs: 7_200_000 };

/** Samples two prices with this correlation, `n` times. */
function sampled(n: number, correlation: number, seed = 1): RunningCovariance {
  const moves = new RunningCovariance(['a', 'b'], RULES);
  const random = randomOf(seed);
  let [x, y] = [0, 0];
  for (let k = 0; k < n; k++) {
    moves.sample(k * RULES.sampleMs, [x, y]);
    const [u, v] = [normal(random), normal(random)];
    x += 0.001 * u;
    y += 0.002 * (correlation * u + Math.sqrt(1 - correlation ** 2) * v);
  }
  return moves;
}

describe('joint moves of prices', () => {
  test('variances and a planted correlation are found, within its interval', () => {
    const moves = sampled(2_000, 0.8);
    const { low, high, value, intervals } = moves.correlation(0, 1)!;
    expect(low).toBeLessThan(0.8);
    expect(high).toBeGreaterThan(0.8);
    expect(high - low).toBeLessThan(0.15);
    // The half-life of 120 intervals (formulas-desk E13), less what the tails of the products take.
    expect(intervals).toBeLessThanOrEqual(346.248);
    expect(intervals).toBeGreaterThan(150);
    expect(value).toBe(moves.correlation(1, 0)!.value);
    expect(Math.sqrt(moves.variance(1)! / moves.variance(0)!)).toBeGreaterThan(1.7);
    expect(Math.sqrt(moves.variance(1)! / moves.variance(0)!)).toBeLessThan(2.3);
  });

  test('prices that do not move together have no covariance, in at least 9 of 10 seeds', () => {
    const seeds = Array.from({ length: 60 }, (_, k) => k + 1);
    const zero = seeds.filter(seed => sampled(400, 0, seed).covariance([0, 1])[0]![1] === 0);
    expect(zero.length).toBeGreaterThanOrEqual(54);
  });

  test('nothing is known before 30 intervals, and of a price that never moved', () => {
    expect(sampled(30, 0.9).variance(0)).toBeNull();
    expect(sampled(60, 0.9).variance(0)).toBeGreaterThan(0);
    const still = new RunningCovariance(['a', 'b'], RULES);
    for (let k = 0; k < 100; k++) still.sample(k * RULES.sampleMs, [k % 3, 1]);
    expect(still.variance(1)).toBeNull();
    expect(still.variance(0)).toBeGreaterThan(0);
    expect(still.correlation(0, 1)).toBeNull();
  });

  test('a pause and an unknown price are no move', () => {
    const moves = sampled(200, 0.5);
    const before = moves.variance(0)!;
    moves.sample(300 * RULES.sampleMs, [5, 5]);
    expect(moves.variance(0)).toBe(before);
    moves.sample(301 * RULES.sampleMs, [null, 5]);
    moves.sample(302 * RULES.sampleMs, [90, 5]);
    expect(moves.variance(0)).toBe(before);
  });

  test('another run continues from the state as if it had sampled all itself, whatever the order of its prices', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 120 }), fc.integer({ min: 1, max: 60 }), fc.nat(1000), (n, more, seed) => {
        const whole = sampled(n, 0.6, seed);
        const state = JSON.parse(JSON.stringify(whole.state)) as RunningCovarianceState;
        const other = new RunningCovariance(['b', 'new', 'a'], RULES);
        other.restore(state, n * RULES.sampleMs);
        for (let k = n; k < n + more; k++) {
          whole.sample(k * RULES.sampleMs, [k % 7, k % 5]);
          other.sample(k * RULES.sampleMs, [k % 5, k % 3, k % 7]);
        }
        expect(other.variance(2)).toBe(whole.variance(0));
        expect(other.correlation(0, 2)).toEqual(whole.correlation(0, 1));
      }),
      runsOf(40, 20),
    );
  });

  test('a state from the future, or of another interval, is not used', () => {
    const moves = new RunningCovariance(['a', 'b'], RULES);
    moves.restore(sampled(100, 0.5).state!, 50 * RULES.sampleMs);
    expect(moves.state).toBeNull();
    const slower = new RunningCovariance(['a', 'b'], { ...RULES, sampleMs: 2 * RULES.sampleMs });
    slower.restore(sampled(100, 0.5).state!, 100 * RULES.sampleMs);
    expect(slower.state).toBeNull();
  });
});

describe('functions of a symmetric matrix', () => {
  test('a square root times itself, and times its inverse, give the matrix and the identity', () => {
    fc.assert(
      fc.property(
        fc.array(between(-2, 2), { minLength: 9, maxLength: 9 }),
        fc.integer({ min: 1, max: 3 }),
        (entries, n) => {
          const at = (i: number, j: number): number => entries[3 * i + j]!;
          const matrix = Array.from({ length: n }, (_, i) =>
            Array.from({ length: n }, (_, j) => {
              let sum = i === j ? 0.1 : 0;
              for (let k = 0; k < n; k++) sum += at(i, k) * at(j, k);
              return sum;
            }),
          );
          const root = functionOfMatrix(matrix, Math.sqrt);
          const inverse = functionOfMatrix(matrix, value => 1 / Math.sqrt(value));
          for (let i = 0; i < n; i++)
            for (let j = 0; j < n; j++) {
              const sum = (a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number =>
                a[i]!.reduce((total, value, k) => total + value * b[k]![j]!, 0);
              expect(sum(root, root)).toBeCloseTo(matrix[i]![j]!, 9);
              expect(sum(root, inverse)).toBeCloseTo(i === j ? 1 : 0, 8);
            }
        },
      ),
      runsOf(200, 100),
    );
  });
});
