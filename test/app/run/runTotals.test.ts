/** Totals of several runs of one process: those of one run that was never interrupted. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunTotals } from '../../../src/app/run/runTotals.ts';
import { money, type Profit, type Snapshot } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const PARTS = ['spread', 'inventory', 'fees', 'hedging', 'total'] as const;
const COUNTS = ['placed', 'canceled', 'filled', 'refused', 'unknown'] as const;
const REGIMES = ['normal', 'wide', 'reduce only', 'paused', 'halted'] as const;

const each = <K extends string, V>(keys: readonly K[], value: fc.Arbitrary<V>): fc.Arbitrary<Record<K, V>> =>
  fc
    .array(value, { minLength: keys.length, maxLength: keys.length })
    .map(values => Object.fromEntries(keys.map((key, i) => [key, values[i]])) as Record<K, V>);
const profit = each(PARTS, fc.bigInt({ min: -1_000n, max: 1_000n }).map(money));
const run = fc.record({
  ms: fc.integer({ min: 0, max: 100_000 }),
  fills: fc.nat(9),
  // Gains in the run, and of the inventory while no run was there before it.
  ...{ gain: profit, between: profit, isKnown: fc.boolean() },
  ...{ buy: each(COUNTS, fc.nat(9)), sell: each(COUNTS, fc.nat(9)), regimes: each(REGIMES, fc.nat(9)) },
  ...{ bid: fc.constantFrom(0, 0.25, 1), ask: fc.constantFrom(0, 0.5, 1) },
  decisions: fc.uniqueArray(
    fc.record({
      side: fc.constantFrom('buy', 'sell'),
      action: fc.constant('kept'),
      reason: fc.constantFrom('a', 'b'),
      count: fc.nat(9),
    }),
    { selector: ({ side, reason }) => `${side} ${reason}` },
  ),
});

const plus = (a: Profit, b: Profit): Profit =>
  Object.fromEntries(PARTS.map(part => [part, money(a[part] + b[part])])) as Profit;

test('counts and times add up, shares are weighted by time, and the profit includes what was gained between the runs', () => {
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 5 }), profit, (runs, opened) => {
      const totals = new RunTotals();
      let sinceOpening: Profit = opened;
      const snapshots = runs.map(({ fills, gain, between, isKnown, buy, sell, regimes, bid, ask, decisions }, i) => {
        sinceOpening = plus(i === 0 ? sinceOpening : plus(sinceOpening, between), gain);
        const figures = { fills, profit: gain, runProfit: gain, sinceOpening: { profit: sinceOpening } };
        return {
          ...{ booked: figures, known: { trades: isKnown ? figures : null } },
          ...{ counts: { buy, sell }, regimes, decisions, uptime: { bid, ask } },
        } as unknown as Snapshot;
      });
      for (const [i, snapshot] of snapshots.slice(0, -1).entries()) totals.add(snapshot, runs[i]!.ms);
      const last = runs.at(-1)!;
      const shown = totals.with(snapshots.at(-1)!, last.ms);
      const sum = (of: (one: (typeof runs)[number]) => number) => runs.reduce((all, one) => all + of(one), 0);
      const earned = runs.map(({ gain, between }, i) => (i === 0 ? gain : plus(between, gain))).reduce(plus);
      expect(shown.booked).toMatchObject({ fills: sum(({ fills }) => fills), profit: earned });
      expect(shown.known.trades === null).toBe(!last.isKnown);
      if (shown.known.trades !== null) expect(shown.known.trades).toEqual(shown.booked);
      for (const side of ['buy', 'sell'] as const)
        for (const name of COUNTS) expect(shown.counts[side][name]).toBe(sum(one => one[side][name]));
      for (const name of REGIMES) expect(shown.regimes[name]).toBe(sum(one => one.regimes[name]));
      const ms = sum(one => one.ms);
      for (const side of ['bid', 'ask'] as const) {
        const share = ms > 0 ? sum(one => one[side] * one.ms) / ms : last[side];
        expect(shown.uptime[side]).toBeCloseTo(share, 9);
      }
      const countOf = (all: Snapshot['decisions']) => (side: string, reason: string) =>
        all.filter(one => one.side === side && one.reason === reason).reduce((total, { count }) => total + count, 0);
      for (const side of ['buy', 'sell'])
        for (const reason of ['a', 'b'])
          expect(countOf(shown.decisions)(side, reason)).toBe(
            runs.reduce(
              (all, one) => all + countOf(one.decisions as unknown as Snapshot['decisions'])(side, reason),
              0,
            ),
          );
    }),
    runsOf(300, 80),
  );
});
