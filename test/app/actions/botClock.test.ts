/** Times that an operator names, for a bot whose clock runs faster than the machine's. */
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { holdersOf } from '../../../src/app/inspect/botLife.ts';
import { remoteBot } from '../../../src/app/remote/remote.ts';
import { timeOrAgeFlag } from '../../../src/cli/terminal/flags.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { botClockIn, HEARTBEAT_FILES, heartbeatIn } from '../../../src/live/safety/heartbeat.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { pauseAt } from '../../../src/live/safety/pauseWatch.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-clock-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const WALL = 1_800_000_000_000;
const speeds = fc.constantFrom(1, 0.5, 2, 30, 1_000);

/** A bot that has run for `ranMs` of real time at that speed, and showed life half a second before WALL. */
function bot(speed: number, ranMs: number, state: 'alive' | 'stopped') {
  const dir = mkdtempSync(join(root, 'state-'));
  const startedAt = WALL - 500 - ranMs;
  const beatAt = speed === 1 ? WALL - 500 : startedAt + ranMs * speed;
  heartbeatIn(dir, 'bot', new VirtualClock(beatAt), speed).beat(state);
  utimesSync(join(dir, HEARTBEAT_FILES.bot), (WALL - 500) / 1_000, (WALL - 500) / 1_000);
  /** What the bot's clock says at a time of the machine. */
  const at = (wall: number) => beatAt + (wall - (WALL - 500)) * speed;
  return { dir, at };
}

test('a pause for so long holds for so long in real time, however fast the clock of the bot runs', async () => {
  await fc.assert(
    fc.asyncProperty(
      speeds,
      fc.integer({ min: 0, max: 86_400_000 }),
      fc.integer({ min: 1_000, max: 86_400_000 }),
      async (speed, ranMs, forMs) => {
        const { dir, at } = bot(speed, ranMs, 'alive');
        const ask = { id: 'p-1', action: 'pause', reason: 'a test', by: 'ann', via: 'command' } as const;
        const { end } = await executeAction(
          { stateDir: dir },
          { ...ask, untilMs: WALL + forMs },
          new VirtualClock(WALL),
        );
        expect(end).toBe('done');
        const latch = latchIn(dir);
        expect(pauseAt(latch, at(WALL))).not.toBe(null);
        expect(pauseAt(latch, at(WALL + forMs) - 2 * speed)).not.toBe(null);
        expect(pauseAt(latch, at(WALL + forMs) + 2 * speed)).toBe(null);
        // Whoever looks from outside sees the same.
        const isSeen = (wall: number) => holdersOf(dir, wall).some(({ what }) => what === 'pause');
        expect([isSeen(WALL), isSeen(WALL + forMs - 2), isSeen(WALL + forMs + 2)]).toEqual([true, true, false]);
        // The remote control compares it with pauses by the wall clock.
        const told = (wall: number) => remoteBot({ stateDir: dir }, new VirtualClock(wall), async () => []).pauseNow();
        expect(Math.abs(told(WALL)!.until! - (WALL + forMs))).toBeLessThanOrEqual(2);
        expect([told(WALL + forMs - 2) === null, told(WALL + forMs + 2)]).toEqual([false, null]);
        rmSync(dir, { recursive: true });
      },
    ),
    { numRuns: 60 },
  );
});

test.each([
  [59_000, 'done', /./],
  [61_000, 'refused', /stops in force have changed since the preview/],
])(
  'a pause of a minute that a preview saw is in force after %i ms by the clock of the bot: %s',
  async (ms, end, line) => {
    for (const speed of [0.5, 1, 30]) {
      const { dir } = bot(speed, 60_000, 'alive');
      const pause = { id: 'p-1', action: 'pause', reason: 'a test', by: 'ann', via: 'command' } as const;
      await executeAction({ stateDir: dir }, { ...pause, untilMs: WALL + 60_000 }, new VirtualClock(WALL));
      const clock = new VirtualClock(WALL);
      const { actions } = remoteBot({ stateDir: dir }, clock, async () => []);
      const request = { action: 'pause', reason: 'another', by: 'ben', minutes: null, costMax: null };
      const prepared = await actions.prepare(request, () => undefined);
      await clock.advance(ms);
      const over = await prepared.execute();
      expect([speed, over.end, over.lines[0]]).toEqual([speed, end, expect.stringMatching(line)]);
      rmSync(dir, { recursive: true });
    }
  },
);

test('a pause for so long is refused where no bot runs whose clock could be read, and one without an end is not', async () => {
  const { dir } = bot(30, 60_000, 'stopped');
  const ask = { id: 'p-1', action: 'pause', reason: 'a test', by: 'ann', via: 'command' } as const;
  const timed = await executeAction({ stateDir: dir }, { ...ask, untilMs: WALL + 60_000 }, new VirtualClock(WALL));
  expect([timed.end, timed.lines[0]]).toEqual([
    'refused',
    expect.stringMatching(/30 times real time.*pause the bot without --for/),
  ]);
  expect(latchIn(dir).readPause()).toBe(null);
  expect((await executeAction({ stateDir: dir }, ask, new VirtualClock(WALL))).end).toBe('done');
});

test('so long ago means real time, by the clock that the bot records', () => {
  fc.assert(
    fc.property(speeds, fc.integer({ min: 1, max: 3_600 }), (speed, seconds) => {
      const { dir, at } = bot(speed, 7_200_000, 'alive');
      const clock = botClockIn(dir);
      const found = timeOrAgeFlag(`${seconds}s`)(clock.at(WALL), clock.speed);
      expect(Math.abs(found - at(WALL - seconds * 1_000))).toBeLessThanOrEqual(2 * speed);
      // A time that is written out is one of the recording.
      expect(timeOrAgeFlag('2026-11-22T13:05:00Z')(clock.at(WALL), clock.speed)).toBe(Date.UTC(2026, 10, 22, 13, 5));
      rmSync(dir, { recursive: true });
    }),
    { numRuns: 30 },
  );
});
