/** Pruning, the Pareto front and the neighbours of an optimum, by examples and laws. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { neighboursOf, stabilityOf } from '../../../../backtest/tune/judge/stability.ts';
import { bestRun, stationaryInterval } from '../../../../backtest/tune/judge/stationaryInterval.ts';
import { meanOf } from '../../../../backtest/tune/judge/outOfSample.ts';
import { dominates, paretoFront, paretoRanks } from '../../../../backtest/tune/search/paretoFront.ts';
import { medianAfter } from '../../../../backtest/tune/search/medianStop.ts';
import type { Space } from '../../../../backtest/tune/search/space.ts';
import { normal, randomOf } from '../../../../src/core/index.ts';

describe('median stop', () => {
  const others = [[1, 1], [2, 2], [3, 3], [4, 4], [5, 5]]; // prettier-ignore
  test('goes by the median of what earlier trials averaged up to the same step', () => {
    expect(medianAfter(1, others)).toBe(3);
    expect(
      medianAfter(
        2,
        others.map(([first]) => [first!, 0]),
      ),
    ).toBe(1.5);
    expect(medianAfter(1, [...others, [6]])).toBe(3.5);
  });
  test('stops nothing before enough trials and steps', () => {
    expect(medianAfter(1, others.slice(1))).toBeNull();
    expect(medianAfter(1, others, { stepsMin: 2 })).toBeNull();
    expect(medianAfter(3, others)).toBeNull();
    expect(medianAfter(0, others)).toBeNull();
  });
});

test('a Pareto front has every point that none dominates and no other; fronts peel off one by one', () => {
  const points = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 })), { maxLength: 25 });
  fc.assert(
    fc.property(points, all => {
      const front = paretoFront(all);
      all.forEach((own, i) => expect(front.includes(i)).toBe(!all.some(other => dominates(other, own))));
      const ranks = paretoRanks(all);
      expect(ranks.flatMap((rank, i) => (rank === 0 ? [i] : []))).toEqual(front);
      all.forEach((own, i) => {
        if (ranks[i]! > 0)
          expect(all.some((other, j) => ranks[j] === ranks[i]! - 1 && dominates(other, own))).toBe(true);
      });
    }),
  );
  expect(paretoFront([[1, Number.NaN], [0, 0]])).toEqual([1]); // prettier-ignore
  expect(paretoRanks([[1, Number.NaN], [0, 0]])).toEqual([Infinity, 0]); // prettier-ignore
});

describe('stability', () => {
  const space: Space = [
    { key: 'kind', kind: 'choice', values: ['a', 'b'] },
    { key: 'wide', kind: 'linear', low: 0, high: 8, when: { key: 'kind', is: 'a' } },
    { key: 'levels', kind: 'integer', low: 1, high: 5 },
  ];
  test('looks one step each way, at other choices, and not beyond a bound', () => {
    expect(neighboursOf(space, { kind: 'a', wide: 2, levels: 1 })).toEqual([
      { key: 'kind', point: { kind: 'b', levels: 1 } },
      { key: 'wide', point: { kind: 'a', wide: 1.6, levels: 1 } },
      { key: 'wide', point: { kind: 'a', wide: 2.4, levels: 1 } },
      { key: 'levels', point: { kind: 'a', wide: 2, levels: 2 } },
    ]);
    expect(neighboursOf(space, { kind: 'b', levels: 3 })[0]).toEqual({
      key: 'kind',
      point: { kind: 'a', wide: 4, levels: 3 },
    });
  });
  test('is the share of neighbours that lose no more than allowed; a failed one is lost', () => {
    const told = [{ key: 'a', value: 9 }, { key: 'a', value: 7 }, { key: 'b', value: null }]; // prettier-ignore
    expect(stabilityOf(10, told, 2)).toEqual({
      share: 1 / 3,
      byKey: [
        { key: 'a', share: 0.5, worstLoss: 3 },
        { key: 'b', share: 0, worstLoss: Infinity },
      ],
    });
  });
});

describe('a stationary interval', () => {
  const chain = (seed: number, kept: number, count: number): readonly number[] => {
    const random = randomOf(seed);
    let x = 0;
    return Array.from({ length: count }, () => (x = kept * x + Math.sqrt(1 - kept * kept) * normal(random)));
  };
  test('takes longer runs the longer values hang together, and runs of about one where they do not', () => {
    const runs = [0, 0.5, 0.9].map(kept => meanOf([1, 2, 3, 4, 5].map(seed => bestRun(chain(seed, kept, 1000)))));
    expect(runs[0]).toBeLessThan(5);
    expect(runs[1]).toBeGreaterThan(runs[0]!);
    expect(runs[2]).toBeGreaterThan(2 * runs[1]!);
    expect(bestRun([1, 1, 1, 1, 1])).toBe(1);
  });
  test('holds the mean of values that hang together in 85 of 100 samples and more, where single draws hold it in fewer than 70', () => {
    const held = (single: boolean): number =>
      Array.from({ length: 100 }, (_, seed) => {
        const options = { random: randomOf(seed), samples: 300, ...(single ? { meanRun: 1 } : {}) };
        const { low, high } = stationaryInterval(chain(seed, 0.7, 600), meanOf, options)!;
        return low <= 0 && 0 <= high;
      }).filter(Boolean).length;
    expect(held(false)).toBeGreaterThanOrEqual(85);
    expect(held(true)).toBeLessThan(70);
  });
});
