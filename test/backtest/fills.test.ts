import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exact, exactFills } from '../../backtest/exchange/exactQueue.ts';
import { OwnOrder, OwnSide } from '../../backtest/exchange/ownOrders.ts';
import { FLAG, RowBuilder, SELL } from '../../backtest/rows/rows.ts';
import {
  LEVEL_MODELS,
  levelModel,
  logarithmic,
  optimistic,
  power,
  riskAverse,
  sharedVolume,
  Sweep,
  type FillRule,
} from '../../src/fills/index.ts';
import { runsOf } from '../many.ts';
import { wholeOrders } from '../scripts/wholeOrders.ts';
import { between } from '../draws.ts';

/** A resting ask of ours with so much ahead of it, there since `restedAt`. */
function ask(place: number, lots: number, front: number, joined = 0, restedAt = -1): OwnOrder {
  return Object.assign(new OwnOrder(), { side: SELL, place, lots, left: lots, front, joined, resting: true, restedAt });
}

/** A tape of single orders in which every execution met one that had come after all of ours. */
function everyOrderOf(count: number) {
  const builder = new RowBuilder();
  for (let i = 0; i < count; i++) builder.add(i, i, 100, 5, FLAG.sell);
  return builder.rows({
    born: new Int32Array(count).fill(50),
    gone: new Float64Array(count).fill(1),
    executed: new Uint8Array(count).fill(1),
  });
}

/** What a taker who buys `lots` at `place` brings to each of our asks. */
function bought(
  rule: FillRule,
  asks: readonly OwnOrder[],
  place: number,
  lots: number,
  row = 0,
  at = 0,
  sweep = new Sweep(),
): number[] {
  const before = asks.map(order => order.left);
  sweep.begin(at, 1, place);
  rule.traded(asks, 1, place, lots, () => undefined, row, sweep);
  return asks.map((order, i) => before[i]! - order.left);
}

describe('an execution at our price', () => {
  test('reaches us only with what is left after those ahead', () => {
    expect(bought(sharedVolume(power(2)), [ask(100, 10, 7)], 100, 5)).toEqual([0]);
    expect(bought(sharedVolume(power(2)), [ask(100, 10, 7)], 100, 7)).toEqual([0]);
    expect(bought(sharedVolume(power(2)), [ask(100, 10, 7)], 100, 12)).toEqual([5]);
    expect(bought(sharedVolume(power(2)), [ask(100, 10, 7)], 100, 1000)).toEqual([10]);
  });

  test('is shared by our orders: what one took the next does not get', () => {
    expect(bought(sharedVolume(power(2)), [ask(100, 10, 0), ask(100, 10, 0)], 100, 12)).toEqual([10, 2]);
    expect(bought(sharedVolume(power(2)), [ask(100, 10, 3), ask(100, 10, 20)], 100, 40)).toEqual([10, 10]);
    expect(bought(sharedVolume(power(2)), [ask(100, 10, 3), ask(100, 10, 20)], 100, 32)).toEqual([10, 2]);
  });

  test('comes twice under the rule of the golden run, which is why that rule is no honest one', () => {
    expect(bought(wholeOrders(power(2)), [ask(100, 10, 0), ask(100, 10, 0)], 100, 12)).toEqual([10, 10]);
  });

  test('fills whole at a touch only under the rule that is called optimistic', () => {
    expect(bought(optimistic(), [ask(100, 10, 7), ask(101, 5, 0)], 100, 1)).toEqual([10, 0]);
  });
});

describe('an execution beyond our price', () => {
  test('brings at most what it traded, best price first', () => {
    expect(bought(sharedVolume(riskAverse()), [ask(98, 10, 500), ask(99, 10, 3), ask(105, 1, 0)], 101, 14)).toEqual([
      10, 4, 0,
    ]);
  });

  test('brings everything under the golden rule', () => {
    expect(bought(wholeOrders(power(2)), [ask(98, 10, 500)], 101, 1)).toEqual([10]);
  });
});

describe('a taker who sweeps several prices', () => {
  const swept = (
    rule: FillRule,
    asks: readonly OwnOrder[],
    steps: readonly (readonly [place: number, lots: number])[],
  ) => {
    const sweep = new Sweep();
    for (const [place, lots] of steps) bought(rule, asks, place, lots, 0, 7, sweep);
    return asks.map(({ lots, left }) => lots - left);
  };

  test('brings our orders no more in all than it had: what the first took, others still have, and they come before the second', () => {
    // 20 at 100 and 20 at 101, of which ours at 100 take 10 from those behind them: only 10 are left for 101.
    expect(
      swept(
        sharedVolume(riskAverse()),
        [ask(100, 10, 5), ask(101, 50, 0)],
        [
          [100, 20],
          [101, 20],
        ],
      ),
    ).toEqual([10, 10]);
    expect(
      swept(
        sharedVolume(riskAverse()),
        [ask(100, 10, 5), ask(101, 50, 0)],
        [
          [100, 20],
          [101, 4],
          [101, 16],
        ],
      ),
    ).toEqual([10, 10]);
    expect(
      swept(
        sharedVolume(riskAverse()),
        [ask(99, 10, 0), ask(101, 50, 0)],
        [
          [100, 20],
          [102, 5],
          [103, 20],
        ],
      ),
    ).toEqual([10, 15]);
  });

  test('is another taker at another moment', () => {
    const asks = [ask(100, 10, 5), ask(101, 50, 0)];
    const sweep = new Sweep();
    bought(sharedVolume(riskAverse()), asks, 100, 20, 0, 1, sweep);
    bought(sharedVolume(riskAverse()), asks, 101, 20, 0, 2, sweep);
    expect(asks.map(({ lots, left }) => lots - left)).toEqual([10, 20]);
  });
});

