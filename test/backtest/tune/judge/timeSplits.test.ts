/** Splits in time: nothing that is chosen on can know what is judged, and the paths go everywhere once. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseAndJudge, meanOf, pathResults } from '../../../../backtest/tune/judge/outOfSample.ts';
import {
  combinationsOf,
  combinatorialSplits,
  walkForwardSplits,
  type ResultSpan,
} from '../../../../backtest/tune/judge/timeSplits.ts';

/** Spans that begin one after the other and reach some way past the next ones. */
const SPANS = fc
  .array(fc.record({ gap: fc.integer({ min: 0, max: 5 }), length: fc.integer({ min: 0, max: 12 }) }), {
    minLength: 8,
    maxLength: 60,
  })
  .map(steps => {
    let from = 0;
    return steps.map(({ gap, length }): ResultSpan => ({ from: (from += gap), to: from + length }));
  });

test('six groups of which two are judged in: 15 splits and 5 paths, as in the book', () => {
  const spans = Array.from({ length: 12 }, (_, i) => ({ from: i, to: i }));
  const { groups, splits, paths } = combinatorialSplits(spans, { groups: 6 });
  expect([groups.length, splits.length, paths.length]).toEqual([6, 15, 5]);
  expect(splits[0]).toEqual({ groups: [0, 1], train: [4, 5, 6, 7, 8, 9, 10, 11], test: [0, 1, 2, 3] });
});

test('a label that reaches into what is judged is purged, and what begins within the embargo after it too', () => {
  const spans = Array.from({ length: 9 }, (_, i) => ({ from: 10 * i, to: 10 * i + 12 }));
  const { splits } = combinatorialSplits(spans, { groups: 3, tested: 1, embargo: 15 });
  // The middle group is 30 to 62: what began at 20 ends at 32 in it; what begins at 60 overlaps, 70 lies in the embargo until 77.
  expect(splits[1]).toEqual({ groups: [1], train: [0, 1, 8], test: [3, 4, 5] });
  expect(combinatorialSplits(spans, { groups: 3, tested: 1 }).splits[1]!.train).toEqual([0, 1, 7, 8]);
});

test('nothing chosen on overlaps with anything judged in or begins within the embargo after it, and nothing else is left out', () => {
  fc.assert(
    fc.property(SPANS, fc.integer({ min: 2, max: 6 }), fc.integer({ min: 0, max: 20 }), (spans, groups, embargo) => {
      for (const { train, test: judged } of combinatorialSplits(spans, { groups, tested: 1, embargo }).splits) {
        const stretch = {
          from: Math.min(...judged.map(i => spans[i]!.from)),
          to: Math.max(...judged.map(i => spans[i]!.to)),
        };
        const isFree = ({ from, to }: ResultSpan): boolean => to < stretch.from || from > stretch.to + embargo;
        expect(train).toEqual(spans.flatMap((span, i) => (isFree(span) && !judged.includes(i) ? [i] : [])));
      }
      for (const { train, test: judged } of combinatorialSplits(spans, {
        groups,
        tested: Math.min(2, groups - 1),
        embargo,
      }).splits) {
        for (const i of train) {
          for (const j of judged) {
            const [own, other] = [spans[i]!, spans[j]!];
            expect(own.to < other.from || own.from > other.to + embargo).toBe(true);
          }
        }
      }
    }),
  );
});

test('every path takes each group once, from a split that judges in it, and no two paths take the same', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 8 }), fc.integer({ min: 1, max: 4 }), (groups, size) => {
      const tested = Math.min(size, groups - 1);
      const spans = Array.from({ length: 2 * groups }, (_, i) => ({ from: i, to: i }));
      const { splits, paths } = combinatorialSplits(spans, { groups, tested });
      expect(splits).toHaveLength(combinationsOf(groups, tested).length);
      expect(paths).toHaveLength(combinationsOf(groups - 1, tested - 1).length);
      const taken = paths.flatMap(path => path.map((split, group) => `${split} ${group}`));
      expect(new Set(taken).size).toBe(splits.length * tested);
      for (const path of paths) path.forEach((split, group) => expect(splits[split]!.groups).toContain(group));
    }),
  );
});

test('walk-forward chooses on what had ended before, all of it or a window', () => {
  const spans = Array.from({ length: 12 }, (_, i) => ({ from: 10 * i, to: 10 * i + 12 }));
  const all = walkForwardSplits(spans, { folds: 3 });
  expect(all).toEqual([
    { train: [0, 1], test: [3, 4, 5] },
    { train: [0, 1, 2, 3, 4], test: [6, 7, 8] },
    { train: [0, 1, 2, 3, 4, 5, 6, 7], test: [9, 10, 11] },
  ]);
  expect(walkForwardSplits(spans, { folds: 3, window: 1, embargo: 10 })[2]).toEqual({ train: [6], test: [9, 10, 11] });
});

test('numbers that do not fit are told', () => {
  const spans = [{ from: 0, to: 1 }, { from: 1, to: 2 }, { from: 2, to: 3 }]; // prettier-ignore
  expect(() => combinatorialSplits(spans, { groups: 4 })).toThrow(
    'expected at least 2 groups, and at most one group per time span, found 4',
  );
  expect(() => combinatorialSplits(spans, { groups: 3, tested: 3 })).toThrow('fewer than all 3 groups, found 3');
  expect(() => walkForwardSplits(spans, { folds: 3 })).toThrow('found 3 folds');
  expect(() => combinatorialSplits([{ from: 1, to: 0 }, ...spans], { groups: 2 })).toThrow(
    'time span 0 is from 1 to 0',
  );
  expect(() => combinatorialSplits([...spans, { from: 0, to: 9 }], { groups: 2 })).toThrow(
    'time span 3 is from 0 to 9',
  );
});

test('a path is made of what was chosen elsewhere: a configuration that is good in one group alone is not chosen for it', () => {
  const spans = Array.from({ length: 4 }, (_, i) => ({ from: i, to: i }));
  const results = [[9, 0, 0, 0], [1, 1, 1, 1]]; // prettier-ignore
  const cross = combinatorialSplits(spans, { groups: 4, tested: 1 });
  const [path, ...more] = pathResults(results, cross, meanOf);
  expect(more).toEqual([]);
  // Without the first group the second configuration is better; with it the first.
  expect(path).toEqual({ value: 0.25, values: [1, 0, 0, 0], chosen: [1, 0, 0, 0] });
  expect(chooseAndJudge(results, { train: [], test: [1] }, meanOf)).toBeNull();
  expect(chooseAndJudge(results, { train: [0], test: [1] }, meanOf)).toEqual({
    chosen: 0,
    inSample: 9,
    outOfSample: 0,
    values: [0],
  });
});
