/** Charts over months and the results of each configuration: exact, bounded, and honest about what is missing. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHANGES_MAX, type NotedChange } from '../../../src/app/console/history/configHistory.ts';
import { longHistory, POINTS_MAX, RESULTS_MAX, type LongSource } from '../../../src/app/console/history/longHistory.ts';
import {
  money,
  moneyOf,
  normal,
  randomOf,
  textOfMoney,
  type LedgerEntry,
  type Money,
  type ProfitSinceOpening,
} from '../../../src/core/index.ts';
import { runsOf, sized } from '../../many.ts';

const HOUR = 3_600_000;
const OPENED = Date.UTC(2026, 0, 5, 7, 12);
const NAMES = { book: 'btc_mxn', major: 'btc', minor: 'mxn' };

const profitOf = (at: number, total: Money): ProfitSinceOpening => ({
  ...{ since: OPENED, at, twiceMid: moneyOf('3000000') },
  profit: { spread: total, inventory: money(0n), fees: money(0n), hedging: money(0n), total },
});
const opening: LedgerEntry = {
  ...{ source: 'opening', at: OPENED, why: null },
  changes: [{ cause: 'opening', currency: 'btc', amount: moneyOf('1') }],
};
/** The n-th trade: a purchase if n is even, else a sale of the same amount. */
const trade = (n: number, at: number): LedgerEntry => ({
  ...{ source: `trade ${n} order${n}`, at, why: `btc_mxn at 1500000 as maker of own-${n} level 1` },
  changes: [
    { cause: 'trades', currency: 'btc', amount: moneyOf(n % 2 === 0 ? '0.01' : '-0.01') },
    { cause: 'trades', currency: 'mxn', amount: moneyOf(n % 2 === 0 ? '-15000' : '15000') },
  ],
});
const changeAt = (at: number, run: number, profit: ProfitSinceOpening | null): NotedChange => ({
  ...{ at, run, profit, text: `strategy.halfSpreadBps: ${run} -> ${run + 1}`, digest: 'a'.repeat(64) },
  ...{ by: 'ana', reason: `reason ${run}` },
});

/** Profits at the ends of hours, given the gain of each. */
function hoursOf(gains: readonly Money[]): readonly ProfitSinceOpening[] {
  const first = Math.floor(OPENED / HOUR) * HOUR;
  let total = 0n;
  return gains.map((gain, i) => profitOf(first + (i + 1) * HOUR - 1, money((total += gain))));
}

const source = (hours: readonly ProfitSinceOpening[], more: Partial<LongSource> = {}): LongSource => ({
  ...{ run: 9, at: hours.at(-1)!.at!, names: NAMES, current: hours.at(-1)!, changes: [], recordedFrom: OPENED },
  otherBooks: [],
  ledger: { entries: [opening], hours, profit: null },
  ...more,
});
const pesos = (value: number): Money => moneyOf(value.toFixed(6));

