/** The published examples of the deflated Sharpe ratio, and what its parts must do. */
import { expect, test } from 'vitest';
import {
  deflatedSharpe,
  expectedMaximumSharpe,
  momentsOf,
  probabilisticSharpe,
  varianceByLuck,
  varianceOfSharpes,
} from '../../../../backtest/tune/judge/sharpe.ts';

/** Bailey, López de Prado 2014, "A numerical example": 2.5 a year from five years of days, trials whose yearly ratios have variance one half. */
const PUBLISHED = { count: 1250, sharpe: 2.5 / Math.sqrt(250), skew: -3, kurtosis: 10 };
const VARIANCE = 0.5 / 250;

test('the published example: of 100 trials SR0 is 0.1132 and the deflated Sharpe ratio 0.9004', () => {
  const { threshold, probability } = deflatedSharpe(PUBLISHED, 100, VARIANCE);
  expect([threshold.toFixed(4), probability.toFixed(4)]).toEqual(['0.1132', '0.9004']);
});

test('the published example: of 46 trials, or of 88 with normal returns, it is 0.9505', () => {
  expect(deflatedSharpe(PUBLISHED, 46, VARIANCE).probability.toFixed(4)).toBe('0.9505');
  expect(deflatedSharpe({ ...PUBLISHED, skew: 0, kurtosis: 3 }, 88, VARIANCE).probability.toFixed(4)).toBe('0.9505');
});

test('one trial is no choice: its threshold is 0', () => {
  expect(expectedMaximumSharpe(1, VARIANCE)).toBe(0);
  expect(deflatedSharpe(PUBLISHED, 1, VARIANCE).probability).toBe(probabilisticSharpe(PUBLISHED, 0));
});

test('more trials ask for more', () => {
  const asked = [1, 2, 3, 10, 100, 1000, 1e6].map(trials => expectedMaximumSharpe(trials, VARIANCE));
  expect(asked).toEqual([...asked].sort((a, b) => a - b));
  expect(new Set(asked).size).toBe(asked.length);
});

test('moments are those of a sample worked by hand; what never deviates has no ratio', () => {
  const { count, mean, deviation, sharpe, skew, kurtosis } = momentsOf([1, 2, 3, 4, 10]);
  expect([count, mean]).toEqual([5, 4]);
  expect(deviation).toBeCloseTo(Math.sqrt(12.5), 12);
  expect(sharpe).toBeCloseTo(4 / Math.sqrt(12.5), 12);
  // Deviations -3, -2, -1, 0, 6: cubes add up to 180, fourth powers to 1394, squares to 50.
  expect(skew).toBeCloseTo(36 / 10 ** 1.5, 12);
  expect(kurtosis).toBeCloseTo(278.8 / 100, 12);
  expect(momentsOf([2, 2, 2])).toEqual({ count: 3, mean: 2, deviation: 0, sharpe: 0, skew: 0, kurtosis: 3 });
  expect(varianceOfSharpes([0.1])).toBe(0);
  expect(varianceOfSharpes([0.1, 0.3])).toBeCloseTo(0.02, 12);
});

test('trials that are truly worse make no other one lucky: ratios lie no farther apart by luck than those of results without skill', () => {
  const near = [0.1, 0.12, 0.14];
  expect(varianceByLuck(near, 81)).toBe(varianceOfSharpes(near));
  expect(varianceByLuck([...near, -2], 81)).toBe(1 / 80);
  // Of one there is nothing to compare: it was chosen from others all the same.
  expect(varianceByLuck([0.1], 81)).toBe(1 / 80);
});
