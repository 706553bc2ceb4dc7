/** Changes of the configuration in the charts and the results, and the result with which each is compared. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NotedChange } from '../../../src/app/console/history/configHistory.ts';
import { longHistory } from '../../../src/app/console/history/longHistory.ts';
import { money, moneyOf, type LedgerEntry, type ProfitSinceOpening } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const HOUR = 3_600_000;
const WEEK = 7 * 24 * HOUR;
const NAMES = { book: 'btc_mxn', major: 'btc', minor: 'mxn' };
/** A whole hour. */
const OPENED = Date.UTC(2026, 0, 5, 7);
const OPENING: LedgerEntry = {
  ...{ source: 'opening', at: OPENED, why: null },
  changes: [{ cause: 'opening', currency: 'btc', amount: moneyOf('1') }],
};

const profitAt = (at: number, cents: bigint): ProfitSinceOpening => {
  const total = money(cents * 10n ** 16n);
  return {
    ...{ since: OPENED, at, twiceMid: moneyOf('3000000') },
    profit: { spread: total, inventory: money(0n), fees: money(0n), hedging: money(0n), total },
  };
};

test('changes from the opening until now are shown, each with the result until the next, compared with the one before', () => {
  const cents = fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n });
  // Half hours from the opening on; some are before it, and some later than now.
  const time = fc.integer({ min: -20, max: 500 }).map(halves => OPENED + halves * (HOUR / 2));
  fc.assert(
    fc.property(
      fc.array(cents, { minLength: 20, maxLength: 240 }),
      fc.uniqueArray(time, { maxLength: 8 }),
      (totals, times) => {
        const hours = totals.map((total, i) => profitAt(OPENED + (i + 1) * HOUR, total));
        const last = hours.at(-1)!;
        const changes = times
          .sort((a, b) => a - b)
          .map((at, run): NotedChange => {
            const before = hours.findLast(hour => hour.at! <= at)?.profit.total ?? 0n;
            const profit = profitAt(at, before / 10n ** 16n);
            return { at, run, profit, text: 'levels: 1 -> 2', digest: null, by: 'ana', reason: `reason ${run}` };
          });
        const {
          changes: shown,
          results,
          week,
          opening,
        } = longHistory({
          ...{ run: 9, at: last.at!, names: NAMES, current: last, changes, recordedFrom: OPENED },
          ledger: { entries: [OPENING], hours, profit: null },
          otherBooks: [],
        })!;
        const expected = changes.filter(({ at }) => at > OPENED && at <= last.at!);
        expect(shown.map(({ run }) => run)).toEqual(expected.map(({ run }) => run));
        expect(results.map(({ change }) => change?.run ?? null)).toEqual([null, ...expected.map(({ run }) => run)]);
        expect(results.map(({ from, to }) => [from, to])).toEqual(
          results.map((_, i) => [expected[i - 1]?.at ?? OPENED, expected[i]?.at ?? null]),
        );
        for (const [i, { difference, perHour, interval }] of results.entries()) {
          const before = results[i - 1] ?? null;
          expect(difference === null).toBe((before?.interval ?? null) === null || interval === null);
          if (difference !== null) expect(difference.value).toBe(perHour! - before!.perHour!);
        }
        // The points of an hour or a step are at its end.
        const first = Math.max(OPENED, last.at! - WEEK);
        expect(week.points[0]![0]).toBe(Math.min(first + week.stepMs, last.at!));
        expect([opening.points[0]![0], opening.points.at(-1)![0]]).toEqual([OPENED, last.at!]);
      },
    ),
    runsOf(300, 60),
  );
});
