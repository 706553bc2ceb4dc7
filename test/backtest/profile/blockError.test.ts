import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blockError, type RatioBlocks } from '../../../backtest/profile/blockError.ts';
import { normal, randomOf } from '../../../src/core/index.ts';
import { between } from '../../draws.ts';

const DAY_MS = 86_400_000;

/** Blocks of equal weight with the given values, evenly spread over some days. */
function blocksOf(values: readonly number[], days: number): RatioBlocks {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  return {
    at: values.map((_, b) => Math.floor((b * days * DAY_MS) / values.length)),
    deviations: values.map(x => (x - mean) / values.length),
    weights: values.map(() => 1),
  };
}

const values = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 8, maxLength: 80 });

describe('the error of a ratio over blocks', () => {
  test('is at least that of independent blocks, and scales with the values', () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 6 }), (drawn, days) => {
        fc.pre(new Set(drawn).size > 2);
        const found = blockError(blocksOf(drawn, days));
        expect(found.error).toBeGreaterThanOrEqual(found.independent);
        expect(found.freedom).toBeGreaterThan(1 - 1e-9);
        expect(found.freedom).toBeLessThan(drawn.length + days);
        const scaled = blockError(blocksOf(drawn.map(x => 3 * x), days)); // prettier-ignore
        expect(scaled.error).toBeCloseTo(3 * found.error, 6);
        expect(scaled.freedom).toBeCloseTo(found.freedom, 3);
      }),
    );
  });

  test('does not depend on the time of day at which the blocks start', () => {
    const shift = fc.integer({ min: 0, max: 3 * DAY_MS });
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 6 }), shift, (drawn, days, by) => {
        const blocks = blocksOf(drawn, days);
        expect(blockError({ ...blocks, at: blocks.at.map(at => at + by) })).toEqual(blockError(blocks));
      }),
    );
  });

  test('of independent blocks is the standard error of their mean, with one degree of freedom less than blocks', () => {
    const drawn = [1, -1, 1, -1, 1, -1, 1, -1];
    const found = blockError(blocksOf(drawn, 1));
    expect(found.error).toBeCloseTo(Math.sqrt(8 / 7 / 8), 12);
    expect(found.freedom).toBeCloseTo(7, 9);
  });

  test('grows with values that follow each other', () => {
    const drawn = Array.from({ length: 64 }, (_, b) => (Math.floor(b / 8) % 2 === 0 ? 1 : -1));
    expect(blockError(blocksOf(drawn, 1)).error).toBeGreaterThan(1.5 * blockError(blocksOf(drawn, 1)).independent);
  });

  test('of days that differ is that of as many values as days, however many blocks a day has', () => {
    const random = randomOf(1);
    const ofDays = [3, -2, 5, -1, 2];
    const found = [8, 16, 64].map(perDay =>
      blockError(
        blocksOf(
          ofDays.flatMap(mean => Array.from({ length: perDay }, () => mean + 0.1 * normal(random))),
          ofDays.length,
        ),
      ),
    );
    const mean = ofDays.reduce((sum, x) => sum + x, 0) / 5;
    const expected = Math.sqrt(ofDays.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 4 / 5);
    for (const { error } of found) expect(error).toBeGreaterThan(0.95 * expected);
    expect(found.at(-1)!.freedom).toBeCloseTo(4, 9);
  });

  test('of three days that differ has two degrees of freedom at most, however little they differ', () => {
    let counted = 0;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), between(0, 2), (seed, apart) => {
        const random = randomOf(seed);
        const drawn = [1, 0, -1].flatMap(mean => Array.from({ length: 16 }, () => apart * mean + normal(random)));
        const blocks = blocksOf(drawn, 3);
        const ofOneDay = blockError({ ...blocks, at: blocks.at.map(() => 0) });
        const found = blockError(blocks);
        const isCounted = found.error > ofOneDay.error;
        if (isCounted) counted++;
        else expect(found.error).toBe(ofOneDay.error);
        expect(found.freedom).toBeCloseTo(isCounted ? 2 : ofOneDay.freedom, 9);
      }),
    );
    expect(counted).toBeGreaterThan(10);
  });

  test('counts days by their weight: two of three days with hardly any say nothing about differences', () => {
    const { deviations, at } = blocksOf([3, 3, 3, 3, -2, -2, -2, -2, -1, -1, -1, -1], 3);
    const errorOf = (weights: readonly number[]) => blockError({ at, deviations, weights });
    const few = at.map((_, b) => (b < 4 ? 1 : 0.05));
    expect(errorOf(few)).toEqual(blockError({ at: at.map(() => 0), deviations, weights: few }));
    expect(errorOf(at.map(() => 1)).freedom).toBeCloseTo(2, 9);
  });
});
