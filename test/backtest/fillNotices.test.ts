import { expect, test } from 'vitest';
import { constantLatency } from '../../backtest/index.ts';
import { run } from './ladderRun.ts';

const at = (ms: number) => () => ms;

test('a fill is heard of as late as its notice takes or when the account is read, and never before an answer would have told of it', () => {
  const latency = constantLatency(20, 30);
  const { fills, result } = run({ latency, fillNotice: at(700) });
  const waits = fills.map(({ at: done, heardAt }) => heardAt - done);
  expect(waits.length).toBeGreaterThan(5);
  // Some wait for nothing but their notice, some for those before them, and some are found by the next read.
  expect(waits).toContain(700);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(30);
  expect(Math.min(...waits)).toBeLessThan(700);
  expect(result.left).toBe(0);
  const soon = run({ latency, fillNotice: at(5) });
  expect(soon.result.hash).toBe(run({ latency }).result.hash);
});

test('whatever notices take, every fill is told once, in order, before its order is over, and both ends hold the same', () => {
  let roll = 1;
  const drawn = () => (roll = (roll * 7_919) % 10_007) % 4_000;
  for (const fillNotice of [drawn, at(2_000), at(90_000)]) {
    // The replay itself throws when the account at the exchange and the ledger here differ at the end.
    const { fills, orders, result } = run({ fillNotice });
    expect(fills.length).toBe(result.snapshot.booked.fills);
    const heard = fills.map(({ heardAt }) => heardAt);
    expect(heard).toEqual([...heard].sort((a, b) => a - b));
    const ended = new Map(orders.map(({ orderId, endedAt }) => [orderId, endedAt]));
    for (const { orderId, heardAt } of fills) expect(heardAt).toBeLessThanOrEqual(ended.get(orderId) ?? Infinity);
    expect(result.left).toBe(0);
  }
});

test('who hears late of his fills holds more than he would', () => {
  const most = (ms: number) => run({ fillNotice: at(ms) }).result.collected;
  expect(most(0).position).toBe(run().result.collected.position);
  expect(most(3_000).profit.total).not.toBe(most(0).profit.total);
});
