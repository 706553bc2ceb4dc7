/** The probability of backtest overfitting: examples worked by hand, and a slow reading of the definition beside the quick one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { meanOf, type Results } from '../../../../backtest/tune/judge/outOfSample.ts';
import { overfittingOf } from '../../../../backtest/tune/judge/overfitting.ts';
import { momentsOf } from '../../../../backtest/tune/judge/sharpe.ts';
import { combinationsOf } from '../../../../backtest/tune/judge/timeSplits.ts';
import { randomOf } from '../../../../src/core/index.ts';

const judged = (results: Results, blocks: number, measure: 'mean' | 'sharpe' = 'mean') =>
  overfittingOf(results, { blocks, measure, random: randomOf(1), samples: 20 });

describe('by hand', () => {
  test('two configurations, each good in the half where the other is bad: certain, and every choice loses', () => {
    const { value, strict, inclusive, logits, lossProbability } = judged([[1, -1], [-1, 1]], 2); // prettier-ignore
    expect([value, strict, inclusive, lossProbability]).toEqual([1, 1, 1, 1]);
    // The worst of two: rank 1 of 2, the odds 1 to 2.
    logits.forEach(logit => expect(logit).toBeCloseTo(Math.log(1 / 2), 12));
    expect(logits).toHaveLength(2);
  });

  test('one that is best everywhere: never', () => {
    const { value, logits, lossProbability } = judged([[3, 4, 3, 5], [1, 2, 1, 2], [0, 1, 0, 1]], 4); // prettier-ignore
    expect([value, lossProbability]).toEqual([0, 0]);
    expect(logits).toHaveLength(6);
    logits.forEach(logit => expect(logit).toBeCloseTo(Math.log(3), 12));
  });

  test('of three, the best of a half is the median of the other: the three readings differ, 0, 1/2 and 1', () => {
    const { value, strict, inclusive, logits } = judged([[9, 2], [5, 3], [2, 9], ].map(([a, b], i) => (i === 1 ? [1, 1] : [a!, b!])), 2); // prettier-ignore
    // First half: 9, 1, 2, the best is the first; in the other half 2, 1, 9 it is the second of three.
    expect([strict, value, inclusive]).toEqual([0, 0.5, 1]);
    expect(logits).toEqual([0, 0]);
  });

  test('of four, a quarter each way: half of the choices are below the median', () => {
    // Halves {1, 2} and {3, 4} of four blocks and so on: which is best in each half, and where it ranks, by sums.
    const results = [[4, 4, 0, 0], [0, 0, 4, 4], [3, 0, 3, 0], [0, 1, 0, 1]]; // prettier-ignore
    // {1,2}: first (8); outside 0, 8, 3, 1: rank 1 of 4, below.       {3,4}: second; outside 8, 0, 3, 1: below.
    // {1,3}: third (6); outside 4, 4, 0, 2: rank 1, below.            {2,4}: 4, 4, 0, 2: the first; outside 4, 4, 6, 0: rank 2.5 of 4 with its equal: at the median.
    // {1,4}: 4, 4, 3, 1: the first; outside 4, 4, 3, 1: rank 3.5, above.  {2,3}: the same, above.
    const { value, strict, inclusive } = judged(results, 4);
    expect([strict, value, inclusive]).toEqual([3 / 6, 3.5 / 6, 4 / 6]);
  });
});

test('it is what its definition says, read slowly, for the mean and the Sharpe ratio', () => {
  const rows = fc
    .tuple(fc.integer({ min: 2, max: 6 }), fc.constantFrom(2, 4, 6), fc.integer({ min: 2, max: 4 }), fc.nat())
    .map(([configurations, blocks, length, seed]) => {
      const random = randomOf(seed);
      const results = Array.from({ length: configurations }, () =>
        Array.from({ length: blocks * length }, () => random.next() - 0.4),
      );
      return { results, blocks };
    });
  fc.assert(
    fc.property(rows, fc.constantFrom('mean', 'sharpe'), ({ results, blocks }, measure) => {
      const score = measure === 'mean' ? meanOf : (values: readonly number[]) => momentsOf(values).sharpe;
      const length = results[0]!.length / blocks;
      let below = 0;
      let at = 0;
      const halves = combinationsOf(blocks, blocks / 2);
      for (const half of halves) {
        const isInside = (span: number): boolean => half.includes(Math.floor(span / length));
        const inside = results.map(row => score(row.filter((_, span) => isInside(span))));
        const outside = results.map(row => score(row.filter((_, span) => !isInside(span))));
        const its = outside[inside.indexOf(Math.max(...inside))]!;
        const worse = outside.filter(value => value < its).length;
        const better = outside.filter(value => value > its).length;
        if (worse < better) below++;
        else if (worse === better) at++;
      }
      const { value, strict, inclusive, logits } = judged(results, blocks, measure);
      expect([value, strict, inclusive]).toEqual([
        (below + at / 2) / halves.length,
        below / halves.length,
        (below + at) / halves.length,
      ]);
      expect(logits.filter(logit => logit < 0)).toHaveLength(below);
      expect(logits.filter(logit => logit === 0)).toHaveLength(at);
    }),
    { numRuns: 60 },
  );
});

test('what cannot be judged says what was expected', () => {
  expect(() => judged([[1, 2]], 2)).toThrow('expected at least 2 configurations');
  expect(() => judged([[1, 2], [1]], 2)).toThrow('one value per time span'); // prettier-ignore
  expect(() => judged([[1, 2, 3], [1, 2, 3]], 3)).toThrow('expected an even number of blocks'); // prettier-ignore
  expect(() => judged([[1, 2, 3], [1, 2, 3]], 4)).toThrow('found 4 blocks and 3 time spans'); // prettier-ignore
});
