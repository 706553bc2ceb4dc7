/** Laws of the sums of a shadow. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GAP_PARTS } from '../../../backtest/shadow/causes.ts';
import { ALARMS_MAX, SHADOW_HOURS_MAX, LARGEST_MAX, newMemory, type GapSums } from '../../../backtest/shadow/memory.ts';
import { shadowReport } from '../../../backtest/shadow/report.ts';
import { moneyOf } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';
import { shadowed } from './shadowed.ts';
import { INSTRUMENT, type Planted } from './world.ts';

const share = fc.integer({ min: 0, max: 100 }).map(percent => percent / 100);
const planted: fc.Arbitrary<Planted> = fc.record(
  {
    chargedRate: fc.integer({ min: 0, max: 500_000 }),
    placementsMs: fc.integer({ min: 0, max: 20_000 }),
    cancelsMs: fc.integer({ min: 0, max: 20_000 }),
    hiddenLots: fc.integer({ min: 0, max: 2_000_000 }),
    fillShare: share,
    clockMs: fc.integer({ min: -5_000, max: 5_000 }),
    bookLateMs: fc.integer({ min: 0, max: 20_000 }),
    missingTrades: share,
    hedgeBps: fc.integer({ min: -100, max: 100 }),
    worseTicks: fc.integer({ min: -3, max: 3 }),
  },
  { requiredKeys: [] },
);

const gapOf = ({ expected, actual }: GapSums): bigint => BigInt(actual) - BigInt(expected);
const partsOf = ({ parts }: GapSums): bigint => GAP_PARTS.reduce((sum, part) => sum + BigInt(parts[part]), 0n);

test('the parts of the gap add up to it exactly, and the hours to the total, whatever differs', () => {
  fc.assert(
    fc.property(fc.integer(), planted, fc.boolean(), (seed, plan, isPaper) => {
      const { memory } = shadowed({ seed, minutes: 20, planted: plan, isPaper });
      for (const sums of [memory.total, ...memory.hours]) expect(partsOf(sums)).toBe(gapOf(sums));
      expect(memory.hours.reduce((sum, hour) => sum + gapOf(hour), 0n)).toBe(gapOf(memory.total));
      const { total } = shadowReport(memory, INSTRUMENT, 'expected', 1);
      expect(GAP_PARTS.reduce((sum, part) => sum + moneyOf(total.parts[part]), 0n)).toBe(moneyOf(total.gap));
      expect(moneyOf(total.actual) - moneyOf(total.expected)).toBe(moneyOf(total.gap));
    }),
    runsOf(200, 15),
  );
});

test('the memory survives JSON, and continues over runs as if they were one', () => {
  const memory = newMemory();
  shadowed({ seed: 1, minutes: 30 }, memory);
  const copy = JSON.parse(JSON.stringify(memory)) as typeof memory;
  expect(copy).toEqual(memory);
  shadowed({ seed: 2, minutes: 30 }, memory);
  shadowed({ seed: 2, minutes: 30 }, copy);
  expect(copy).toEqual(memory);
  expect(memory.counts.orders).toBeGreaterThan(100);
});

test('each measured order is in one observation of the fills with those that end within 10 s, however short the run', () => {
  let observed = 0;
  fc.assert(
    fc.property(fc.integer(), planted, fc.integer({ min: 5, max: 300 }), (seed, plan, seconds) => {
      const groups: { readonly until: number; lots: number }[] = [];
      const nothing = (): void => undefined;
      const { memory } = shadowed({ seed, minutes: seconds / 60, planted: plan }, newMemory(), see => see, {
        ...{ rested: nothing, left: nothing, levelShown: nothing, traded: nothing },
        settled: ({ isMeasured, endedAt, filled, lots, measured }) => {
          if (!isMeasured) return;
          let group = groups.at(-1);
          if (group === undefined || endedAt! > group.until)
            groups.push((group = { until: endedAt! + 10_000, lots: 0 }));
          group.lots += filled + (measured.order === null ? 0 : lots - measured.order.left);
        },
      });
      const { count } = memory.detectors.fills;
      expect(count).toBe(groups.filter(({ lots }) => lots > 0).length);
      observed += count;
    }),
    runsOf(100, 15),
  );
  expect(observed).toBeGreaterThan(10);
});

test('the memory is bounded: its lists have maxima', () => {
  const memory = newMemory();
  for (let run = 0; run < 4; run++)
    shadowed({ seed: run, minutes: 60, planted: { chargedRate: 150_000, fillShare: 0.5 } }, memory);
  expect(memory.largest.length).toBe(LARGEST_MAX);
  expect(memory.alarms.length).toBeLessThanOrEqual(ALARMS_MAX);
  expect(memory.hours.length).toBeLessThanOrEqual(SHADOW_HOURS_MAX);
  expect(JSON.stringify(memory).length).toBeLessThan(200_000);
});
