/** Numbers of a report beside sums over the rows that the same run wrote, and the words that its numbers allow. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reportOf, reportPage, shownModels, tilesTextOf, type ReplayReport } from '../../backtest/index.ts';
import { RATIO_DAYS } from '../../backtest/collect/returns.ts';
import type { Hour } from '../../backtest/collect/hours.ts';
import { headlineOf } from '../../backtest/report/headline.ts';
import { daysOf, periodsOf } from '../../backtest/report/periods.ts';
import { verdictOf } from '../../backtest/report/summary.ts';
import { money, textOfMoney, type Profit } from '../../src/core/index.ts';
import { between } from '../draws.ts';
import { run, tape, type Run } from './ladderRun.ts';
import { whole } from './reports.ts';

const sum = (values: readonly number[]): number => values.reduce((total, x) => total + x, 0);
const RUNS = (['expected', 'optimistic'] as const).map(model => [model, run({ model })] as const);
const base = reportOf(tape.instrument, RUNS[0]![1].result);

describe.each(RUNS)('the report of a run under the %s model', (_, { result, fills, orders }: Run) => {
  const report = reportOf(tape.instrument, result);

  test('counts the fills and their value as its rows do', () => {
    expect(fills.length).toBeGreaterThan(10);
    expect(report.fills).toBe(fills.length);
    expect(Number(report.volume.minor)).toBeCloseTo(sum(fills.map(({ value }) => Number(value))), 4);
    expect(Number(report.volume.major)).toBeCloseTo(sum(fills.map(({ amount }) => Number(amount))), 8);
    expect(report.fillsPerDay).toBeCloseTo((fills.length * 86_400) / report.seconds, 3);
    const { placed, canceled } = report.requests;
    expect(report.orderToTrade).toBeCloseTo((placed + canceled) / fills.length, 6);
    const fees = fills.map(({ side, price, fee }) => Number(fee) * (side === 'buy' ? Number(price) : 1));
    expect(Number(report.pnl.fees)).toBeCloseTo(-sum(fees), 0);
    expect(report.feesBps).toBeCloseTo((10_000 * sum(fees)) / Number(report.volume.minor), 2);
  });

  test('values capital and a held position at the first and the last mid price that is known', () => {
    const { columns } = report.series;
    const middle = [null, 1_400_000, null, 1_500_000, null];
    const { capital, hold } = headlineOf(tape.instrument, result, { ...columns, middle });
    expect(capital).toMatchObject({ major: '2', minor: '4000000', value: 6_800_000 });
    expect(capital.returnPct).toBeCloseTo((100 * Number(report.pnl.total)) / 6_800_000, 6);
    const most = Math.max(...[...columns.positionLeast, ...columns.positionMost].map(held => Math.abs(held ?? 0)));
    expect([hold.amount, hold.total]).toEqual([most, expect.closeTo(100_000 * most, 3)]);
  });

  test('has in each bucket of time the amount and the mean price of the fills of each side', () => {
    const { fromMs, everyMs, columns } = report.series;
    const byBucket = new Map<number, (typeof fills)[number][]>();
    for (const fill of fills) {
      const bucket = Math.floor((fill.at - fromMs) / everyMs);
      byBucket.set(bucket, [...(byBucket.get(bucket) ?? []), fill]);
    }
    for (const [side, amounts, prices] of [
      ['buy', columns.bought, columns.boughtAt],
      ['sell', columns.sold, columns.soldAt],
    ] as const)
      for (const [i, amount] of amounts.entries()) {
        const own = (byBucket.get(i) ?? []).filter(fill => fill.side === side);
        const bought = sum(own.map(fill => Number(fill.amount)));
        expect(amount ?? 0).toBeCloseTo(bought, 7);
        if (own.length === 0) expect(prices[i]).toBeNull();
        else expect(prices[i]).toBeCloseTo(sum(own.map(({ value }) => Number(value))) / bought, 1);
      }
  });

  test('has for each level the orders with a fill, and those that are filled completely', () => {
    const whole_ = new Set(orders.filter(({ amount, filled }) => amount === filled).map(({ orderId }) => orderId));
    for (const level of report.levels) {
      const own = fills.filter(fill => fill.side === level.side && fill.level === level.level);
      const ids = new Set(own.map(({ orderId }) => orderId));
      expect(level.touched).toBe(ids.size);
      expect(level.filled).toBe([...ids].filter(id => whole_.has(id)).length);
      expect(level.fillRatio).toBeCloseTo(ids.size / level.orders, 8);
    }
    expect(sum(report.levels.map(({ touched }) => touched))).toBeGreaterThan(0);
  });
});

test('days have the sums of their hours, and the share of their samples with both sides quoted', () => {
  const hour = fc.record({
    looks: fc.integer({ min: 0, max: 3_600 }),
    both: between(0, 1),
    fills: fc.nat(9),
    value: fc.nat(1_000),
    gain: fc.integer({ min: -50, max: 50 }),
  });
  const profitOf = (gain: number): Profit => ({
    ...{ spread: money(BigInt(gain)), inventory: money(2n * BigInt(gain)), fees: money(1n), hedging: money(0n) },
    total: money(3n * BigInt(gain) + 1n),
  });
  const HOUR = 3_600_000;
  fc.assert(
    fc.property(fc.array(hour, { minLength: 1, maxLength: 60 }), fc.nat(23), (drawn, startsAt) => {
      const hours = drawn.map(({ looks, both, fills, value, gain }, n): Hour => ({
        ...{ from: (startsAt + n) * HOUR, to: (startsAt + n + 1) * HOUR, profit: profitOf(gain), fills, looks },
        ...{ value: money(BigInt(value)), bothLooks: Math.floor(both * looks) },
      }));
      const days = periodsOf(daysOf(hours));
      expect(new Set(days.map(({ from }) => from.slice(0, 10))).size).toBe(days.length);
      for (const day of days) {
        const own = hours.filter(({ from }) => new Date(from).toISOString().slice(0, 10) === day.from.slice(0, 10));
        const looks = sum(own.map(each => each.looks));
        const share = looks === 0 ? null : Number((sum(own.map(each => each.bothLooks)) / looks).toFixed(4));
        const totals = own.reduce((total, { profit }) => total + profit.total, 0n);
        expect(day).toMatchObject({
          ...{ seconds: own.length * 3_600, fills: sum(own.map(each => each.fills)), both: share },
          volume: textOfMoney(money(own.reduce((total, { value }) => total + value, 0n))),
          pnl: { total: textOfMoney(money(totals)) },
        });
      }
      expect(sum(days.map(({ seconds }) => seconds))).toBe(3_600 * hours.length);
    }),
    { numRuns: 60 },
  );
});

const modelled = (change: Partial<ReplayReport>): ReplayReport => ({ ...base, fills: 100, ...change });

test('what a fill kept after a minute is less its fee, and called uncertain up to two standard errors', () => {
  const number = between(-20, 20).map(x => Number(x.toFixed(2)));
  fc.assert(
    fc.property(number, between(0.1, 10), number, (mean, error, feesBps) => {
      const curve = { side: null, level: null, seconds: [0, 1, 60], bps: [0, 0, mean], errorBps: [0, 0, error] };
      const main = modelled({ markouts: [{ ...curve, fills: [9, 9, 9] }] as never, feesBps });
      const words = verdictOf(whole([main])).join(' ');
      const net = mean - feesBps;
      expect(words).toMatch(mean >= 0 ? /in favor of the fill/ : /against the fill/);
      expect(words).toMatch(net >= 0 ? /a fill gained / : /a fill lost /);
      expect(words.includes('which is less than two standard errors')).toBe(!(Math.abs(net) > 2 * error));
    }),
    { numRuns: 40 },
  );
});

test('the first screen has the drawdown as a share of the whole capital', () => {
  const capital = { major: '1', minor: '10', value: 200, returnPct: 0 };
  const tiles = tilesTextOf({ minor: 'mxn' }, modelled({ capital, drawdown: { most: '5', at: null } }));
  expect(tiles.find(({ name }) => name === 'drawdown')?.notes).toEqual(['2.5% of capital']);
});

test('models with equal results are one column, named and placed as they were run', () => {
  const of = (model: string, hash: string) => ({ model, hash });
  const models = [of('pessimistic', 'a'), of('optimistic', 'b'), of('expected', 'a'), of('power1', 'b')];
  expect(shownModels(models).map(({ model, label }) => [model, label])).toEqual([
    ['expected', 'pessimistic = expected'],
    ['optimistic', 'optimistic = power1'],
  ]);
});

test('a run is called too short for a yearly ratio exactly if it is', () => {
  const parts = { library: '', libraryStyle: '', script: '' };
  for (const [days, isShort] of [
    [RATIO_DAYS - 1, true],
    [RATIO_DAYS, false],
    [RATIO_DAYS + 1, false],
  ] as const) {
    const model = modelled({ seconds: days * 86_400, sharpe: null, sortino: null });
    expect(reportPage(whole([model]), parts).includes(`needs ${RATIO_DAYS} days`)).toBe(isShort);
  }
});
