import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  depthImbalance,
  flowOf,
  normal,
  OrderFlow,
  randomOf,
  TradeMean,
  RunningDeviation,
} from '../../../src/core/index.ts';
import { depthOf } from '../market.ts';

const touch = (bid: number, bidAmount: number, ask: number, askAmount: number, at = 0) => ({
  at,
  bid,
  bidAmount,
  ask,
  askAmount,
});

test('an imbalance down to nothing is that of the touch', () => {
  const depth = depthOf(
    [
      [10, 3],
      [9, 100],
    ],
    [[12, 1]],
  );
  expect(depthImbalance(depth, 11, 0)).toBe(0.5);
  expect(depthImbalance(depthOf([], [[12, 1]]), 11, 0)).toBe(-1);
});

describe('order flow', () => {
  // Each row by hand, from the four terms of the paper.
  test.each([
    ['more on the bid is demand', touch(10, 5, 12, 5), touch(10, 8, 12, 5), 3],
    ['less on the ask is demand', touch(10, 5, 12, 5), touch(10, 5, 12, 1), 4],
    ['a bid that rises counts whole', touch(10, 5, 12, 5), touch(11, 2, 12, 5), 2],
    ['a bid that falls takes its amount away', touch(10, 5, 12, 5), touch(9, 7, 12, 5), -5],
    ['an ask that falls counts against', touch(10, 5, 12, 5), touch(10, 5, 11, 3), -3],
    ['an ask that is gone counts whole', touch(10, 5, 12, 5), touch(10, 5, 13, 9), 5],
    ['nothing is nothing', touch(10, 5, 12, 5), touch(10, 5, 12, 5), 0],
  ])('%s', (_, from, to, expected) => {
    expect(flowOf(from, to)).toBe(expected);
  });

  const touches = fc.record({
    bid: fc.integer({ min: 1, max: 50 }),
    gap: fc.integer({ min: 1, max: 5 }),
    bidAmount: fc.integer({ min: 1, max: 100 }),
    askAmount: fc.integer({ min: 1, max: 100 }),
  });
  const seen = (t: { bid: number; gap: number; bidAmount: number; askAmount: number }) =>
    touch(t.bid, t.bidAmount, t.bid + t.gap, t.askAmount);

  test('of the market turned upside down is the opposite', () => {
    const mirror = (t: ReturnType<typeof touch>) => touch(100 - t.ask, t.askAmount, 100 - t.bid, t.bidAmount);
    fc.assert(
      fc.property(touches, touches, (a, b) => {
        expect(flowOf(mirror(seen(a)), mirror(seen(b)))).toBeCloseTo(-flowOf(seen(a), seen(b)), 12);
      }),
    );
  });

  test('is forgotten e times in each memory, and begins anew after a silence or a touch that is none', () => {
    const flow = new OrderFlow(10_000);
    expect([flow.sum, flow.since]).toEqual([Number.NaN, Number.NaN]);
    flow.observe(touch(10, 5, 12, 5, 1_000));
    flow.observe(touch(10, 9, 12, 5, 2_000));
    expect(flow.sum).toBe(4);
    flow.observe(touch(10, 9, 12, 5, 7_000));
    expect(flow.sum).toBeCloseTo(4 * Math.exp(-0.5), 12);
    flow.observe(touch(10, 1, 12, 5, 17_001));
    expect([flow.sum, flow.since]).toEqual([0, 17_001]);
    flow.observe(touch(10, Number.NaN, 12, 5, 17_002));
    expect(flow.sum).toBeNaN();
    flow.observe(touch(10, 99, 12, 5, 17_003));
    expect([flow.sum, flow.since]).toEqual([0, 17_003]);
  });

  test('recovers the coefficient by which it moved a generated market', () => {
    const random = randomOf(3);
    const beta = 0.02;
    const flow = new OrderFlow(2_000);
    let [xx, xy] = [0, 0];
    for (let at = 0; at < 5_000_000; at += 1_000) {
      flow.observe(touch(10, 1 + random.integer(0, 99), 12, 1 + random.integer(0, 99), at));
      const move = beta * flow.sum + normal(random);
      xx += flow.sum ** 2;
      xy += flow.sum * move;
    }
    expect(Math.abs(xy / xx - beta)).toBeLessThan(3 / Math.sqrt(xx));
  });
});

describe('the mean of the last trades', () => {
  test('is the mean by amount of trades of one moment, and leans to the newer ones', () => {
    const mean = new TradeMean(1_000);
    expect([mean.price, mean.at]).toEqual([Number.NaN, -Infinity]);
    mean.trade(5, 100, 1);
    mean.trade(5, 104, 3);
    expect(mean.price).toBe(103);
    mean.trade(1_005, 90, 4 * Math.exp(-1));
    expect(mean.price).toBeCloseTo(96.5, 10);
  });

  test('lies between the lowest and the highest price, whatever is told', () => {
    const trades = fc.record({
      at: fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.constantFrom(Number.NaN, Infinity)),
      price: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.constantFrom(0, -5, Number.NaN, Infinity)),
      amount: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.constantFrom(0, -1, Number.NaN, Infinity)),
    });
    fc.assert(
      fc.property(fc.array(trades, { maxLength: 30 }), list => {
        const mean = new TradeMean(500);
        for (const { at, price, amount } of list) mean.trade(at, price, amount);
        const good = list.filter(t => Number.isFinite(t.at + t.price + t.amount) && t.price > 0 && t.amount > 0);
        if (good.length === 0) expect(mean.price).toBeNaN();
        else {
          expect(mean.price).toBeGreaterThanOrEqual(Math.min(...good.map(t => t.price)) - 1e-9);
          expect(mean.price).toBeLessThanOrEqual(Math.max(...good.map(t => t.price)) + 1e-9);
        }
      }),
    );
  });
});

test('the imbalance of a book counts amounts within the depth, between -1 and 1', () => {
  const depth = depthOf(
    [
      [99, 30],
      [90, 500],
    ],
    [
      [101, 10],
      [110, 500],
    ],
  );
  expect(depthImbalance(depth, 100, 100)).toBe(0.5);
  expect(depthImbalance(depth, 100, 1_000)).toBeCloseTo(20 / 1_040, 12);
  expect(depthImbalance(depth, 100, 1)).toBe(0);
});

test('what is always there is not unusual, and a number that is none changes nothing', () => {
  const usual = new RunningDeviation(1_000);
  for (let at = 0; at <= 100_000; at += 500) usual.deviations(at, 0.6);
  expect(Math.abs(usual.deviations(100_500, 0.6))).toBeLessThan(1e-6);
  expect(usual.deviations(101_000, Number.NaN)).toBeNaN();
  expect(usual.deviations(101_000, 0.7)).toBeGreaterThan(1);
});
