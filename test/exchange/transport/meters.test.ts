/** Meters of a budget: weights in windows, several windows together, and what the exchange reports as used. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { VirtualClock } from '../../../src/core/index.ts';
import { Budget, type Slot } from '../../../src/exchange/transport/budget.ts';
import { decayingMeter, windowMeter } from '../../../src/exchange/transport/meters.ts';
import { between } from '../../draws.ts';

const WINDOWS = [
  { limit: 10, ms: 10_000 },
  { limit: 40, ms: 60_000 },
] as const;
const budgetOf = (clock: VirtualClock) =>
  new Budget(clock, { meters: WINDOWS.map(({ limit, ms }) => windowMeter(limit, ms)) });

describe('a budget of weights', () => {
  it('never lets more weight than a limit arrive in any sliding window, wherever in its time each request arrives', async () => {
    const call = fc.record({
      after: fc.integer({ min: 0, max: 5_000 }),
      takes: fc.integer({ min: 0, max: 4_000 }),
      arrives: between(0, 1),
      priority: fc.nat(2),
      weight: fc.integer({ min: 1, max: 11 }),
      waitMs: fc.integer({ min: 0, max: 60_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 40 }), async calls => {
        const clock = new VirtualClock();
        const budget = budgetOf(clock);
        const arrivals: { at: number; weight: number }[] = [];
        let settled = 0;
        for (const { after, takes, arrives, priority, weight, waitMs } of calls) {
          await clock.advance(after);
          void budget.take(priority, waitMs, weight).then(slot => {
            settled++;
            if (!slot) return;
            arrivals.push({ at: clock.elapsed() + takes * arrives, weight });
            clock.after(takes, slot.end);
          });
        }
        await clock.advance(300_000);
        expect(settled).toBe(calls.length);
        for (const { at } of arrivals)
          for (const { limit, ms } of WINDOWS) {
            const inWindow = arrivals.filter(each => each.at >= at && each.at < at + ms);
            expect(inWindow.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThanOrEqual(limit);
          }
        expect(budget.left()).toBe(10);
      }),
      { numRuns: 60 },
    );
  });

  it('rejects a weight above a limit immediately, and serves lighter requests after a heavy one gave up', async () => {
    const clock = new VirtualClock();
    const budget = budgetOf(clock);
    expect(await budget.take(0, 60_000, 11)).toBeNull();
    const first = (await budget.take(0, 0, 4)) as Slot;
    const heavy = budget.take(2, 1_000, 9);
    const light = budget.take(1, 5_000, 2);
    await clock.advance(1_000);
    expect([await heavy, (await light) === null]).toEqual([null, false]);
    first.end();
  });

  it('counts what the exchange reports as used, upwards only, until a window later', async () => {
    const clock = new VirtualClock();
    const budget = budgetOf(clock);
    const slot = (await budget.take(0, 0, 3)) as Slot;
    budget.raiseTo(2);
    expect(budget.left()).toBe(7);
    slot.end();
    budget.raiseTo(9);
    budget.raiseTo(9);
    budget.raiseTo(NaN);
    budget.raiseTo(1);
    expect(budget.left()).toBe(1);
    await clock.advance(9_999);
    expect(budget.left()).toBe(1);
    await clock.advance(1);
    expect(budget.left()).toBe(10);
  });

  it('gives a request that must not wait its slot above the limit, but not during a lockout of any length', async () => {
    for (const [ms, pause] of [
      [undefined, 60_000],
      [NaN, 60_000],
      [7_000, 7_000],
      [1e12, 3 * 24 * 60 * 60_000],
    ] as const) {
      const clock = new VirtualClock();
      const budget = budgetOf(clock);
      (await budget.take(0, 0, 10))!.end();
      budget.takeNow(5)!.end();
      expect(budget.left()).toBe(0);
      budget.lockOut(ms);
      budget.lockOut(1);
      await clock.advance(pause - 1);
      expect(budget.takeNow(1)).toBeNull();
      await clock.advance(1);
      expect(budget.takeNow(1)).not.toBeNull();
    }
  });
});

test('what the exchange reports as used includes the requests under way, and lowers nothing, whichever meter counts', async () => {
  const weights = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(weights, weights, fc.integer({ min: 0, max: 45 }), async (open, ended, used) => {
      for (const meter of [windowMeter(40, 60_000), decayingMeter(40, 1)]) {
        const budget = new Budget(new VirtualClock(), { meters: [meter] });
        const takes = async (all: readonly number[]) =>
          Promise.all(all.map(async weight => (await budget.take(0, 0, weight))!));
        const pending = await takes(open);
        for (const slot of await takes(ended)) slot.end();
        const counted = [...open, ...ended].reduce((sum, weight) => sum + weight, 0);
        budget.raiseTo(used);
        expect(budget.left()).toBe(Math.max(0, 40 - Math.max(counted, used)));
        // They count once also when they have ended.
        for (const slot of pending) slot.end();
        expect(budget.left()).toBe(Math.max(0, 40 - Math.max(counted, used)));
      }
    }),
    { numRuns: 60 },
  );
});

describe('a counter that decays', () => {
  it('never lets the counter of the exchange pass its limit, wherever in its time each request arrives', async () => {
    const call = fc.record({
      after: fc.integer({ min: 0, max: 3_000 }),
      takes: fc.integer({ min: 0, max: 4_000 }),
      arrives: between(0, 1),
      weight: fc.integer({ min: 1, max: 4 }),
      waitMs: fc.integer({ min: 0, max: 60_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 40 }), async calls => {
        const clock = new VirtualClock();
        const budget = new Budget(clock, { meters: [decayingMeter(15, 0.33)] });
        const arrivals: { at: number; weight: number }[] = [];
        for (const { after, takes, arrives, weight, waitMs } of calls) {
          await clock.advance(after);
          void budget.take(0, waitMs, weight).then(slot => {
            if (!slot) return;
            arrivals.push({ at: clock.elapsed() + takes * arrives, weight });
            clock.after(takes, slot.end);
          });
        }
        await clock.advance(300_000);
        let [level, last] = [0, 0];
        for (const { at, weight } of arrivals.sort((a, b) => a.at - b.at)) {
          level = Math.max(0, level - ((at - last) * 0.33) / 1_000) + weight;
          last = at;
          expect(level).toBeLessThanOrEqual(15 + 1e-6);
        }
        expect(budget.left()).toBe(15);
      }),
      { numRuns: 60 },
    );
  });

  it('serves a waiting request as soon as the counter has fallen far enough', async () => {
    const clock = new VirtualClock();
    const budget = new Budget(clock, { meters: [decayingMeter(2, 0.5)] });
    (await budget.take(0, 0, 2))!.end();
    let servedAt = -1;
    void budget.take(0, 60_000, 1).then(() => (servedAt = clock.elapsed()));
    await clock.advance(10_000);
    expect(servedAt).toBeGreaterThanOrEqual(2_000);
    expect(servedAt).toBeLessThanOrEqual(2_001);
  });

  it('counts what the exchange reports, upwards only', async () => {
    const clock = new VirtualClock();
    const budget = new Budget(clock, { meters: [decayingMeter(15, 1)] });
    budget.raiseTo(10);
    budget.raiseTo(3);
    expect(budget.left()).toBe(5);
    await clock.advance(4_000);
    expect(budget.left()).toBe(9);
  });
});
