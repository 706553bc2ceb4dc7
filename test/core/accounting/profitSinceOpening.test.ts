/** Profit since the opening is what one run without an end would have earned, however often the bot was started again. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Inventory } from '../../../src/core/accounting/inventory.ts';
import {
  HourEnds,
  hourOf,
  money,
  moneyOf,
  NO_PROFIT,
  type Amount,
  type Cause,
  type OwnTrade,
  type Price,
  type ProfitSinceOpening,
} from '../../../src/core/index.ts';
import { btcMxn } from '../market.ts';

const OPENING = moneyOf('2');
/** Money has 18 places; each run drops less than one of the last for each part. */
const LAST_PLACES_EACH_RUN = 4n;

/** Thousandths. */
const exact = (n: number) => moneyOf((n / 1_000).toFixed(3));

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('mid' as const), halfTicks: fc.integer({ min: 1, max: 400_000_000 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ kind: fc.constant('trade' as const), isBuy: fc.boolean(), isOurs: fc.boolean(), maker: fc.boolean() },
      ...{ lots: fc.integer({ min: 1, max: 10_000 }), paid: fc.integer({ min: 1, max: 1_000_000 }) },
      ...{ fee: fc.integer({ min: 0, max: 500 }), feeIn: fc.constantFrom('btc', 'mxn', 'usd') },
    }),
  },
  fc.record({ kind: fc.constant('deposit' as const), lots: fc.integer({ min: -500, max: 500 }) }),
  fc.record({
    kind: fc.constant('conversion' as const),
    lots: fc.integer({ min: -500, max: 500 }),
    paid: fc.integer({ min: -9_000, max: 9_000 }),
  }),
  { weight: 2, arbitrary: fc.constant({ kind: 'start again' as const }) },
);

describe('profit since the opening', () => {
  test('is the change of the equity without transfers, over any fills, mids, transfers and runs', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        let inventory = new Inventory(btcMxn, 0 as Amount);
        let held: bigint = OPENING;
        inventory.moved({ kind: 'opening', changes: [{ cause: 'opening', currency: 'btc', amount: OPENING }] }, 7);
        // The same another way: no runs, no parts; sums in money times twice the mid.
        let [cash, twiceMid, opening] = [0n, 0n, OPENING as bigint];
        let [flows, flowed] = [0n, 0n];
        // By part, in money times twice the mid; each trade against the mid of its time, or the first of its run.
        const gains = { spread: 0n, hedging: 0n, fees: 0n };
        const waiting: [keyof typeof gains, bigint, bigint][] = [];
        const gain = (part: keyof typeof gains, major: bigint, minor: bigint): void => {
          if (isMarked) gains[part] += major * twiceMid + minor * 2n * 10n ** 18n;
          else waiting.push([part, major, minor]);
        };
        let isUntouched = false;
        let runs = 1n;
        let isMarked = false;
        const moved = (major: bigint) => void (held += major);
        for (const [i, one] of steps.entries()) {
          if (one.kind !== 'start again') isUntouched = false;
          if (one.kind === 'mid') {
            const mark = BigInt(one.halfTicks) * btcMxn.tickMoney;
            if (twiceMid === 0n) opening *= mark;
            // What came before the first mid of a run is worth what it is then.
            if (!isMarked) flows += flowed * mark;
            [flowed, isMarked, twiceMid] = [0n, true, mark];
            for (const one of waiting.splice(0)) gain(...one);
            inventory.mark(one.halfTicks);
          } else if (one.kind === 'trade') {
            const sign = one.isBuy ? 1n : -1n;
            const [major, minor, fee] = [exact(one.lots), exact(one.paid), exact(one.fee)];
            const trade = {
              ...{
                tid: String(i),
                oid: 'o',
                book: 'btc_mxn',
                side: one.isBuy ? 'buy' : 'sell',
                maker: one.maker,
                createdAt: i,
                price: '1',
              },
              ...{
                major: (one.lots / 1_000).toFixed(3),
                minor: (one.paid / 1_000).toFixed(3),
                feeAmount: (one.fee / 1_000).toFixed(3),
                feeCurrency: one.feeIn,
              },
            } as unknown as OwnTrade;
            inventory.trade(trade, 1 as Price, one.isOurs ? 'a-1-1' : null);
            const came = sign * major - (one.feeIn === 'btc' ? fee : 0n);
            moved(came);
            if (one.isOurs) {
              cash -= sign * minor + (one.feeIn === 'mxn' ? fee : 0n);
              gain(one.maker ? 'spread' : 'hedging', sign * major, -sign * minor);
              gain('fees', one.feeIn === 'btc' ? -fee : 0n, one.feeIn === 'mxn' ? -fee : 0n);
            } else if (isMarked) flows += came * twiceMid;
            else flowed += came;
          } else if (one.kind === 'deposit') {
            const amount = exact(one.lots);
            inventory.moved({ kind: 'transfer', changes: [{ cause: 'deposits', currency: 'btc', amount }] }, i);
            moved(amount);
            if (isMarked) flows += amount * twiceMid;
            else flowed += amount;
          } else if (one.kind === 'conversion') {
            const [major, minor] = [exact(one.lots), exact(one.paid)];
            const changes = [
              { cause: 'conversions' as Cause, currency: 'btc', amount: major },
              { cause: 'conversions' as Cause, currency: 'mxn', amount: minor },
            ];
            inventory.moved({ kind: 'conversion', changes }, i);
            moved(major);
            cash += minor;
            gain('hedging', major, minor);
          } else if (isMarked || isUntouched) {
            // A run that has seen no mid leaves nothing that its checkpoint could value, unless nothing happened in it.
            const left: ProfitSinceOpening = inventory.profitSinceOpening(i);
            inventory = new Inventory(btcMxn, 0 as Amount);
            inventory.restore(money(held), money(0n), left);
            runs++;
            [isMarked, isUntouched] = [false, true];
          }
        }
        if (!isMarked) return;
        const { since, profit } = inventory.profitSinceOpening(99);
        const expected = cash + (held * twiceMid - opening - flows) / (2n * 10n ** 18n);
        const off = profit.total - expected;
        expect(off <= LAST_PLACES_EACH_RUN * runs && off >= -LAST_PLACES_EACH_RUN * runs).toBe(true);
        expect(profit.total).toBe(profit.spread + profit.inventory + profit.fees + profit.hedging);
        for (const part of ['spread', 'hedging', 'fees'] as const) {
          const partOff = profit[part] - gains[part] / (2n * 10n ** 18n);
          expect(partOff <= runs && partOff >= -runs).toBe(true);
        }
        expect(since).toBe(7);
      }),
      { numRuns: 500 },
    );
  });
});

