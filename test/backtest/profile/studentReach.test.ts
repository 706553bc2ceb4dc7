import fc from 'fast-check';
import { expect, test } from 'vitest';
import { studentReach } from '../../../backtest/profile/studentReach.ts';
import { normalQuantile, studentQuantile } from '../../../src/core/index.ts';

// Tables of Student's t: upper probability, degrees of freedom, quantile.
test.each([
  [0.05, 1, 6.3138],
  [0.05, 2, 2.92],
  [0.025, 2, 4.3027],
  [0.01, 3, 4.5407],
  [0.005, 4, 4.6041],
  [0.001, 5, 5.8934],
  [0.05, 10, 1.8125],
  [0.025, 30, 2.0423],
  [0.001, 60, 3.2317],
])('above the quantile of %f with %i degrees of freedom is that probability', (tail, freedom, quantile) => {
  expect(studentReach(normalQuantile(1 - tail), freedom)).toBeCloseTo(quantile, 3);
});

test('it falls with the degrees of freedom towards the normal quantile, and is never below it', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.5, max: 3.5, noNaN: true }),
      fc.double({ min: 1, max: 300, noNaN: true }),
      (z, freedom) => {
        const found = studentReach(z, freedom);
        expect(found).toBeGreaterThan(z);
        expect(studentReach(z, freedom + 1)).toBeLessThanOrEqual(found + 1e-4);
        if (freedom > 90) expect(found).toBeCloseTo(studentQuantile(z, freedom), 2);
      },
    ),
  );
});
