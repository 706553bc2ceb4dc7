import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Buckets, BUCKETS_MAX, type Keep } from '../../backtest/collect/buckets.ts';
import { Collector, type SeriesName } from '../../backtest/collect/collect.ts';
import { Durations, TimeByValue } from '../../backtest/collect/distributions.ts';
import { SimulatedExchange } from '../../backtest/exchange/simulatedExchange.ts';
import { makerBpsOf, constantLatency, fillModel, reportOf, RowBuilder } from '../../backtest/index.ts';
import { MESSAGE } from '../../backtest/exchange/messageRing.ts';
import { OrderPool } from '../../backtest/exchange/ownOrders.ts';
import { netAfterMinute, stretchesOf } from '../../backtest/report/headline.ts';
import { RequestBudget } from '../../backtest/exchange/requestBudget.ts';
import { Returns } from '../../backtest/collect/returns.ts';
import { BUY, SELL } from '../../backtest/rows/rows.ts';
import { NO_WATCHER } from '../../backtest/exchange/watcher.ts';
import {
  ClusteredMean,
  HORIZONS,
  instrumentOf,
  Markouts,
  money,
  moneyOf,
  textOfMoney,
  type Amount,
  type Side,
  type Strategy,
} from '../../src/core/index.ts';
import { engineOf, rows, run, tape } from './ladderRun.ts';
import { rowsOf, syntheticMarket } from './syntheticMarket.ts';
import { runsOf } from '../many.ts';
import { between } from '../draws.ts';

