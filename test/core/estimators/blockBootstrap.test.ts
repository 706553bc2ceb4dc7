/** The interval holds the truth about as often as it says, and its error is that of the field's formulas where one is known. */
import { expect, test } from 'vitest';
import { blockBootstrap, normal, randomOf } from '../../../src/core/index.ts';

const meanOf = (of: readonly number[]): number => of.reduce((sum, x) => sum + x, 0) / of.length;

test('the error of a mean is its textbook error, and the same seed gives the same interval', () => {
  const random = randomOf(3);
  const values = Array.from({ length: 40 }, () => normal(random));
  const made = () => blockBootstrap(values, meanOf, { random: randomOf(7), samples: 4_000 })!;
  const { value, error, low, high } = made();
  const mean = meanOf(values);
  const textbook = Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 39 / 40);
  expect(value).toBe(mean);
  expect(error / textbook).toBeGreaterThan(0.93);
  expect(error / textbook).toBeLessThan(1.07);
  expect([low < mean, mean < high]).toEqual([true, true]);
  expect(made()).toEqual({ value, error, low, high });
});

test('the 95% interval of a ratio of sums holds the truth in 90% of samples and more, of 25 blocks', () => {
  const truth = 2;
  let held = 0;
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomOf(seed);
    const blocks = Array.from({ length: 25 }, () => {
      const weight = 1 + 3 * random.next();
      return { sum: weight * truth + 2 * normal(random), weight };
    });
    const ratio = (of: readonly { sum: number; weight: number }[]): number =>
      of.reduce((sum, x) => sum + x.sum, 0) / of.reduce((sum, x) => sum + x.weight, 0);
    const { low, high } = blockBootstrap(blocks, ratio, { random, samples: 400 })!;
    if (low <= truth && truth <= high) held++;
  }
  expect(held).toBeGreaterThanOrEqual(180);
  expect(held).toBeLessThan(200);
});

test('one block, no number, or a statistic that most samples do not have gives no interval', () => {
  const random = randomOf(1);
  expect(blockBootstrap([1], meanOf, { random })).toBeNull();
  expect(blockBootstrap([Number.NaN, 1], meanOf, { random })).toBeNull();
  const whole = (of: readonly number[]): number => (new Set(of).size === 6 ? 1 : Number.NaN);
  expect(blockBootstrap([1, 2, 3, 4, 5, 6], whole, { random })).toBeNull();
});