describe('one sweep that is told as several executions', () => {
  const rules = [sharedVolume(power(2)), exactFills(everyOrderOf(10)), optimistic()];
  const after = (rule: FillRule, restedAt: number, steps: readonly (readonly [at: number, place: number])[]) => {
    const order = ask(102, 10, 0, 20, restedAt);
    const sweep = new Sweep(200);
    return steps.map(([at, place], row) => bought(rule, [order], place, 5, row, at, sweep)[0]! > 0);
  };

  test.each(rules)('meets nobody who came after its first execution ($name)', rule => {
    expect(
      after(rule, 999, [
        [1000, 101],
        [1150, 102],
      ]),
    ).toEqual([false, true]);
    expect(
      after(rule, 1000, [
        [1000, 101],
        [1150, 102],
        [1300, 103],
      ]),
    ).toEqual([false, false, false]);
    expect(
      after(rule, 1100, [
        [1000, 101],
        [1150, 102],
        [1300, 103],
      ]),
    ).toEqual([false, false, false]);
  });

  test.each(rules)('is over when the next comes later, or at a better price ($name)', rule => {
    expect(
      after(rule, 1100, [
        [1000, 101],
        [1201, 103],
      ]),
    ).toEqual([false, true]);
    expect(
      after(rule, 1100, [
        [1000, 104],
        [1150, 103],
      ]),
    ).toEqual([false, true]);
  });

  test('shortens the queue before an order that it does not meet', () => {
    const order = ask(101, 10, 8, 0, 1100);
    const sweep = new Sweep(200);
    bought(sharedVolume(power(2)), [order], 101, 3, 0, 1000, sweep);
    bought(sharedVolume(power(2)), [order], 101, 4, 0, 1150, sweep);
    power(2).changed(order, 8, 1, 0);
    expect(order.front).toBe(1);
  });

  test('has, over all its moments, no more for our orders than it traded', () => {
    const anyStep = fc.record({
      wait: fc.integer({ min: 0, max: 300 }),
      up: fc.integer({ min: 0, max: 2 }),
      lots: fc.integer({ min: 1, max: 30 }),
    });
    const order = fc.record({
      place: fc.integer({ min: 95, max: 105 }),
      front: fc.integer({ min: 0, max: 20 }),
      restedAt: fc.integer({ min: -1, max: 900 }),
    });
    fc.assert(
      fc.property(fc.array(order, { maxLength: 6 }), fc.array(anyStep, { maxLength: 12 }), (orders, steps) => {
        const side = new OwnSide(SELL, new Uint32Array(200));
        for (const { place, front, restedAt } of orders) side.add(ask(place, 10, front, 0, restedAt));
        const sweep = new Sweep(200);
        let [at, place, began, sum] = [0, 95, 0, 0];
        for (const step of steps) {
          const { wait, up, lots } = step;
          at += wait;
          place += up;
          if (wait > 200 || step === steps[0]) [began, sum] = [at, 0];
          const late = side.orders.map(one => one.restedAt >= began);
          const got = bought(sharedVolume(riskAverse()), side.orders, place, lots, 0, at, sweep);
          expect(got.filter((lots, i) => lots > 0 && late[i])).toEqual([]);
          sum += lots - got.reduce((total, n) => total + n, 0);
          expect(sum).toBeGreaterThanOrEqual(0);
          for (const one of [...side.orders]) if (one.left === 0) side.remove(one);
        }
      }),
    );
  });
});

test('a level that crosses us brings at most what it shows', () => {
  const orders = [ask(98, 10, 5), ask(99, 10, 5), ask(102, 10, 5)];
  sharedVolume(power(2)).crossed(orders, 1, 100, 13, () => undefined);
  expect(orders.map(order => order.left)).toEqual([0, 7, 10]);
});