describe('stretches of time', () => {
  const puts = fc.array(fc.tuple(fc.nat({ max: 20_000 }), between(-1e6, 1e6)), {
    minLength: 1,
    maxLength: 200,
  });
  const combine: Record<Keep, (values: readonly number[]) => number> = {
    last: values => values.at(-1) ?? Number.NaN,
    min: values => (values.length > 0 ? Math.min(...values) : Number.NaN),
    max: values => (values.length > 0 ? Math.max(...values) : Number.NaN),
    sum: values => values.reduce((total, value) => total + value, 0),
  };

  test('hold what a plain grouping by their final width gives, and never more than so many', () => {
    fc.assert(
      fc.property(puts, unsorted => {
        const sorted = [...unsorted].sort((a, b) => a[0] - b[0]);
        const buckets = new Buckets(0, 1, { last: 'last', min: 'min', max: 'max', sum: 'sum' });
        for (const [at, value] of sorted)
          for (const name of ['last', 'min', 'max', 'sum'] as const) buckets.put(name, at, value);
        expect(buckets.length).toBeLessThanOrEqual(BUCKETS_MAX);
        for (const name of ['last', 'min', 'max', 'sum'] as const) {
          buckets.column(name).forEach((found, i) => {
            const inside = sorted.filter(([at]) => Math.floor(at / buckets.width) === i).map(([, value]) => value);
            const wanted = combine[name](inside);
            if (Number.isNaN(wanted)) expect(found).toBeNaN();
            else expect(found).toBeCloseTo(wanted, 3);
          });
        }
      }),
      runsOf(60, 20),
    );
  });

  test('of a run have the gains, the fees and the markouts of their own fills; a fill without a markout has the mean of the others', () => {
    const fill = fc.record({
      second: fc.nat({ max: 959 }),
      value: fc.integer({ min: 1, max: 5_000 }),
      bps: fc.option(between(-50, 50), { freq: 3 }),
      fee: between(-3, 3),
      gain: between(-9, 9),
    });
    const total = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0);
    fc.assert(
      fc.property(
        fc.array(fill, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 16 }),
        (drawn, minutes) => {
          const fills = drawn.map(one => ({ ...one, second: one.second % (60 * minutes) }));
          fills.sort((a, b) => a.second - b.second);
          const series = new Buckets<SeriesName>(0, 1_000, {
            ...(Object.fromEntries(['profit', 'fees'].map(name => [name, 'last'])) as Record<SeriesName, Keep>),
            kept60: 'sum',
            hedged60: 'sum',
          });
          let [fees, profit] = [0, 0];
          for (const { second, value, bps, fee, gain } of fills) {
            series.put('profit', 1_000 * second, (profit += gain));
            series.put('fees', 1_000 * second, (fees += fee));
            if (bps !== null) series.put('kept60', 1_000 * second, (bps * value) / 1e4);
          }
          series.put('kept60', 60_000 * minutes - 1, 0);
          const known = fills.filter(({ bps }) => bps !== null);
          const [traded, settled] = [fills, known].map(of => total(of.map(({ value }) => value))) as [number, number];
          const keptOf = (of: typeof fills): number => total(of.map(({ bps, value }) => ((bps ?? 0) * value) / 1e4));
          // The total has nine digits: markouts that all but cancel each other out leave too few of them.
          const sizes = total(known.map(one => Math.abs(keptOf([one]))));
          fc.pre(known.length === 0 || Math.abs(keptOf(known)) > 0.05 * sizes);
          const bps = known.length === 0 ? null : (1e4 * keptOf(known)) / settled;
          const curve = {
            side: null,
            level: null,
            seconds: [0, 60],
            bps: [0, bps],
            fills: [fills.length, known.length],
          };
          const net = netAfterMinute([curve] as never, (-1e4 * fees) / traded, traded);
          const collected = { series, profit: { fees: moneyOf(fees.toFixed(15)) } } as never;
          const found = stretchesOf(collected, net, 60 * minutes);
          expect([found.seconds, found.net.length, found.after60.length]).toEqual([60, minutes, minutes]);
          for (let minute = 0; minute < minutes; minute++) {
            const own = fills.filter(({ second }) => Math.floor(second / 60) === minute);
            const paid = total(own.map(({ fee }) => fee));
            const kept = known.length === 0 ? 0 : (keptOf(own) * traded) / settled;
            expect(found.net[minute]).toBeCloseTo(total(own.map(({ gain }) => gain)), 5);
            expect(found.after60[minute]).toBeCloseTo(kept + paid, 3);
          }
          // Together they are the whole of the run.
          expect(total(found.net)).toBeCloseTo(profit, 5);
          if (net !== null) expect(total(found.after60)).toBeCloseTo(net.total, 3);
          expect(net?.fills).toBe(known.length === 0 ? undefined : known.length);
        },
      ),
      runsOf(300, 60),
    );
  });
});

describe('distributions', () => {
  test('of time by value: the times add up, and none is further than half a bar from its value', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(between(-1e7, 1e7), fc.nat({ max: 1000 })), { minLength: 1 }), list => {
        const held = new TimeByValue(1);
        for (const [value, time] of list) held.add(value, time);
        const { width, values, times } = held.bars();
        const total = list.reduce((sum, [, time]) => sum + time, 0);
        expect(times.reduce((sum, time) => sum + time, 0)).toBeCloseTo(total, 6);
        const mean = list.reduce((sum, [value, time]) => sum + value * time, 0);
        const shown = times.reduce((sum, time, i) => sum + time * (values[i] ?? 0), 0);
        // Each widening moves a value by at most a bar; the sum of all of them is below one of the last width.
        expect(Math.abs(shown - mean)).toBeLessThanOrEqual(width * total + 1e-6);
      }),
      runsOf(200, 60),
    );
  });

  test('of durations: a quantile is within 4% of the true one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 300 }),
        fc.constantFrom(0.1, 0.5, 0.9, 1),
        (list, share) => {
          const durations = new Durations();
          for (const ms of list) durations.add(ms);
          const exact = [...list].sort((a, b) => a - b)[Math.ceil(share * list.length - 1e-9) - 1] ?? 0;
          expect(Math.abs((durations.quantile(share) ?? 0) / exact - 1)).toBeLessThan(0.04);
          const { share: shares } = durations.curve();
          expect(shares.at(-1)).toBeCloseTo(1, 12);
        },
      ),
      runsOf(200, 60),
    );
    expect(new Durations().quantile(0.5)).toBe(null);
  });
});

