/** Limits of the second exchange beside a model that keeps every request and counts them again each time. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BinanceFailure } from '../../../src/sandbox/binance/failures.ts';
import { secondSwitchesOf } from '../../../src/sandbox/binance/binanceSwitches.ts';
import { RequestWeights } from '../../../src/sandbox/binance/requestWeights.ts';
import { runsOf } from '../../many.ts';

const [MINUTE, DAY, BAN] = [60_000, 86_400_000, 120_000];
const EPOCH = 1_790_000_000_000;

/** Returns the result of a call, or the status, seconds to wait and message of its refusal. */
function endOf<T>(call: () => T): T | { status: number; wait: number | null; message: string } {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof BinanceFailure)) throw error;
    return { status: error.status, wait: error.retryAfterS, message: error.message };
  }
}
const waitFor = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

const wait = fc.oneof(
  { weight: 4, arbitrary: fc.nat(9_000) },
  { weight: 2, arbitrary: fc.constantFrom(0, 10_000, MINUTE, BAN) },
  { weight: 1, arbitrary: fc.integer({ min: DAY - 30_000, max: DAY }) },
);

test('each address has its own weight per minute and its own ban, which ends after its time and not before', () => {
  const step = fc.record({ who: fc.constantFrom('a', 'b'), weight: fc.integer({ min: 1, max: 30 }), wait });
  const seen = new Set<number>();
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 80 }), steps => {
      const switches = secondSwitchesOf({ weightPerMinute: 50, banAfter: 2 });
      let now = 0;
      const weights = new RequestWeights({ now: () => EPOCH + now, elapsed: () => now });
      const granted: { readonly who: string; readonly at: number; readonly weight: number }[] = [];
      const refusals = new Map<string, number>();
      const bans = new Map<string, number>();
      for (const { who, weight, wait: ms } of steps) {
        now += ms;
        const used = granted
          .filter(each => each.who === who && Math.floor(each.at / MINUTE) === Math.floor(now / MINUTE))
          .reduce((sum, each) => sum + each.weight, 0);
        const end = endOf(() => weights.charge(who, weight, switches));
        const left = (bans.get(who) ?? 0) - now;
        const banned = (of: number) => ({
          ...{ status: 418, wait: waitFor(of) },
          message: `Way too much request weight used; IP banned until ${EPOCH + now + of}. Please use WebSocket Streams for live updates to avoid bans.`,
        });
        if (left > 0) expect(end).toEqual(banned(left));
        else if (used + weight <= 50) {
          expect(end).toBe(used + weight);
          granted.push({ who, at: now, weight });
          refusals.set(who, 0);
        } else {
          refusals.set(who, (refusals.get(who) ?? 0) + 1);
          if (refusals.get(who)! > 2) {
            bans.set(who, now + BAN);
            expect(end).toEqual(banned(BAN));
          } else expect(end).toMatchObject({ status: 429, wait: waitFor(MINUTE - (now % MINUTE)) });
        }
        seen.add(typeof end === 'number' ? 200 : end.status);
      }
    }),
    runsOf(300, 60),
  );
  expect([...seen].sort()).toEqual([200, 418, 429]);
});

test('each account has its own orders per 10 s and per day; a refused order counts in neither', () => {
  const step = fc.record({ who: fc.constantFrom('1', '2'), wait });
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), steps => {
      const switches = secondSwitchesOf({ ordersPer10s: 2, ordersPerDay: 5 });
      let now = 0;
      const weights = new RequestWeights({ now: () => EPOCH + now, elapsed: () => now });
      const granted: { readonly who: string; readonly at: number }[] = [];
      const countOf = (who: string, window: number): number =>
        granted.filter(each => each.who === who && Math.floor(each.at / window) === Math.floor(now / window)).length;
      for (const { who, wait: ms } of steps) {
        now += ms;
        const end = endOf(() => weights.chargeOrder(who, switches));
        const refused = (window: number, limit: string) => ({
          ...{ status: 429, wait: waitFor(window - (now % window)) },
          message: `Too many new orders; current limit is ${limit}.`,
        });
        if (countOf(who, 10_000) >= 2) expect(end).toEqual(refused(10_000, '2 orders per 10 SECOND'));
        else if (countOf(who, DAY) >= 5) expect(end).toEqual(refused(DAY, '5 orders per 1 DAY'));
        else {
          expect(end).toBeUndefined();
          granted.push({ who, at: now });
        }
        seen.add(end === undefined ? 'granted' : end.message);
        for (const each of ['1', '2'])
          expect(weights.ordersUsed(each)).toEqual({ short: countOf(each, 10_000), day: countOf(each, DAY) });
      }
    }),
    runsOf(300, 60),
  );
  expect(seen.size).toBe(3);
});

test('without limits nothing is refused, and the used weight is counted all the same', () => {
  const switches = secondSwitchesOf({ rateLimits: 'off', weightPerMinute: 1, ordersPer10s: 1, ordersPerDay: 1 });
  const weights = new RequestWeights({ now: () => EPOCH, elapsed: () => 0 });
  expect([5, 7, 11].map(weight => weights.charge('a', weight, switches))).toEqual([5, 12, 23]);
  for (let n = 0; n < 3; n++) weights.chargeOrder('1', switches);
  expect(weights.ordersUsed('1')).toEqual({ short: 0, day: 0 });
});
