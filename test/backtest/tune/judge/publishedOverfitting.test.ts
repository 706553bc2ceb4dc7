/** The published examples of the probability of backtest overfitting: those of the R package pbo 1.3.5 (Barry), made anew from their seeds. Its regression is of the half that was chosen on by the other. */
import { expect, test } from 'vitest';
import { overfittingOf } from '../../../../backtest/tune/judge/overfitting.ts';
import { momentsOf } from '../../../../backtest/tune/judge/sharpe.ts';
import { randomOf } from '../../../../src/core/index.ts';
import { normalsOfR } from './rNumbers.ts';

/** What lies without risk, a day: taken off every return. */
const RISK_FREE = 0.03 / 252;

const judged = (results: readonly (readonly number[])[], blocks: number) => {
  const excess = results.map(row => row.map(x => x - RISK_FREE));
  const found = overfittingOf(excess, { blocks, measure: 'sharpe', random: randomOf(1), samples: 2 });
  return { ...found, line: lineThrough(found.outOfSample, found.inSample) };
};

/** Least squares of y by x: where it begins, and the share of the variance that it tells, corrected for two parameters. */
function lineThrough(x: readonly number[], y: readonly number[]): { readonly start: number; readonly told: number } {
  const mean = (of: readonly number[]): number => of.reduce((sum, value) => sum + value, 0) / of.length;
  const [mx, my] = [mean(x), mean(y)];
  const sxy = mean(x.map((value, i) => (value - mx) * (y[i]! - my)));
  const sxx = mean(x.map(value => (value - mx) ** 2));
  const syy = mean(y.map(value => (value - my) ** 2));
  const left = 1 - sxy ** 2 / (sxx * syy);
  return { start: my - (sxy / sxx) * mx, told: 1 - (left * (x.length - 1)) / (x.length - 2) };
}

/** Days by days, as R fills a matrix row by row. */
function byRow(seed: number, configurations: number, days: number): readonly (readonly number[])[] {
  const next = normalsOfR(seed);
  const rows = Array.from({ length: days }, () => Array.from({ length: configurations }, next));
  return Array.from({ length: configurations }, (_, i) => rows.map(row => row[i]!));
}

/** Configuration by configuration, each then given a mean of nothing and a yearly deviation of one. */
function recentred(seed: number, configurations: number, days: number): readonly (readonly number[])[] {
  const next = normalsOfR(seed);
  return Array.from({ length: configurations }, () => {
    const row = Array.from({ length: days }, next);
    const { mean, deviation } = momentsOf(row);
    return row.map(x => (x - mean) / deviation / Math.sqrt(252));
  });
}

test('the numbers are those of R: set.seed(42); rnorm(3)', () => {
  const next = normalsOfR(42);
  expect([next(), next(), next()].map(x => x.toFixed(8))).toEqual(['1.37095845', '-0.56469817', '0.36312841']);
});

test('the vignette, 100 configurations of 2,400 days in 8 parts: 1.000000, -0.003046, 0.970000 and 1.000000', () => {
  const { value, inclusive, lossProbability, line, logits } = judged(recentred(765, 100, 2_400), 8);
  expect([value, inclusive, lossProbability, logits.length]).toEqual([1, 1, 1, 70]);
  expect([line.start.toFixed(6), line.told.toFixed(2)]).toEqual(['-0.003046', '0.97']);
});

test('the vignette in 4 parts: 1.000000, -0.005909, 0.880000 and 1.000000', () => {
  const { value, inclusive, lossProbability, line, logits } = judged(recentred(765, 100, 2_400), 4);
  expect([value, inclusive, lossProbability, logits.length]).toEqual([1, 1, 1, 6]);
  expect([line.start.toFixed(6), line.told.toFixed(2)]).toEqual(['-0.005909', '0.88']);
});

test('the tests of the package, 40 configurations of 200 days in 4 parts: one half, and one half lose', () => {
  const { value, inclusive, lossProbability, line, logits } = judged(byRow(852, 40, 200), 4);
  expect([value, inclusive, lossProbability, logits.length]).toEqual([0.5, 0.5, 0.5, 6]);
  // Published as bounds.
  expect([line.start > 0.19, line.start < 0.2, line.told > -0.24, line.told < -0.22]).toEqual([true, true, true, true]);
});

test('the tests of the package, 4 configurations of 20 days in 2 parts: never, and one half lose', () => {
  const { value, inclusive, lossProbability } = judged(byRow(852, 4, 20), 2);
  expect([value, inclusive, lossProbability]).toEqual([0, 0, 0.5]);
});