describe('markouts', () => {
  const settled = (work: (markouts: Markouts) => void) => {
    const markouts = new Markouts();
    work(markouts);
    return markouts.curves();
  };

  test('are what a hand computes: bought at 100 with the middle at 101, then at 102 and at 99', () => {
    const [all, buys, sells, level] = settled(markouts => {
      markouts.fill(0, 'buy', 1, 100, 50, 101);
      expect(markouts.dueAt).toBe(100);
      for (const at of [100, 500, 1000, 5000]) markouts.advanceTo(at, 102);
      expect(markouts.dueAt).toBe(15_000);
      markouts.advanceTo(15_000, 99);
      markouts.advanceTo(60_000, 0);
    });
    expect(all?.bps).toEqual([100, 200, 200, 200, 200, -100, null, null]);
    expect(buys?.bps).toEqual(all?.bps);
    expect(sells?.bps).toEqual(HORIZONS.map(() => null));
    expect(level).toMatchObject({ side: 'buy', level: 2, fills: [1, 1, 1, 1, 1, 1, 0, 0] });
    expect(all?.errorBps).toEqual(HORIZONS.map(() => null));
  });

  test('weigh by value, and change sign with the side', () => {
    const both = (side: Side) =>
      settled(markouts => {
        markouts.fill(0, side, 0, 1000, 10, 1000);
        markouts.advanceTo(1000, 1001);
        markouts.fill(70_000, side, 0, 1000, 30, 1000);
        markouts.advanceTo(71_000, 1005);
      })[0];
    // One minute after the first fill is settled at 71 s too: at 5 ticks.
    expect(both('buy')?.bps[3]).toBeCloseTo((10 * 10 + 30 * 50) / 40, 9);
    expect(both('sell')?.bps[3]).toBeCloseTo(-(10 * 10 + 30 * 50) / 40, 9);
  });

  test('have the error of a ratio of sums over clusters: two clusters by hand', () => {
    const mean = new ClusteredMean();
    mean.add(1, 1, 0);
    mean.add(3, 1, 0);
    mean.add(8, 2, 1);
    // The mean is 5; the clusters miss it by -6 and +6; correction 2, weight 4.
    expect(mean.mean()).toBe(5);
    expect(mean.error()).toBeCloseTo(Math.sqrt(2 * 72) / 4, 12);
  });

  test('settle every fill once, in order, whatever the times', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 400_000 }), { minLength: 1, maxLength: 300 }), times => {
        const sorted = [...times].sort((a, b) => a - b);
        const markouts = new Markouts();
        const end = 1_000_000;
        for (const at of sorted) {
          while (markouts.dueAt <= at) markouts.advanceTo(markouts.dueAt, 1000 + markouts.dueAt / 1000);
          markouts.fill(at, 'sell', 0, 1000, 1, 1000 + at / 1000);
        }
        while (markouts.dueAt <= end) markouts.advanceTo(markouts.dueAt, 1000 + markouts.dueAt / 1000);
        expect(markouts.dueAt).toBe(Infinity);
        const [all] = markouts.curves();
        expect(all?.fills).toEqual(HORIZONS.map(() => times.length));
        const average = times.reduce((sum, at) => sum + at, 0) / times.length;
        all?.bps.forEach((bps, h) => expect(bps).toBeCloseTo(-10 * (average / 1000 + (HORIZONS[h] ?? 0)), 4));
      }),
      runsOf(40, 15),
    );
  });
});

