import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MEASURES,
  measuresOf,
  NO_SUMS,
  summed,
  upwards,
  type MeasureName,
} from '../../../../backtest/app/tune/measures.ts';
import { prunerBy, pruningBounds } from '../../../../backtest/app/tune/pruner.ts';
import type { TrialRecord } from '../../../../backtest/app/tune/registry.ts';
import type { StudyKeys } from '../../../../backtest/app/tune/studySchema.ts';
import { bestTrial, brokenConstraints, rankedTrials } from '../../../../backtest/app/tune/trialRanking.ts';
import { blocksOf } from '../../../../backtest/app/tune/trialRuns.ts';
import type { ReplayReport } from '../../../../backtest/index.ts';
import { between } from '../../../draws.ts';
import { runsOf } from '../../../many.ts';

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

test('the measures of a trial are the means, sums and maxima of its runs, each of its own field', () => {
  const amount = fc.integer({ min: 1, max: 1_000 });
  const run = fc.record({
    ...{ seconds: amount, net60s: fc.option(fc.integer({ min: -500, max: 500 })), net: fc.integer(), volume: amount },
    ...{ fills: fc.nat(99), placed: fc.nat(99), canceled: fc.nat(99), isHalted: fc.boolean(), drawdown: amount },
    ...{ meanSize: amount, mostSize: amount, both: between(0, 1) },
  });
  fc.assert(
    fc.property(
      fc.array(run, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      (all, runs, isFilled) => {
        const drawn = all.map(one => (isFilled ? one : { ...one, fills: 0 }));
        const reports = drawn.map(of => ({
          ...{
            seconds: of.seconds,
            fills: of.fills,
            net60s: of.net60s === null ? null : { total: of.net60s, fills: 1 },
          },
          ...{ pnl: { spread: '1', total: String(of.net) }, volume: { major: '2', minor: String(of.volume) } },
          ...{ haltedBecause: of.isHalted ? 'why' : null, drawdown: { most: String(of.drawdown), at: null } },
          ...{ position: { meanSize: of.meanSize, mostSize: of.mostSize }, uptime: { bid: 1, ask: 1, both: of.both } },
          requests: { placed: of.placed, canceled: of.canceled, overBudget: 7_000, lockedOut: 8_000 },
        })) as unknown as readonly ReplayReport[];
        const total = (of: (one: (typeof drawn)[number]) => number): number =>
          drawn.reduce((sum, one) => sum + of(one), 0);
        const most = (of: (one: (typeof drawn)[number]) => number): number => Math.max(...drawn.map(of));
        const found = measuresOf([reports.reduce((sums, report) => summed(sums, report, runs), NO_SUMS)]);
        const [seconds, fills] = [total(one => one.seconds), total(one => one.fills)];
        const requests = total(one => one.placed + one.canceled);
        const wanted: Record<MeasureName, number> = {
          net60s: total(one => one.net60s ?? 0) / runs,
          net: total(one => one.net) / runs,
          volume: total(one => one.volume) / runs,
          fills: fills / runs,
          uptime: total(one => one.both * one.seconds) / seconds,
          drawdown: most(one => one.drawdown),
          inventoryMost: most(one => one.mostSize),
          inventoryMean: total(one => one.meanSize * one.seconds) / seconds,
          // Without a fill, all requests count.
          orderToTrade: fills === 0 ? requests / runs : requests / fills,
          halts: drawn.filter(one => one.isHalted).length,
        };
        for (const name of Object.keys(MEASURES) as MeasureName[])
          expect(Math.abs(found[name] - wanted[name]), name).toBeLessThanOrEqual(
            1e-7 * Math.max(1, Math.abs(wanted[name])),
          );
      },
    ),
    runsOf(500, 100),
  );
});

test('the best trial is the first of those that finished within all bounds, which belong to them', () => {
  const value = fc.integer({ min: 0, max: 4 });
  const trial = fc.record({
    state: fc.constantFrom('done', 'done', 'done', 'pruned', 'failed'),
    ...{ net60s: value, drawdown: value, fills: value },
  });
  const bounds = fc.record({ min: value, max: value }, { requiredKeys: [] });
  const constraints = fc.record({ fills: bounds, drawdown: bounds }, { requiredKeys: [] });
  const objectives = fc.constantFrom<MeasureName[]>(['net60s'], ['drawdown'], ['drawdown', 'net60s']);
  fc.assert(
    fc.property(fc.array(trial, { maxLength: 12 }), constraints, objectives, (drawn, limits, names) => {
      const made = drawn.map(({ state, ...values }, number): TrialRecord => {
        const measures = state === 'done' ? { ...measuresOf([NO_SUMS]), ...values } : null;
        return { kind: 'trial', number, state, measures } as unknown as TrialRecord;
      });
      const keys = { objectives: names, constraints: limits } as unknown as StudyKeys;
      const breaks = (values: (typeof drawn)[number], name: 'fills' | 'drawdown'): boolean =>
        limits[name] !== undefined &&
        (values[name] < (limits[name].min ?? -1) || values[name] > (limits[name].max ?? 99));
      const [first] = names as ['net60s' | 'drawdown'];
      const feasible = drawn
        .map((values, number) => ({ values, number }))
        .filter(({ values }) => values.state === 'done' && !breaks(values, 'fills') && !breaks(values, 'drawdown'));
      const worth = ({ values }: (typeof feasible)[number]): number => (first === 'drawdown' ? -1 : 1) * values[first];
      const wanted = [4, 3, 2, 1, 0, -1, -2, -3, -4].flatMap(x => feasible.filter(one => worth(one) === x));
      expect(rankedTrials(made, keys).map(({ number }) => number)).toEqual(
        // 0 and -0 are one worth.
        [...new Set(wanted.map(({ number }) => number))],
      );
      expect(bestTrial(made, keys)?.number).toBe(wanted[0]?.number);
      for (const [number, values] of drawn.entries())
        if (values.state === 'done')
          expect(brokenConstraints(made[number]!, keys.constraints)).toEqual(
            (['fills', 'drawdown'] as const).filter(name => breaks(values, name)),
          );
      expect([upwards('net60s', 3), upwards('drawdown', 3), upwards('drawdown', 0)]).toEqual([3, -3, 0]);
    }),
    runsOf(1_000, 200),
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

  test('judges a trial by its best value so far: of sums, by the mean of the pieces, and of others as they are', () => {
    const values = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 3, maxLength: 3 });
    const bounds = fc.array(fc.option(fc.integer({ min: -30, max: 30 })), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(
        fc.array(values, { minLength: 1, maxLength: 5 }),
        bounds,
        fc.integer({ min: 1, max: 3 }),
        fc.boolean(),
        (courses, least, piece, adds) => {
          const running = courses.map((course, n) => ({ number: n + 7, soFar: course.slice(0, piece) }));
          const pruned = prunerBy(least, adds ? 'net60s' : 'uptime')(piece, running);
          const bound = least[piece - 1];
          const behind = running.filter(
            ({ soFar }) =>
              bound !== null &&
              bound !== undefined &&
              soFar.every((value, i) => (adds ? value / (i + 1) : value) < bound),
          );
          expect([...pruned.keys()]).toEqual(behind.map(({ number }) => number));
          for (const why of pruned.values()) expect(why).toContain(`after piece ${piece} of the recordings`);
        },
      ),
      runsOf(500, 100),
    );
  });
});
