import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MEASURES, measuresOf, NO_SUMS, type MeasureName } from '../../../../backtest/app/tune/measures.ts';
import { prunerBy, pruningBounds } from '../../../../backtest/app/tune/pruner.ts';
import type { TrialRecord } from '../../../../backtest/app/tune/registry.ts';
import type { StudyKeys } from '../../../../backtest/app/tune/studySchema.ts';
import { blocksOf } from '../../../../backtest/app/tune/trialRuns.ts';
import { between } from '../../../draws.ts';

describe('blocks of a piece', () => {
  const run = (fromS: number, seconds: number, after60: readonly number[]) => ({
    from: new Date(1_000 * fromS).toISOString(),
    stretches: { seconds, after60, net: [] },
  });

  test('add up to what all runs brought on average, whenever each began', () => {
    const starts = fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 4 });
    const values = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(starts, values, fc.integer({ min: 1, max: 40 }), (begins, after60, blocks) => {
        const runs = begins.map(begin => run(begin, (3_600 - begin) / after60.length, after60));
        const found = blocksOf({ from: 0, to: 3_600_000, blocks }, runs);
        const sum = (of: readonly number[]) => of.reduce((all, x) => all + x, 0);
        expect(found).toHaveLength(blocks);
        expect(sum(found)).toBeCloseTo(sum(after60), 3);
      }),
    );
  });

  test('are the stretches themselves where they are as long', () => {
    expect(blocksOf({ from: 0, to: 240_000, blocks: 4 }, [run(0, 60, [1, 2, 3, 4])])).toEqual([1, 2, 3, 4]);
    expect(blocksOf({ from: 0, to: 240_000, blocks: 4 }, [run(120, 60, [8, 4])])).toEqual([0, 0, 8, 4]);
    expect(blocksOf({ from: 0, to: 240_000, blocks: 2 }, [run(60, 60, [8, 4, 2])])).toEqual([8, 6]);
  });
});

test('each measure is the worse of the fill models', () => {
  const one = { ...NO_SUMS, net60s: 5, fills: 9, drawdown: 3, inventoryMost: 1, seconds: 10, quotedSeconds: 9 };
  const other = { ...NO_SUMS, net60s: 7, fills: 4, drawdown: 8, inventoryMost: 2, seconds: 10, quotedSeconds: 8 };
  expect(measuresOf([one, other])).toMatchObject({ net60s: 5, fills: 4, drawdown: 8, inventoryMost: 2, uptime: 0.8 });
  const number = between(0, 1e6);
  const sums = fc.record(
    Object.fromEntries(Object.keys(NO_SUMS).map(key => [key, number])) as Record<keyof typeof NO_SUMS, typeof number>,
  );
  fc.assert(
    fc.property(sums, sums, (a, b) => {
      const [both, alone] = [measuresOf([a, b]), measuresOf([a])];
      for (const name of Object.keys(MEASURES) as MeasureName[])
        expect(MEASURES[name].better === 'more' ? both[name] <= alone[name] : both[name] >= alone[name], name).toBe(
          true,
        );
    }),
  );
});

describe('a pruner', () => {
  const done = (soFar: readonly number[]) => ({ state: 'done', soFar }) as unknown as TrialRecord;
  const keys = { objectives: ['net60s'], pruning: { startAfterTrials: 3, afterPieces: 1 } } as unknown as StudyKeys;
  const made = [done([10, 20]), done([20, 40]), done([30, 60])];
  const trials = [
    { number: 5, soFar: [5] },
    { number: 6, soFar: [25] },
  ];

  const prunerOf = (of: StudyKeys, earlier: readonly TrialRecord[]) => prunerBy(pruningBounds(of, earlier), 'net60s');

  test('stops what is behind the median of earlier trials, once there are enough of them', () => {
    expect([...prunerOf(keys, made)(1, trials).keys()]).toEqual([5]);
    expect(prunerOf(keys, made.slice(1))(1, trials).size).toBe(0);
  });

  test('stops nothing with several objectives, nor where it is off', () => {
    expect(prunerOf({ ...keys, objectives: ['net60s', 'fills'] }, made)(1, trials).size).toBe(0);
    expect(prunerOf({ ...keys, pruning: false }, made)(1, trials).size).toBe(0);
  });
});