test('returns by the minute: mean over deviation, scaled to a year; nothing from less than thirty days', () => {
  const returns = new Returns(0);
  for (let minute = 1; minute <= 43_200; minute++) {
    if (minute === 43_200) expect(returns.sharpe()).toBe(null);
    returns.look(minute * 60_000, Math.ceil(minute / 2) * 3 - Math.floor(minute / 2));
  }
  // Gains of +3 and -1 by turns: mean 1, deviation 2, root of the mean squared loss the root of a half.
  expect(returns.sharpe()).toBeCloseTo(0.5 * Math.sqrt(525_600), 6);
  expect(returns.sortino()).toBeCloseTo(Math.SQRT2 * Math.sqrt(525_600), 6);
});

test('the budget says how much of it is in use', () => {
  const budget = new RequestBudget(3);
  expect(budget.usedAt(0)).toBe(0);
  budget.take(0, 1);
  budget.take(10_000, 2);
  expect([budget.usedAt(10_000), budget.usedAt(60_000), budget.usedAt(70_000)]).toEqual([3, 2, 0]);
});

describe('what is gathered of a replay', () => {
  const instrument = instrumentOf({ ...tape.rules, book: 'btc_mxn' });
  const noFee = { tiers: [{ volume: '0', maker: '0.001', taker: '0.001' }], volume30d: '0' };

  test('is what a hand computes: one buy, then the market rises', () => {
    const builder = new RowBuilder();
    const [bid, ask, amount] = [100_000, 100_020, 1e8];
    builder.add(0, 0, bid, amount, 0);
    builder.add(0, 0, ask, amount, 2);
    // A taker sells one bitcoin through our bid of 100,005.
    builder.add(2_500, 2_500, 100_000, 1e8, 3);
    builder.add(3_000, 3_000, 100_040, amount, 0);
    builder.add(3_000, 3_000, ask, 0, 2);
    builder.add(3_000, 3_000, 100_060, amount, 2);
    builder.add(10_000, 10_000, 90_000, amount, 0);
    const rows = builder.rows();
    const collector = new Collector({
      instrument,
      from: 0,
      to: 10_000,
      gaps: [],
      fees: noFee,
      budget: new RequestBudget(10),
      base: rows.base,
      opening: money(0n),
    });
    const exchange = new SimulatedExchange(rows, fillModel('expected', rows), constantLatency(0, 0), collector);
    const order = new OrderPool().take(BUY, 100_005 - rows.base, 1e7);
    order.level = 1;
    exchange.requests.push(900, MESSAGE.place, order, 1e7, 900, 0);
    exchange.runTo(10_000);
    const { profit, position, levels, markouts, positionTime, series, drawdown, spreads } = collector.end();
    const tick = instrument.tickMoney;
    // Bought 0.1 five ticks below the middle of 100,010; the middle then rose by 40, for what was left after the fee of 0.1%.
    expect(textOfMoney(profit.spread)).toBe(textOfMoney(money((5n * tick) / 10n)));
    expect(textOfMoney(position)).toBe('0.0999');
    expect(textOfMoney(profit.fees)).toBe(textOfMoney(money((-100_010n * tick) / 10_000n)));
    expect(textOfMoney(profit.inventory)).toBe(textOfMoney(money((40n * 999n * tick) / 10_000n)));
    expect(profit.total).toBe(profit.spread + profit.inventory + profit.fees);
    expect(levels).toMatchObject([
      { side: 'buy', level: 2, rested: 1, restedLots: 1e7, filledLots: 1e7, touched: 1, filled: 1, aheadLots: 0 },
    ]);
    expect(levels[0]?.queued.quantile(0.5)).toBeCloseTo(1_600, -2);
    const [all] = markouts;
    expect(all?.bps.slice(0, 5)).toEqual([5, 5, 45, 45, 45].map(ticks => (ticks * 10_000) / 100_005));
    expect(all?.bps.slice(5)).toEqual([null, null, null]);
    expect(positionTime.bars().times.reduce((sum, time) => sum + time, 0)).toBe(10_000);
    // Just after the fill: half a tick won, a fee of 10.001 paid.
    expect(drawdown).toEqual({ most: (9_501n * tick) / 1_000n, at: 2_500 });
    expect(spreads.marketBps).toBeCloseTo(2, 2);
    expect([...series.column('bidLooks')]).toEqual([0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect([...series.column('boughtLots')][2]).toBe(1e7);
  });

  test('does not change what happens, however often it looks', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 300_000 }), (seed, everyUs) => {
        const rows = rowsOf(syntheticMarket(seed, 2_000));
        const answers = (watched: boolean) => {
          let dueAt = watched ? 0 : Infinity;
          const watcher = {
            ...NO_WATCHER,
            get dueAt() {
              return dueAt;
            },
            look: (at: number) => void (dueAt = at + everyUs),
          };
          const exchange = new SimulatedExchange(
            rows,
            fillModel('expected', rows),
            constantLatency(3_000, 4_000),
            watcher,
          );
          const pool = new OrderPool();
          const told: unknown[] = [];
          const end = rows.at[rows.length - 1] ?? 0;
          for (let now = 1_000_000, n = 0; now < end;) {
            now = exchange.runToAnswer(now + 50_000);
            for (; exchange.answers.headAt <= now; exchange.answers.shift()) {
              const { kind, lots, sent, mid, order } = exchange.answers;
              told.push([kind, lots, sent, mid, order.id]);
            }
            const { bid, ask } = exchange.book;
            const place = n % 2 === 0 ? bid : ask;
            const order = pool.take(n++ % 2 === 0 ? BUY : SELL, place, 10);
            if (n < 200) exchange.requests.push(now + 3_000, MESSAGE.place, order, 10, now, 0);
          }
          return told;
        };
        expect(answers(true)).toEqual(answers(false));
      }),
      runsOf(15, 5),
    );
  });

  test.each(['pessimistic', 'expected', 'optimistic'] as const)(
    'agrees in the %s run with profit computed again from the fills alone, to the last unit',
    model => {
      const { result, fills } = run({ model });
      const report = reportOf(tape.instrument, result);
      // Twice the money, so that half ticks are whole: major x 2 middle - 2 x minor, over 10^18.
      const tick = tape.instrument.tickMoney;
      let [spread, fees, cash, held] = [0n, 0n, 0n, 0n];
      for (const { side, amount, value, fee, midTicks } of fills) {
        const sign = side === 'buy' ? 1n : -1n;
        const middle = BigInt((midTicks ?? Number.NaN) * 2) * tick;
        const [major, minor, paid] = [moneyOf(amount), moneyOf(value), moneyOf(fee)];
        spread += sign * (major * middle - minor * 2n * 10n ** 18n);
        fees -= side === 'buy' ? paid * middle : paid * 2n * 10n ** 18n;
        held += sign * major - (side === 'buy' ? paid : 0n);
        cash -= sign * minor + (side === 'sell' ? paid : 0n);
      }
      const text = (sum: bigint) => textOfMoney(money(sum / (2n * 10n ** 18n)));
      expect(fills.length).toBeGreaterThan(5);
      expect(report.pnl.spread).toBe(text(spread));
      expect(report.pnl.fees).toBe(text(fees));
      const last = BigInt(result.snapshot.bid + result.snapshot.ask) * tick;
      expect(report.pnl.total).toBe(text(cash * 2n * 10n ** 18n + held * last));
      expect(report.inventory).toBe(textOfMoney(money(held)));
    },
  );

  test('adds up in every view: time held, orders by level, fills by horizon, curves that end at the totals', () => {
    const { result, orders } = run();
    const report = reportOf(tape.instrument, result);
    const sum = (list: readonly number[]) => list.reduce((total, x) => total + x, 0);
    expect(sum(report.position.seconds)).toBeCloseTo(report.seconds, 6);
    expect(sum(report.levels.map(({ orders: rested }) => rested)) + report.refusedPostOnly).toBe(orders.length);
    expect(sum(report.levels.map(({ filled }) => filled))).toBe(report.orders.filled);
    const [all, buys, sells, ...levels] = report.markouts;
    for (let h = 0; h < HORIZONS.length; h++) {
      expect((buys?.fills[h] ?? 0) + (sells?.fills[h] ?? 0)).toBe(all?.fills[h]);
      expect(sum(levels.map(({ fills }) => fills[h] ?? 0))).toBe(all?.fills[h]);
    }
    expect(all?.fills[0]).toBe(report.fills);
    const { columns } = report.series;
    for (const part of ['spread', 'inventory', 'fees'] as const)
      expect(columns[part].at(-1)).toBeCloseTo(Number(report.pnl[part]), 4);
    columns.profit.forEach((total, i) => {
      const parts = (columns.spread[i] ?? 0) + (columns.inventory[i] ?? 0) + (columns.fees[i] ?? 0);
      expect(total).toBeCloseTo(parts, 3);
    });
    expect(Math.max(...columns.drawdown.map(fall => fall ?? 0))).toBeCloseTo(Number(report.drawdown.most), 3);
    expect(sum(columns.bought.map(x => x ?? 0)) + sum(columns.sold.map(x => x ?? 0))).toBeCloseTo(
      Number(report.volume.major),
      6,
    );
  });

  test('adds up by the hour and by the day: net and its parts to the last unit, fills, and what was traded', () => {
    // A market that begins ten minutes before midnight.
    const shift = Date.UTC(2026, 0, 1, 23, 50) - rows.at[0]!;
    const later = (times: Float64Array) => times.map(at => at + shift);
    const report = reportOf(
      tape.instrument,
      run({ rows: { ...rows, at: later(rows.at), local: later(rows.local) } }).result,
    );
    expect(report.hours.map(({ from }) => from)).toEqual([report.from, '2026-01-02T00:00:00.000Z']);
    expect(report.days.map(({ from, fills }) => [from, fills])).toEqual(
      report.hours.map(({ from, fills }) => [from, fills]),
    );
    const total = (of: (period: (typeof report.hours)[number]) => string): string =>
      textOfMoney(
        money(
          report.hours.reduce(
            (sum, hour) => sum + moneyOf(of(hour).replace('-', '')) * (of(hour).startsWith('-') ? -1n : 1n),
            0n,
          ),
        ),
      );
    for (const part of ['spread', 'inventory', 'fees', 'hedging', 'total'] as const)
      expect(total(({ pnl }) => pnl[part])).toBe(report.pnl[part]);
    expect(total(({ volume }) => volume)).toBe(report.volume.minor);
    expect(report.hours.reduce((sum, { fills }) => sum + fills, 0)).toBe(report.fills);
    expect(report.hours.every(({ fills, both }) => fills > 0 && both !== null && both > 0.5)).toBe(true);
    expect(report.hours.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(report.seconds, 6);
  });

  test('tells for how long a side was missing and why: all of the time that it was, each second once', () => {
    const bidsOnly: Strategy = {
      quote: ({ mid }) => ({
        bids: [{ price: mid * 0.99, amount: 100_000 as Amount, why: [] }],
        asks: [],
        noAsk: 'asks are for others',
      }),
    };
    const report = reportOf(tape.instrument, run({ engine: engineOf(tape.instrument, bidsOnly) }).result);
    const [first] = report.missing;
    expect(first?.reason).toBe('asks are for others');
    const all = (side: 'bidSeconds' | 'askSeconds') => report.missing.reduce((sum, one) => sum + one[side], 0);
    expect(all('askSeconds')).toBeCloseTo(report.seconds, 6);
    expect(first?.askSeconds).toBeGreaterThan(report.seconds - 5);
    expect(all('bidSeconds')).toBeLessThan(20);
  });

  test('values the account at the start, and what holding would have brought, at the middle of the market', () => {
    const report = reportOf(tape.instrument, run().result);
    const known = report.series.columns.middle.filter(middle => middle !== null);
    const [first = NaN, last = NaN] = [known[0], known.at(-1)];
    expect(report.capital).toMatchObject({ major: '2', minor: '4000000' });
    expect(report.capital.value).toBeCloseTo(4_000_000 + 2 * first, 1);
    expect(report.capital.returnPct).toBeCloseTo((100 * Number(report.pnl.total)) / (4_000_000 + 2 * first), 9);
    expect(report.hold.amount).toBe(report.position.mostSize);
    expect(report.hold.total).toBeCloseTo(report.position.mostSize * (last - first), 3);
    expect(report.orderToTrade).toBeCloseTo((report.requests.placed + report.requests.canceled) / report.fills, 6);
    expect(report.fillsPerDay).toBeCloseTo((report.fills * 86_400) / report.seconds, 3);
    const [all] = report.markouts;
    const minute = all?.bps[all.seconds.indexOf(60)] ?? NaN;
    expect(report.net60s?.total).toBeCloseTo(((minute - report.feesBps!) * Number(report.volume.minor)) / 1e4, 2);
    // Stretches of time add up to the whole of both.
    const sum = (values: readonly number[]): number => values.reduce((total, x) => total + x, 0);
    expect(report.stretches.seconds * report.stretches.net.length).toBeCloseTo(report.seconds, 6);
    expect(sum(report.stretches.net)).toBeCloseTo(Number(report.pnl.total), 4);
    expect(sum(report.stretches.after60)).toBeCloseTo(report.net60s?.total ?? NaN, 4);
    const { volume30d, makerBps } = report.pace;
    expect(volume30d).toBe(Math.round((Number(report.volume.minor) * 30 * 86_400) / report.seconds));
    expect(run().result.feeTiers.map(makerBpsOf).includes(makerBps)).toBe(true);
  });

  test('knows nothing of the market in a gap: no markout is settled there, and it says why there are no quotes', () => {
    const whole = run();
    const from = whole.result.from + 1;
    const { result } = run({ gaps: [{ from, to: whole.result.to + 1, why: 'test' }] });
    const { markouts, missing, decisions } = reportOf(tape.instrument, result);
    const [all] = markouts;
    expect(missing[0]?.reason).toMatch(/stale/);
    expect(missing[0]?.decisions).toBeGreaterThan(decisions * 0.9);
    expect(missing[0]?.decisions).toBeLessThanOrEqual(decisions);
    expect(all?.fills.slice(1)).toEqual(HORIZONS.slice(1).map(() => 0));
  });

  test('counts quotes as quotes, however far from all prices of the recording they rest', () => {
    const far = (away: number, price: number) => [{ price: price * (1 + away), amount: 100_000 as Amount, why: [] }];
    const strategy: Strategy = { quote: ({ mid }) => ({ bids: far(-0.049, mid), asks: far(0.049, mid) }) };
    const { collected } = run({ engine: engineOf(tape.instrument, strategy) }).result;
    expect(collected.spreads.oursBps).toBeCloseTo(980, 0);
    expect(collected.quoted.both).toBeGreaterThan(0.95);
    expect(Math.min(collected.quoted.bid, collected.quoted.ask)).toBeGreaterThanOrEqual(collected.quoted.both);
    // The window of places ends nearer than that.
    expect(rows.base).toBeGreaterThan(0.952 * (rows.base + rows.places / 2));
  });

  test('is empty, and no number is missing, when nothing is ever shown', () => {
    const { result } = run({ engine: engineOf(tape.instrument, { quote: () => ({ bids: [], asks: [] }) }) });
    const report = reportOf(tape.instrument, result);
    expect(report).toMatchObject({ fills: 0, profitBps: null, levels: [], pnl: { total: '0', hedging: '0' } });
    expect(JSON.stringify(report)).toBe(JSON.stringify(JSON.parse(JSON.stringify(report))));
    expect(report.missing.map(({ reason }) => reason)).toEqual(['held back by the strategy']);
    expect(report.position).toMatchObject({ meanSize: 0, values: [0], seconds: [report.seconds] });
  });
});
