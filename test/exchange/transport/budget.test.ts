import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';
import { Budget, type Slot } from '../../../src/exchange/transport/budget.ts';
import { between } from '../../draws.ts';

type Call = {
  readonly after: number;
  readonly takes: number;
  readonly priority: number;
  readonly waitMs: number;
  readonly isSent: boolean;
  readonly locksOut: boolean;
};

/** Every time has its own remainder, so that no two things happen at once and the turn of timers does not matter. */
const STEP = 1_000;
/** The clock has run for weeks, so that a sum of two times is nothing like their difference. */
const LONG_UP = 3e9;
const atStep = (ms: number, remainder: number): number => Math.ceil(ms / STEP) * STEP + remainder;

/** Order and time of service by the rules: at each moment the most urgent, then the oldest, while fewer than the limit are in the window. */
function servedByRule(calls: readonly Call[], perMinute: number, waitersMax: number): string[] {
  const served: string[] = [];
  const arrivals: number[] = [];
  calls.forEach(({ after }, n) => arrivals.push(atStep((arrivals[n - 1] ?? LONG_UP) + after, 5 * n)));
  const inUse: { readonly until: number }[] = [];
  let waiting: { readonly n: number; readonly until: number }[] = [];
  let pausedUntil = -1;
  const events = new Set(arrivals);
  for (const n of calls.keys()) if (calls[n]!.locksOut) events.add(arrivals[n]! + 3);
  const done = new Set<number>();
  for (let at = nextOf(events, done); at !== undefined; at = nextOf(events, done)) {
    done.add(at);
    const n = arrivals.indexOf(at);
    if (n >= 0) {
      if (waiting.length >= waitersMax) served.push(`${n} none ${at}`);
      else waiting.push({ n, until: at + calls[n]!.waitMs });
      events.add(at + calls[n]!.waitMs);
    }
    if (arrivals.includes(at - 3) && calls[arrivals.indexOf(at - 3)]!.locksOut) {
      pausedUntil = at + 60_000;
      events.add(pausedUntil);
    }
    const free = (): boolean => at >= pausedUntil && inUse.filter(({ until }) => until > at).length < perMinute;
    while (waiting.length > 0 && free()) {
      const urgency = Math.max(...waiting.map(one => calls[one.n]!.priority));
      const next = waiting.find(one => calls[one.n]!.priority === urgency)!;
      waiting = waiting.filter(one => one !== next);
      served.push(`${next.n} slot ${at}`);
      const endsAt = atStep(at + calls[next.n]!.takes, 5 * next.n + 1);
      const until = calls[next.n]!.isSent ? endsAt + 60_000 : endsAt;
      inUse.push({ until });
      events.add(until);
    }
    for (const one of waiting) if (one.until <= at) served.push(`${one.n} none ${at}`);
    waiting = waiting.filter(one => one.until > at);
  }
  return served;
}
const nextOf = (events: ReadonlySet<number>, done: ReadonlySet<number>): number | undefined => {
  const open = [...events].filter(at => !done.has(at));
  return open.length === 0 ? undefined : Math.min(...open);
};