describe('the results of configurations', () => {
  const gain = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(money);

  test('add up exactly to the profit since the opening, wherever the changes are, if it was stored at each', () => {
    const changes = fc.uniqueArray(fc.integer({ min: 1, max: 199 }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(gain, { minLength: 200, maxLength: 200 }), changes, gain, (gains, at, extra) => {
        const hours = hoursOf(gains);
        const noted = [...at]
          .sort((a, b) => a - b)
          .map((i, run) => {
            // Half an hour after an end of an hour, with a part of the next gain.
            const time = hours[i - 1]!.at! + HOUR / 2;
            return changeAt(time, run, profitOf(time, money(hours[i - 1]!.profit.total + extra)));
          });
        const long = longHistory(source(hours, { changes: noted }))!;
        expect(long.results).toHaveLength(noted.length + 1);
        const sum = long.results.reduce((all, { net }) => all + moneyOf(net!), 0n);
        expect(textOfMoney(money(sum))).toBe(textOfMoney(hours.at(-1)!.profit.total));
        const time = long.results.reduce((all, { hours: own }) => all + own!, 0);
        expect(time).toBeLessThanOrEqual((hours.at(-1)!.at! - OPENED) / HOUR + 1e-6);
        expect(long.results.map(({ change }) => change?.reason ?? null)).toEqual([null, ...noted.map(n => n.reason)]);
        expect(long.opening.points.at(-1)![3]).toBeCloseTo(Number(hours.at(-1)!.profit.total) / 1e18, 3);
      }),
      runsOf(100, 20),
    );
  });

  test('count only whole hours of a configuration, if the profit was not stored at its change', () => {
    const hours = hoursOf(Array.from({ length: 10 }, () => pesos(2)));
    const between = hours[4]!.at! + HOUR / 3;
    const { results } = longHistory(source(hours, { changes: [changeAt(between, 1, null)] }))!;
    // Before: from the opening to the fifth end of an hour. After: from the sixth to the tenth.
    expect(results.map(({ net }) => net)).toEqual(['10', '8']);
    expect(results[1]!.hours).toBeCloseTo(4, 6);
    expect(results[1]!.perHour).toBeCloseTo(2, 6);
  });

  test('count a time without stored profits as an hour, because the bot was stopped', () => {
    const hours = hoursOf(Array.from({ length: 30 }, () => pesos(1)));
    const { results } = longHistory(source([...hours.slice(0, 5), ...hours.slice(25)]))!;
    expect(results[0]!.hours).toBeGreaterThan(9);
    expect(results[0]!.hours).toBeLessThan(11);
  });

  test('leave the price move of a stop out of the rate and the interval, but not out of the profit', () => {
    const hours = hoursOf(Array.from({ length: 60 }, () => pesos(2)));
    const jump = pesos(-5_000);
    const after = hours.slice(40).map(each => {
      const { profit } = each;
      const total = money(profit.total + jump);
      return { ...each, profit: { ...profit, inventory: money(profit.inventory + jump), total } };
    });
    const [result] = longHistory(source([...hours.slice(0, 20), ...after]))!.results;
    expect(result).toMatchObject({ net: '-4880', stopped: '-5000' });
    // The trading of the stop, 42, counts as that of one hour.
    expect(result!.perHour).toBeCloseTo(120 / result!.hours!, 6);
    expect(result!.interval!.low).toBeGreaterThan(0);
  });

  test('contain the price moves of hours whose last event was a little early', () => {
    const hours = hoursOf(Array.from({ length: 20 }, () => pesos(1))).map((each, i) => {
      const at = each.at! - (i % 2) * 120_000;
      return { ...each, at, profit: { ...each.profit, spread: money(0n), inventory: each.profit.total } };
    });
    expect(longHistory(source(hours))!.results[0]).toMatchObject({ net: '20', stopped: '0' });
  });

  test('do not count the profit of hours that an older version did not store', () => {
    const hours = hoursOf(Array.from({ length: 50 }, () => pesos(4))).slice(30);
    const { results } = longHistory(source(hours))!;
    expect(results[0]).toMatchObject({ net: '76', fills: 0 });
    expect(results[0]!.perHour).toBeCloseTo(4, 6);
  });

  test('have fills and their value between their changes, and profit per value', () => {
    const hours = hoursOf(Array.from({ length: 12 }, () => pesos(3)));
    const entries = [opening, ...[1, 2, 3, 4, 8, 9].map((hour, n) => trade(n, hours[hour]!.at! - HOUR / 2))];
    const at = hours[5]!.at! + HOUR / 2;
    const { results, opening: range } = longHistory(
      source(hours, {
        changes: [changeAt(at, 1, profitOf(at, hours[5]!.profit.total))],
        ledger: { entries, hours, profit: null },
      }),
    )!;
    expect(results.map(({ fills, volume }) => [fills, volume])).toEqual([
      [4, '60000'],
      [2, '30000'],
    ]);
    expect(results[1]!.perVolumeBps).toBeCloseTo((10_000 * 18) / 30_000, 6);
    const bought = range.points.reduce((all, point) => all + point[8]!, 0);
    const sold = range.points.reduce((all, point) => all + point[10]!, 0);
    expect([bought, sold]).toEqual([3, 3]);
    expect(range.points.map(point => point[9]).filter(price => price !== null)).toEqual([1.5e6, 1.5e6, 1.5e6]);
    expect(range.points.at(-1)![2]).toBe(1);
  });

  test('do not count trades of manual orders, which have no profit, and say so', () => {
    const hours = hoursOf(Array.from({ length: 3 }, () => pesos(3)));
    const manual = { ...trade(7, hours[1]!.at! - 1), why: 'btc_mxn at 1500000 as taker' };
    const entries = [opening, trade(1, hours[0]!.at! - 1), manual];
    const {
      results,
      opening: range,
      missing,
    } = longHistory(source(hours, { ledger: { entries, hours, profit: null } }))!;
    expect(results[0]).toMatchObject({ fills: 1, volume: '15000' });
    expect(range.points.reduce((all, point) => all + point[10]!, 0)).toBe(1);
    expect(missing.join(' ')).toMatch(/do not count 1 trades? without a known order of the bot/);
  });

  test('have intervals that contain the true rate about as often as they say', () => {
    const random = randomOf(41);
    let covered = 0;
    const tries = sized(800, 200);
    for (let i = 0; i < tries; i++) {
      const hours = hoursOf(Array.from({ length: 20 }, () => pesos(5 + 30 * normal(random))));
      const { interval } = longHistory(source(hours))!.results[0]!;
      if (interval!.low <= 5 && interval!.high >= 5) covered++;
    }
    expect(covered / tries).toBeGreaterThan(0.9);
    expect(covered / tries).toBeLessThan(0.99);
  });

  test('show a change that helped as such, and one without an effect rarely', () => {
    const random = randomOf(42);
    const compared = (effect: number) => {
      const gains = Array.from({ length: 60 }, (_, i) => pesos((i < 30 ? 0 : effect) + 10 * normal(random)));
      const hours = hoursOf(gains);
      const at = hours[29]!.at! + 1;
      const changes = [changeAt(at, 1, profitOf(at, hours[29]!.profit.total))];
      return longHistory(source(hours, { changes }))!.results[1]!.difference!;
    };
    expect(compared(20).low).toBeGreaterThan(0);
    expect(compared(-20).high).toBeLessThan(0);
    const clear = Array.from({ length: 200 }, () => compared(0)).filter(({ low, high }) => low > 0 || high < 0).length;
    expect(clear).toBeLessThan(20);
  });

  test('have no fills, not unknown ones, if nothing was traded', () => {
    const { results } = longHistory(source(hoursOf([pesos(1), pesos(1)])))!;
    expect(results[0]).toMatchObject({ fills: 0, volume: '0', perVolumeBps: null });
  });

  test('have no interval and no comparison with few hours', () => {
    const hours = hoursOf(Array.from({ length: 9 }, (_, i) => pesos(i)));
    const at = hours[4]!.at! + 1;
    const { results } = longHistory(
      source(hours, { changes: [changeAt(at, 1, profitOf(at, hours[4]!.profit.total))] }),
    )!;
    expect(results.map(({ interval, difference }) => [interval, difference])).toEqual([
      [null, null],
      [null, null],
    ]);
  });
});

