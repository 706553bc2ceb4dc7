/** Timestamps of signed requests, over every history of measurements of the exchange's time. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sleep, VirtualClock, type Millis, type Outcome } from '../../../src/core/index.ts';
import { ServerTime } from '../../../src/exchange/binance/wire/serverTime.ts';
import { between } from '../../draws.ts';
import { runsOf } from '../../many.ts';

/** One wait, with the fate of a measurement that begins in it, and what the holder of the time does after it. */
const happenings = fc.array(
  fc.record({
    ms: fc.constantFrom(0, 50, 3_000, 4_000, 9_999, 10_000, 600_000, 1_800_000),
    does: fc.constantFrom('ready', 'refresh', 'distrust'),
    fails: fc.boolean(),
    /** Time until the exchange reads its clock, and until its answer arrives. */
    thereMs: between(0, 5_000),
    backMs: between(0, 5_000),
    /** The clock of the exchange and that of this machine may jump. */
    jumpMs: fc.constantFrom(0, 0, 0, -60_000, 60_000),
    localJumpMs: fc.constantFrom(0, -86_400_000, 86_400_000),
  }),
  { minLength: 1, maxLength: 12 },
);

test('a timestamp is never ahead of the exchange, and behind it by at most the round trip of the measurement', async () => {
  let behindMax = 0;
  await fc.assert(
    fc.asyncProperty(happenings, between(-7_200_000, 7_200_000), async (history, offset) => {
      const clock = new VirtualClock();
      const epoch = clock.now();
      let jumped = 0;
      const exchange = (): Millis => epoch + offset + jumped + clock.elapsed();
      let next = history[0]!;
      let [underWay, measurements] = [0, 0];
      /** Round trip of the last measurement, and the sum of the jumps of the exchange's clock until then; `null` before it. */
      let good: { readonly roundMs: Millis; readonly jumped: Millis } | null = null;
      let [dueAt, isTrusted] = [-Infinity, false];
      /** Whether a timestamp was rejected during the measurement, which may have read the clock before that. */
      let isStale = false;
      const time = new ServerTime(clock, async (): Promise<Outcome<Millis>> => {
        const { fails, thereMs, backMs } = next;
        expect([underWay++, clock.elapsed() >= dueAt]).toEqual([0, true]);
        measurements++;
        isStale = false;
        await sleep(clock, thereMs);
        const [value, jumpedThen] = [exchange(), jumped];
        await sleep(clock, backMs);
        underWay--;
        dueAt = isStale ? -Infinity : clock.elapsed() + (fails ? 10_000 : 1_800_000);
        if (fails) return { kind: 'unknown', reason: 'no answer' };
        isTrusted = !isStale;
        good = { roundMs: thereMs + backMs, jumped: jumpedThen };
        return { kind: 'done', value };
      });
      const check = () => {
        const stamp = time.now();
        expect(Number.isInteger(stamp)).toBe(true);
        if (good === null) expect(stamp).toBe(Math.floor(clock.now()));
        if (good === null || good.jumped !== jumped) return;
        const behind = exchange() - stamp;
        behindMax = Math.max(behindMax, behind);
        // Times are whole milliseconds, rounded down.
        expect(behind).toBeGreaterThanOrEqual(-0.001);
        expect(behind).toBeLessThanOrEqual(good.roundMs + 1.001);
      };
      for (const happening of history) {
        next = happening;
        jumped += happening.jumpMs;
        clock.step(happening.localJumpMs);
        const before = measurements;
        const wasDue = clock.elapsed() >= dueAt && underWay === 0;
        const wasUnderWay = underWay > 0;
        if (happening.does === 'distrust') {
          isStale = underWay > 0;
          if (!isStale) dueAt = -Infinity;
          isTrusted = false;
          time.distrust();
        } else if (happening.does === 'refresh') time.refresh();
        else {
          let isReady = false;
          const wasTrusted = isTrusted;
          void time.ready().then(() => (isReady = true));
          await clock.advance(0);
          // A request waits for a measurement only while no usable time is known.
          if (wasTrusted) expect(isReady).toBe(true);
          else if (underWay > 0) expect(isReady).toBe(false);
          // A second measurement follows one during which a timestamp was rejected.
          await clock.advance(20_000);
          expect(isReady).toBe(true);
        }
        if (wasDue || (happening.does === 'distrust' && !wasUnderWay)) expect(measurements).toBe(before + 1);
        check();
        await clock.advance(happening.ms);
        check();
      }
      await clock.advance(20_000);
      if (!isTrusted && measurements > 0) expect(dueAt).toBeGreaterThan(-Infinity);
    }),
    runsOf(3_000, 150),
  );
  // Some measurement was slow.
  expect(behindMax).toBeGreaterThan(1_000);
});