test('profit since the opening is that of the earlier run until a mid is seen, also over a run that saw none', () => {
  const left: ProfitSinceOpening = {
    ...{ since: 5, at: 6, twiceMid: moneyOf('200') },
    profit: { spread: money(1n), inventory: money(2n), fees: money(3n), hedging: money(4n), total: money(10n) },
  };
  const first = new Inventory(btcMxn, null);
  first.restore(moneyOf('3'), money(0n), left);
  const kept = first.profitSinceOpening(99);
  expect(kept).toEqual({ ...left, at: 99 });
  const second = new Inventory(btcMxn, null);
  second.restore(moneyOf('3'), money(0n), kept);
  // Twice 110: three coins have gained ten each between the runs.
  second.mark(22_000);
  const { profit, twiceMid, since } = second.profitSinceOpening(100);
  expect([profit.inventory - 2n, profit.total - 10n, profit.fees, twiceMid, since]).toEqual([
    ...[moneyOf('30'), moneyOf('30'), 3n],
    ...[moneyOf('220'), 5],
  ]);
});

test('the ends of hours are told once each, with what was before the first event after them', () => {
  const HOUR = 3_600_000;
  const waits = fc.oneof(fc.integer({ min: 0, max: 2 * HOUR }), fc.constantFrom(1, HOUR - 1, HOUR));
  fc.assert(
    fc.property(fc.array(waits, { minLength: 1, maxLength: 20 }), fc.boolean(), (gaps, isHeard) => {
      const hours = new HourEnds();
      const told: number[] = [];
      if (isHeard) hours.listen(({ at }) => told.push(at!));
      let at = Date.UTC(2026, 0, 1, 12);
      expect(hours.isOver(at)).toBe(false);
      hours.begin(at);
      const expected: number[] = [];
      for (const gap of gaps) {
        const before = at;
        at += gap;
        expect(hourOf(at)).toBe(new Date(at).setUTCMinutes(0, 0, 0));
        const isOver = hourOf(at) > hourOf(before);
        expect(hours.isOver(at)).toBe(isOver);
        if (!isOver) continue;
        hours.end({ since: null, at: before, twiceMid: null, profit: NO_PROFIT }, at);
        expected.push(before);
        expect(hours.isOver(at)).toBe(false);
      }
      expect(told).toEqual(isHeard ? expected : []);
    }),
  );
});