test('our orders never take more of one execution than it had, and never more than they have left', () => {
  const order = fc.record({
    place: fc.integer({ min: 95, max: 105 }),
    lots: fc.integer({ min: 1, max: 50 }),
    front: between(0, 80),
  });
  fc.assert(
    fc.property(
      fc.array(order, { maxLength: 8 }),
      fc.array(fc.record({ place: fc.integer({ min: 94, max: 106 }), lots: fc.integer({ min: 1, max: 200 }) }), {
        maxLength: 12,
      }),
      (orders, trades) => {
        const side = new OwnSide(SELL, new Uint32Array(200));
        for (const { place, lots, front } of orders) side.add(ask(place, lots, front));
        const rule = sharedVolume(logarithmic());
        for (const { place, lots } of trades) {
          const taken = bought(rule, side.orders, place, lots).reduce((sum, n) => sum + n, 0);
          expect(taken).toBeLessThanOrEqual(lots);
          for (const one of [...side.orders]) {
            expect(one.left).toBeGreaterThanOrEqual(0);
            expect(Number.isInteger(one.left)).toBe(true);
            if (one.left === 0) side.remove(one);
          }
        }
      },
    ),
  );
});

describe('a queue model', () => {
  test.each([riskAverse(), power(1), power(2), power(3), logarithmic()])(
    'keeps the lots ahead between zero and the level, whatever happens ($name)',
    model => {
      const step = fc.record({ trade: fc.boolean(), lots: fc.integer({ min: 0, max: 300 }) });
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 300 }), fc.array(step, { maxLength: 40 }), (displayed, steps) => {
          const order = ask(100, 10, 0);
          model.joined(order, displayed);
          let level = displayed;
          for (const { trade, lots } of steps) {
            if (trade) model.traded(order, Math.min(lots, Math.max(0, order.front)));
            else {
              model.changed(order, level, lots, 0);
              level = lots;
              expect(order.front).toBeLessThanOrEqual(level);
            }
            expect(Number.isNaN(order.front)).toBe(false);
          }
        }),
      );
    },
  );

  test('that is risk-averse holds every cancel to be behind us', () => {
    const order = ask(100, 10, 0);
    riskAverse().joined(order, 40);
    riskAverse().changed(order, 90, 60, 0);
    expect(order.front).toBe(40);
    riskAverse().changed(order, 60, 25, 0);
    expect(order.front).toBe(25);
  });

  test('that shares by a power puts a cancel where more stands', () => {
    const order = ask(100, 10, 0);
    power(2).joined(order, 30);
    // 30 ahead and 10 behind: one tenth of the cancel was behind.
    power(2).changed(order, 40, 30, 0);
    expect(order.front).toBeCloseTo(30 - 0.9 * 10, 10);
  });

  test('does not count a trade a second time when the level shows it', () => {
    const order = ask(100, 10, 0);
    power(2).joined(order, 30);
    power(2).traded(order, 12);
    power(2).changed(order, 50, 38, 0);
    expect(order.front).toBe(18);
  });
});

test('where single orders are told, those that came before are ahead and those after are not', () => {
  const builder = new RowBuilder();
  for (let i = 0; i < 3; i++) builder.add(i, i, 100 + i, 5, FLAG.sell);
  const rows = builder.rows({
    born: Int32Array.from([0, 7, 0]),
    gone: Float64Array.from([4, 4, 6]),
    executed: Uint8Array.from([0, 0, 1]),
  });
  const order = ask(100, 10, 20, 5);
  exact(rows).changed(order, 40, 36, 0);
  expect(order.front).toBe(16);
  exact(rows).changed(order, 36, 32, 1);
  expect(order.front).toBe(16);
  // A taker met an order ahead of ours: not us. One who met an order behind ours would have met us.
  expect(bought(exactFills(rows), [order], 100, 6, 0)).toEqual([0]);
  expect(order.front).toBe(10);
  expect(bought(exactFills(rows), [order], 100, 6, 1)).toEqual([6]);
});

test.each(LEVEL_MODELS)(
  'a change of its level settles the trades before it: then only the lots ahead count for an order (%s)',
  name => {
    const { queue } = levelModel(name);
    const step = fc.record({ traded: fc.nat(12), changes: fc.boolean(), after: fc.nat(40) });
    fc.assert(
      fc.property(fc.nat(40), fc.nat(20), fc.array(step, { minLength: 2, maxLength: 20 }), (level, behind, steps) => {
        const order = ask(100, 10, 0);
        queue.joined(order, level);
        /** An order that has known only what came after the last change. */
        let anew = order;
        let before = level + behind;
        steps.forEach(({ traded, changes, after }, row) => {
          for (const each of new Set([order, anew])) {
            if (traded > 0) queue.traded(each, traded);
            if (changes) queue.changed(each, before, after, row);
          }
          expect(anew.front).toBe(order.front);
          if (!changes) return;
          expect(order.front).toBeLessThanOrEqual(after);
          before = after;
          anew = ask(100, 10, 0);
          queue.joined(anew, order.front);
        });
      }),
      runsOf(500, 60),
    );
  },
);