describe('a budget', () => {
  it('never lets more than its limit arrive in any sliding minute, wherever between start and end each request arrives', async () => {
    const call = fc.record({
      after: fc.integer({ min: 0, max: 20_000 }),
      takes: fc.integer({ min: 0, max: 15_000 }),
      arrives: between(0, 1),
      priority: fc.nat(2),
      waitMs: fc.integer({ min: 0, max: 120_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(call, { maxLength: 40 }), async (perMinute, calls) => {
        const clock = new VirtualClock();
        const budget = new Budget(clock, { perMinute });
        const arrivals: number[] = [];
        let settled = 0;
        for (const { after, takes, arrives, priority, waitMs } of calls) {
          await clock.advance(after);
          void budget.take(priority, waitMs).then(slot => {
            settled++;
            if (!slot) return;
            arrivals.push(clock.elapsed() + takes * arrives);
            clock.after(takes, slot.end);
          });
        }
        await clock.advance(300_000);
        expect(settled).toBe(calls.length);
        arrivals.sort((a, b) => a - b);
        for (let i = perMinute; i < arrivals.length; i++) {
          expect(arrivals[i]! - arrivals[i - perMinute]!).toBeGreaterThanOrEqual(60_000);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('serves whom the rules say, at the moment they say, with lock-outs and with requests that were never sent', async () => {
    const call = fc.record({
      after: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40_000 })),
      takes: fc.integer({ min: 0, max: 15_000 }),
      priority: fc.nat(3),
      waitMs: fc.constantFrom(0, 1, 30, 70, 200).map(steps => steps * STEP),
      isSent: fc.boolean(),
      locksOut: fc.integer({ min: 0, max: 5 }).map(n => n === 0),
    });
    const limits = fc.record({ perMinute: fc.integer({ min: 1, max: 3 }), waitersMax: fc.integer({ min: 1, max: 4 }) });
    await fc.assert(
      fc.asyncProperty(limits, fc.array(call, { maxLength: 15, size: 'max' }), async (limit, calls) => {
        const clock = new VirtualClock();
        const budget = new Budget(clock, limit);
        const served: string[] = [];
        let at = LONG_UP;
        for (const [n, { after, takes, priority, waitMs, isSent, locksOut }] of calls.entries()) {
          const arrival = atStep(at + after, 5 * n);
          await clock.advance(arrival - clock.elapsed());
          at = arrival;
          void budget.take(priority, waitMs).then(slot => {
            served.push(`${n} ${slot ? 'slot' : 'none'} ${clock.elapsed()}`);
            const endsAt = atStep(clock.elapsed() + takes, 5 * n + 1);
            if (slot) clock.after(endsAt - clock.elapsed(), isSent ? slot.end : slot.release);
          });
          if (locksOut) clock.after(3, () => budget.lockOut());
        }
        await clock.advance(1_000_000);
        expect(served).toEqual(servedByRule(calls, limit.perMinute, limit.waitersMax));
        expect(budget.lockOuts()).toBe(calls.filter(({ locksOut }) => locksOut).length);
        expect(budget.left()).toBe(limit.perMinute);
      }),
      runsOf(3_000, 150),
    );
  });

  it('serves the more urgent first, then the older, and turns away who waited too long', async () => {
    const clock = new VirtualClock();
    const budget = new Budget(clock, { perMinute: 1 });
    const first = await budget.take(0, 0);
    const served: string[] = [];
    const wait = (name: string, priority: number, ms: number) =>
      void budget.take(priority, ms).then(slot => served.push(slot ? name : `${name} turned away`));
    wait('read', 1, 300_000);
    wait('older place', 2, 300_000);
    wait('younger place', 2, 300_000);
    wait('hasty place', 2, 1_000);
    first!.end();
    await clock.advance(60_000);
    expect(served).toEqual(['hasty place turned away', 'older place']);
    expect(await budget.take(9, 0)).toBeNull();
  });

  it('wakes once for each place that comes free, also where fractions of a millisecond round', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 1, max: 1e7, noNaN: true }), async endedAt => {
        const clock = new VirtualClock();
        await clock.advance(endedAt);
        const budget = new Budget(clock, { perMinute: 1 });
        (await budget.take(0, 0))!.end();
        const waiting = budget.take(0, 300_000);
        for (let wakes = 0; wakes < 5; wakes++) clock.runNext();
        expect(await waiting).not.toBeNull();
      }),
    );
  });

  it('lets nobody pass those who wait, in the moment before they are served', async () => {
    const clock = new VirtualClock();
    const budget = new Budget(clock, { perMinute: 1 });
    (await budget.take(0, 0))!.end();
    let passed: unknown;
    clock.after(60_000, () => void budget.take(0, 0).then(slot => (passed = slot)));
    const waiting = budget.take(2, 90_000);
    await clock.advance(60_000);
    expect(passed).toBeNull();
    expect(await waiting).not.toBeNull();
  });

  it('has a place free again a whole minute after its request has ended, and not a millisecond before', async () => {
    const clock = new VirtualClock();
    const budget = new Budget(clock, { perMinute: 1 });
    const slot = (await budget.take(0, 0)) as Slot;
    await clock.advance(5_000);
    slot.end();
    await clock.advance(59_999);
    expect(budget.left()).toBe(0);
    await clock.advance(1);
    expect(budget.left()).toBe(1);
  });

  it('gives a place back at once when no byte was sent, and only once', async () => {
    const clock = new VirtualClock();
    const budget = new Budget(clock, { perMinute: 2 });
    const slot = (await budget.take(0, 0)) as Slot;
    slot.release();
    slot.release();
    slot.end();
    expect(budget.left()).toBe(2);
  });

  it('pauses for a minute after a lock-out, counts it, and serves who waited', async () => {
    const clock = new VirtualClock();
    const budget = new Budget(clock, { perMinute: 10 });
    budget.lockOut();
    expect(budget.left()).toBe(0);
    let servedAt = -1;
    void budget.take(0, 90_000).then(slot => (servedAt = slot ? clock.elapsed() : -2));
    expect(await budget.take(2, 0)).toBeNull();
    await clock.advance(59_999);
    expect(servedAt).toBe(-1);
    await clock.advance(1);
    expect(servedAt).toBe(60_000);
    expect(budget.lockOuts()).toBe(1);
  });

  it('stays paused until a minute after the last lock-out, however many there were', async () => {
    const waits = fc.array(fc.integer({ min: 0, max: 90_000 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(waits, fc.integer({ min: 0, max: 59_999 }), async (pauses, early) => {
        const clock = new VirtualClock();
        const budget = new Budget(clock, { perMinute: 10 });
        for (const ms of pauses) {
          await clock.advance(ms);
          budget.lockOut();
        }
        const lastAt = clock.elapsed();
        let servedAt = -1;
        void budget.take(0, 300_000).then(slot => (servedAt = slot ? clock.elapsed() : -2));
        await clock.advance(early);
        expect(budget.left()).toBe(0);
        await clock.advance(120_000);
        expect(servedAt).toBe(lastAt + 60_000);
        expect(budget.lockOuts()).toBe(pauses.length);
      }),
    );
  });

  it('grants nothing before the latest end of a pause that it shares with other budgets', async () => {
    const told = fc.record({ which: fc.nat(2), ms: fc.integer({ min: 1, max: 90_000 }), passed: fc.nat(60_000) });
    await fc.assert(
      fc.asyncProperty(fc.array(told, { minLength: 1, maxLength: 6 }), fc.nat(2), async (lockOuts, asked) => {
        const clock = new VirtualClock();
        const pause = { until: -Infinity };
        const budgets = [0, 1, 2].map(() => new Budget(clock, { perMinute: 10, pause }));
        let end = 0;
        for (const { which, ms, passed } of lockOuts) {
          budgets[which]!.lockOut(ms);
          end = Math.max(end, clock.elapsed() + ms);
          await clock.advance(passed);
        }
        const from = clock.elapsed();
        expect(budgets.map(budget => budget.left() === 0)).toEqual(budgets.map(() => from < end));
        let servedAt = -1;
        void budgets[asked]!.take(0, 300_000).then(slot => (servedAt = slot ? clock.elapsed() : -2));
        await clock.advance(200_000);
        expect(servedAt).toBe(Math.max(from, end));
      }),
      runsOf(300, 50),
    );
  });

  it('lets no more than its maximum wait', async () => {
    const budget = new Budget(new VirtualClock(), { perMinute: 1, waitersMax: 1 });
    await budget.take(0, 0);
    const waiting = budget.take(0, 1_000);
    expect(await budget.take(5, 1_000)).toBeNull();
    budget.close();
    expect(await waiting).toBeNull();
  });

  it('leaves no timer behind once nobody waits, or once it is closed', async () => {
    for (const end of ['served', 'closed'] as const) {
      const clock = new VirtualClock();
      const budget = new Budget(clock, { perMinute: 2 });
      const [first, second] = [await budget.take(0, 0), await budget.take(0, 0)];
      first!.end();
      const waiting = budget.take(0, 90_000);
      expect(clock.nextDue()).toBe(60_000);
      if (end === 'served') second!.release();
      else budget.close();
      expect((await waiting) === null).toBe(end === 'closed');
      expect(clock.nextDue()).toBeUndefined();
    }
  });

  it('refuses a limit that is not a whole number above zero', () => {
    for (const perMinute of [0, -1, 1.5, NaN, Infinity]) {
      expect(() => new Budget(new VirtualClock(), { perMinute })).toThrow(
        new RangeError(`perMinute must be a whole number above 0, found ${perMinute}`),
      );
    }
  });

  it('serves who waits on a clock whose readings have fractions, without turning in place', async () => {
    const clock = new VirtualClock();
    const budget = new Budget(clock, { perMinute: 1 });
    for (let round = 0; round < 50; round++) {
      clock.after(0.1 + round / 7, () => undefined);
      clock.runNext();
      const first = budget.take(0, 200_000);
      const second = budget.take(0, 200_000);
      let served = 0;
      for (const taken of [first, second]) {
        void taken.then(slot => {
          served++;
          slot?.end();
        });
      }
      for (let turns = 0; served < 2; turns++) {
        expect(turns).toBeLessThan(100);
        await Promise.resolve();
        await Promise.resolve();
        if (clock.nextDue() !== undefined) clock.runNext();
      }
    }
  });
});