describe('an interval', () => {
  test('stays once it is shown, whatever the hour of the opening', () => {
    const random = randomOf(43);
    for (let start = 0; start < 24; start++) {
      const first = Date.UTC(2026, 0, 5, start);
      let total = 0n;
      const opened = { ...profitOf(first, money(0n)), since: first };
      const all = Array.from({ length: 15 * 24 }, (_, i) => ({
        ...profitOf(first + (i + 1) * HOUR - 1, money((total += pesos(10 * normal(random))))),
        since: first,
      }));
      for (let count = 10; count <= all.length; count += count < 160 || count > 240 ? 17 : 2) {
        const hours = [opened, ...all.slice(0, count)];
        const { results } = longHistory(source(hours))!;
        expect(results[0]!.interval, `${start}:00, ${count} hours`).not.toBeNull();
      }
    }
  });
});

describe('a bot of years', () => {
  const YEARS = 35_000;
  const hours = hoursOf(Array.from({ length: YEARS }, (_, i) => pesos((i % 7) - 2)));
  const last = hours.at(-1)!.at!;

  test('has bounded charts and results, and an answer of less than half a megabyte', () => {
    const entries = [
      { ...opening, source: 'brought forward 7', at: last - 4_000 * HOUR },
      ...Array.from({ length: 50_000 }, (_, n) => trade(n, last - 4_000 * HOUR + n * 200_000)),
    ];
    const changes = Array.from({ length: 200 }, (_, i) => {
      const at = last - (200 - i) * 5 * HOUR;
      return changeAt(at, i, null);
    });
    const long = longHistory(source(hours, { changes, ledger: { entries, hours, profit: null } }))!;
    expect(long.week.points.length).toBeLessThanOrEqual(170);
    expect(long.week.stepMs).toBe(HOUR);
    expect(long.opening.points.length).toBeLessThanOrEqual(POINTS_MAX);
    expect(long.results).toHaveLength(RESULTS_MAX);
    expect(Buffer.byteLength(JSON.stringify(long))).toBeLessThan(500_000);
    // Fills before the sum of older entries are unknown, not none; profit is known.
    const early = long.opening.points[10]!;
    expect(long.opening.points[0]!.slice(0, 4)).toEqual([OPENED, null, null, 0]);
    expect([early[8], early[10], early[2]]).toEqual([null, null, null]);
    expect(early[3]).not.toBeNull();
    expect(long.missing.join(' ')).toMatch(/one sum of all entries before .*: earlier fills and holdings are unknown/);
  });

  test('says what is missing', () => {
    const short = hours.slice(0, 300);
    const missing = (more: Partial<LongSource>) => longHistory(source(short, more))!.missing.join(' ');
    expect(missing({})).toBe('');
    expect(missing({ recordedFrom: OPENED + 48 * HOUR })).toMatch(/^Recordings before 2026-01-07 07:12 were removed/);
    expect(missing({ current: null })).toMatch(/current profit of btc_mxn is unknown/);
    const unknown = longHistory(source(short.map(each => ({ ...each, since: null }))))!;
    expect(unknown.missing.join(' ')).toMatch(/^The time of the opening is not stored/);
    expect(unknown.isOpeningKnown).toBe(false);
    expect(unknown.opening.points[0]![0]).toBeGreaterThan(OPENED);
    const many = (n: number) => Array.from({ length: n }, (_, i) => changeAt(OPENED + (i + 1) * HOUR, i, null));
    expect(missing({ changes: many(RESULTS_MAX - 1) })).toBe('');
    expect(missing({ changes: many(RESULTS_MAX) })).toBe('Only the newest 50 results are listed.');
    expect(missing({ changes: many(CHANGES_MAX) })).toMatch(/^Only the newest 200 changes are known/);
    expect(missing({ otherBooks: ['eth_mxn', 'btc_usd'] })).toBe(
      'All of this is for btc_mxn, without eth_mxn, btc_usd.',
    );
    const late = short.slice(100);
    expect(missing({ ledger: { entries: [opening], hours: late, profit: null } })).toMatch(
      /Profit by hour is stored from/,
    );
    expect(longHistory(source(short, { ledger: { entries: [], hours: short, profit: null } }))).toBeNull();
  });

  test('gets days if hours would be too many points, always from the opening to now', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: YEARS }), count => {
        const { opening: range } = longHistory(source(hours.slice(0, count)))!;
        expect(range.points.length).toBeLessThanOrEqual(POINTS_MAX);
        expect(range.points.at(-1)![0]).toBe(hours[count - 1]!.at);
        const times = range.points.map(([at]) => at!);
        expect(times.every((at, i) => i === 0 || at > times[i - 1]!)).toBe(true);
      }),
      runsOf(30, 5),
    );
  });
});
