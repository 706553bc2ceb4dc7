/** The watch over one bot in virtual time: how often it asks, when it backs off, and since when a bot is silent. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../src/core/index.ts';
import { ASK_EVERY_MS, BotWatch, DENIED_PAUSE_MS, STANDSTILL_MS } from '../../src/fleet/botWatch.ts';
import type { ConsoleAnswer } from '../../src/fleet/consoleClient.ts';
import { summaryWith } from './doubles.ts';

function watched(answer: (asked: number) => ConsoleAnswer) {
  const clock = new VirtualClock(1_000);
  const times: number[] = [];
  const began = clock.elapsed();
  const watch = new BotWatch(
    'a',
    {
      ask: async () => {
        times.push(clock.elapsed() - began);
        return answer(times.length);
      },
      close: async () => undefined,
    },
    clock,
    () => undefined,
  );
  return { clock, times, watch };
}
const fresh = (asked: number): ConsoleAnswer => ({ kind: 'summary', summary: summaryWith({}, { madeAt: asked }) });
const down: ConsoleAnswer = { kind: 'problem', problem: 'nothing listens' };

describe('a watch', () => {
  test('waits for the first answer, then asks twice a second', async () => {
    const { clock, times, watch } = watched(fresh);
    expect(watch.heard).toMatchObject({ state: 'waiting', summary: null });
    watch.start();
    await clock.advance(5_000);
    expect(times.length).toBeGreaterThanOrEqual(10);
    expect(times.every((time, i) => time === i * ASK_EVERY_MS)).toBe(true);
    expect(watch.heard).toMatchObject({ state: 'heard', problem: null });
    await watch.close();
    await clock.advance(5_000);
    expect(times.length).toBeLessThanOrEqual(12);
  });

  test('asks a silent console less and less often, up to every 15 s, and is back with the first answer', async () => {
    let isDown = true;
    const { clock, times, watch } = watched(asked => (isDown ? down : fresh(asked)));
    watch.start();
    await clock.advance(120_000);
    const pauses = times.slice(1).map((time, i) => time - times[i]!);
    expect(pauses.slice(0, 6)).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    expect(watch.heard).toMatchObject({ state: 'silent', problem: 'nothing listens', heardAgoMs: 120_000 });
    isDown = false;
    await clock.advance(15_000);
    expect(watch.heard).toMatchObject({ state: 'heard', problem: null });
    expect(watch.heard.heardAgoMs).toBeLessThanOrEqual(ASK_EVERY_MS);
  });

  test('pauses after each failure as after as many failures from the start, whatever was before an answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), async fails => {
        const [always, { watch }] = [watched(() => down), watched(asked => (fails[asked - 1] ? down : fresh(asked)))];
        const pauses: number[] = [];
        for (const _ of fails) pauses.push(await always.watch.askOnce());
        let failed = 0;
        for (const fail of fails) {
          failed = fail ? failed + 1 : 0;
          expect(await watch.askOnce()).toBe(fail ? pauses[failed - 1] : ASK_EVERY_MS);
        }
      }),
    );
  });

  test('keeps the last summary of a console that falls silent, with the time since which it is', async () => {
    const { clock, watch } = watched(asked => (asked <= 3 ? fresh(asked) : down));
    watch.start();
    await clock.advance(41_000);
    expect(watch.heard).toMatchObject({ state: 'silent', heardAgoMs: 40_000, summary: { madeAt: 3 } });
  });

  test('tries a rejected token once a minute, so that the console does not block this machine', async () => {
    const { clock, times, watch } = watched(() => ({ kind: 'problem', problem: 'rejected the token', isDenied: true }));
    watch.start();
    await clock.advance(10 * DENIED_PAUSE_MS);
    for (const from of times) expect(times.filter(time => time >= from && time < from + 60_000).length).toBe(1);
  });

  test('waits as long as a console asks for', async () => {
    const { clock, times, watch } = watched(() => ({ kind: 'problem', problem: 'wait', retryAfterMs: 40_000 }));
    watch.start();
    await clock.advance(39_000);
    expect(times).toEqual([0]);
  });

  test('calls answers that never change silent, as a proxy that stores them would send', async () => {
    const { clock, watch } = watched(() => fresh(1));
    watch.start();
    await clock.advance(STANDSTILL_MS);
    expect(watch.heard.state).toBe('heard');
    await clock.advance(1_000);
    expect(watch.heard).toMatchObject({
      state: 'silent',
      problem:
        'the console answers, but always with the same summary; check for a proxy that caches, or restart the console',
    });
  });
});
