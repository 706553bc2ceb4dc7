/** The normal law to the digits of published tables, in the middle and far out. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalCumulative, normalQuantile } from '../../../src/core/index.ts';

test.each([
  [0, 0.5],
  [1, 0.841344746068542948],
  [-1.96, 0.0249978951482204342],
  [2.5, 0.993790334674223871],
  [-3, 0.00134989803163009453],
  [-6, 9.86587645037698141e-10],
  [-10, 7.61985302416052606e-24],
  [-37, 5.72557e-300],
])('the share below %f is %f', (x, share) => {
  expect(normalCumulative(x) / share).toBeCloseTo(1, x === -37 ? 5 : 12);
});

test.each([
  [0.5, 0],
  [0.975, 1.95996398454005423],
  [0.99, 2.3263478740408411],
  [0.95, 1.64485362695147271],
  [1e-9, -5.99780701500768],
])('the value that %f is below is %f', (share, x) => {
  expect(normalQuantile(share)).toBeCloseTo(x, 10);
});

test('a quantile leads back to its share, to ten digits, and both ends are infinite', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-300, max: 0.5, noNaN: true }), share => {
      expect(normalCumulative(normalQuantile(share)) / share).toBeCloseTo(1, 10);
    }),
  );
  expect(normalQuantile(0.75)).toBe(-normalQuantile(0.25));
  expect([normalQuantile(0), normalQuantile(1)]).toEqual([-Infinity, Infinity]);
  expect([normalQuantile(-0.1), normalQuantile(1.1), normalQuantile(Number.NaN)]).toEqual([NaN, NaN, NaN]);
  expect(normalCumulative(Number.NaN)).toBeNaN();
});
