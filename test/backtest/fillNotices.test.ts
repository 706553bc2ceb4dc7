import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MESSAGE } from '../../backtest/exchange/messageRing.ts';
import type { OwnOrder } from '../../backtest/exchange/ownOrders.ts';
import { constantLatency } from '../../backtest/index.ts';
import { FillNotices } from '../../backtest/replay/fillNotices.ts';
import { runsOf } from '../many.ts';
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

const orders = [0, 1, 2].map(n => ({ n }) as unknown as OwnOrder);
const happening = fc.record({
  after: fc.constantFrom(0, 1, 20, 500),
  what: fc.constantFrom('filled', 'filled', 'canceled', 'read', 'nothing'),
  order: fc.nat(2),
  sentAgo: fc.constantFrom(0, 30),
  takes: fc.constantFrom(0, 10, 700, 90_000),
});

test('a message waits for its own notice and for those that still wait before it, for a minute at most, and for nothing that was delivered', () => {
  fc.assert(
    fc.property(fc.array(happening, { minLength: 3, maxLength: 30 }), all => {
      let takes = 0;
      const notices = new FillNotices<{ kind: 5 | 6; order: OwnOrder; sent: number; n: number }>(() => takes);
      let waiting: { n: number; order: OwnOrder; isFill: boolean; at: number }[] = [];
      let now = 1_700_000_000_000;
      const latest = (of: typeof waiting) => Math.max(-Infinity, ...of.map(({ at }) => at));
      all.forEach(({ after, what, order: index, sentAgo, ...one }, n) => {
        now += after;
        takes = one.takes;
        const order = orders[index]!;
        const deliver = waiting.some(({ at }) => at <= now);
        expect(notices.due(now).map(message => message.n)).toEqual(deliver ? waiting.map(message => message.n) : []);
        if (deliver) waiting = [];
        if (what === 'read') {
          notices.releaseAll(now);
          expect(notices.due(now).map(message => message.n)).toEqual(waiting.map(message => message.n));
          waiting = [];
        } else if (what !== 'nothing') {
          const isFill = what === 'filled';
          const ofIt = waiting.filter(message => message.order === order);
          const before = isFill ? waiting.filter(message => message.isFill || message.order === order) : ofIt;
          const own = isFill ? now - sentAgo + Math.min(takes, 60_000) : now;
          const at = Math.max(now, own, latest(before));
          const waits = at > now || ofIt.length > 0;
          const kind = isFill ? MESSAGE.filled : MESSAGE.missed;
          expect(notices.holdBack({ kind, order, sent: now - sentAgo, n }, now)).toBe(waits);
          if (waits) waiting.push({ n, order, isFill, at });
        }
        expect(notices.dueAt).toBe(Math.min(Infinity, ...waiting.map(({ at }) => at)));
      });
    }),
    runsOf(2_000, 200),
  );
});
