import { expect, test } from 'vitest';
import { exponential, normal, randomOf, type Random } from '../../../src/core/index.ts';

const SEEDS = 4_000;
/** Next draw of each of the first seeds, after `skipped` other draws. */
const drawn = (skipped: number, draw: (random: Random) => number): readonly number[] =>
  Array.from({ length: SEEDS }, (_, seed) => {
    const random = randomOf(seed);
    for (let n = 0; n < skipped; n++) random.next();
    return draw(random);
  });
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

test.each([0, 1, 2, 3, 10])(
  'neighboring seeds draw evenly and independently of each other, after %i draws',
  skipped => {
    const values = drawn(skipped, random => random.next());
    const counts = Array.from({ length: 16 }, () => 0);
    for (const value of values) counts[Math.floor(value * 16)]!++;
    // Five standard deviations of a count of 250.
    for (const count of counts) expect(Math.abs(count - SEEDS / 16)).toBeLessThan(78);
    for (const distance of [1, 2, 16]) {
      const products = values.slice(distance).map((value, i) => 12 * (value - 0.5) * (values[i]! - 0.5));
      expect(Math.abs(mean(products))).toBeLessThan(5 / Math.sqrt(SEEDS));
    }
  },
);

test('the first normal and exponential draws of all seeds have their means and variances', () => {
  const normals = drawn(0, normal);
  expect(Math.abs(mean(normals))).toBeLessThan(0.08);
  expect(Math.abs(mean(normals.map(value => value * value)) - 1)).toBeLessThan(0.12);
  expect(Math.abs(mean(drawn(0, random => exponential(random, 1))) - 1)).toBeLessThan(0.08);
});

test('a seed gives the same draws each time, and numbers beyond 32 bits count as their lowest 32', () => {
  const draws = (seed: number) => {
    const random = randomOf(seed);
    return Array.from({ length: 5 }, () => random.next());
  };
  expect(draws(7)).toEqual(draws(7));
  expect(draws(7 + 2 ** 32)).toEqual(draws(7));
  expect(draws(-1)).toEqual(draws(2 ** 32 - 1));
});
