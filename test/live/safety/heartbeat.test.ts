/** The pulse of a process in its file, field by field, and the watch over it to the millisecond. */
import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { VirtualClock } from '../../../src/core/index.ts';
import {
  botClockIn,
  heartbeatIn,
  isThere,
  readHeartbeat,
  Watch,
  type HeartbeatRecord,
} from '../../../src/live/safety/heartbeat.ts';
import { Folders } from '../states.ts';

const folders = new Folders();
afterAll(() => folders.clear());
function fresh(): string {
  const dir = folders.fresh();
  mkdirSync(dir, { recursive: true });
  return dir;
}
const record = (changes: Partial<HeartbeatRecord> = {}): HeartbeatRecord => ({
  ...{ counter: 1, state: 'alive', born: 1_767_000_000_000, reads: 3, unreadMs: 0 },
  ...changes,
});

describe('a heartbeat', () => {
  test('says who beats, how often, since when, and how long nothing was read', async () => {
    const dir = fresh();
    const clock = new VirtualClock();
    const born = clock.now();
    const pulse = heartbeatIn(dir, 'bot', clock);
    const process_ = { pid: process.pid, host: hostname() };
    pulse.beat('alive');
    const first = { counter: 1, state: 'alive', born, reads: 0, unreadMs: 0, process: process_ };
    expect(readHeartbeat(dir, 'bot')).toEqual(first);
    expect(readHeartbeat(dir, 'sentinel')).toBeNull();
    await clock.advance(1_500);
    pulse.beat('kept out');
    expect(readHeartbeat(dir, 'bot')).toEqual({ ...first, counter: 2, state: 'kept out', unreadMs: 1_500 });
    pulse.read();
    expect(readHeartbeat(dir, 'bot')).toEqual({ ...first, counter: 3, reads: 1 });
    await clock.advance(200);
    pulse.setMetricsPort(9_464);
    pulse.beat('stopped');
    const last = { ...first, counter: 4, state: 'stopped', reads: 1, unreadMs: 200, metricsPort: 9_464 };
    expect(readHeartbeat(dir, 'bot')).toEqual(last);
    // The next process counts on, and knows nothing else of this one.
    heartbeatIn(dir, 'bot', clock).beat('alive');
    expect(readHeartbeat(dir, 'bot')).toEqual({ ...first, counter: 5, born: born + 1_700 });
  });

  test.each([
    ['', null],
    ['{"counter":1.5}', null],
    ['{"counter":"1"}', null],
    ['{"counter":7}', record({ counter: 7, born: 0, reads: 0 })],
    ['{"counter":7,"state":"odd","born":null,"reads":1e999,"unreadMs":"x"}', record({ counter: 7, born: 0, reads: 0 })],
    [
      '{"counter":7,"state":"kept out","born":5,"reads":2,"unreadMs":9}',
      record({ counter: 7, state: 'kept out', born: 5, reads: 2, unreadMs: 9 }),
    ],
    [
      '{"counter":7,"process":{"pid":1.5,"host":"a"},"clock":{"at":5,"speed":0},"metricsPort":0}',
      record({ counter: 7, born: 0, reads: 0 }),
    ],
    ['{"counter":7,"clock":{"at":null,"speed":2},"metricsPort":65536}', record({ counter: 7, born: 0, reads: 0 })],
    ['{"counter":7,"metricsPort":1.5}', record({ counter: 7, born: 0, reads: 0 })],
    [
      '{"counter":7,"process":{"pid":5,"host":6},"clock":{"at":5,"speed":0.5},"metricsPort":65535}',
      record({
        counter: 7,
        born: 0,
        reads: 0,
        process: { pid: 5, host: '6' },
        clock: { at: 5, speed: 0.5 },
        metricsPort: 65_535,
      }),
    ],
    ['{"counter":7,"metricsPort":1}', record({ counter: 7, born: 0, reads: 0, metricsPort: 1 })],
  ] as const)('with the text %s is read as far as it can be', (text, read) => {
    const dir = fresh();
    writeFileSync(join(dir, 'heartbeat.json'), text);
    expect(readHeartbeat(dir, 'bot')).toEqual(read);
  });

  test('tells whether its process is there, where that can be known', () => {
    const host = hostname();
    expect(isThere(record())).toBeNull();
    expect(isThere(record({ process: { pid: process.pid, host: `${host}-other` } }))).toBeNull();
    expect(isThere(record({ process: { pid: process.pid, host } }))).toBe(true);
    // Above the largest process id.
    expect(isThere(record({ process: { pid: 2 ** 30, host } }))).toBe(false);
  });

  test('tells the clock of a bot that runs faster, from when it was written', async () => {
    const dir = fresh();
    expect(botClockIn(dir)).toMatchObject({ speed: 1 });
    expect(botClockIn(dir).at(5)).toBe(5);
    const clock = new VirtualClock();
    await clock.advance(50_000);
    heartbeatIn(dir, 'bot', clock, 60).beat('alive');
    const file = join(dir, 'heartbeat.json');
    utimesSync(file, 1_700_000_000, 1_700_000_000);
    const wall = statSync(file).mtimeMs;
    const bot = botClockIn(dir);
    expect([bot.speed, bot.at(wall), bot.at(wall + 1_000), bot.at(wall - 10)]).toEqual([
      60,
      clock.now(),
      clock.now() + 60_000,
      clock.now() - 600,
    ]);
  });
});

describe('the watch over a heartbeat', () => {
  function watched() {
    const state = { now: 7_000, read: null as HeartbeatRecord | null };
    const watch = new Watch(
      () => state.read,
      () => state.now,
    );
    const looks = (ms: number, read = state.read) => {
      state.now += ms;
      state.read = read;
      const sight = watch.look();
      return sight && [sight.stillMs, sight.unreadMs];
    };
    return { watch, looks };
  }

  test('counts from the last beat that it saw, of this process and of any other', () => {
    const { watch, looks } = watched();
    expect([looks(5_000), watch.last, watch.stillForMs()]).toEqual([null, null, null]);
    expect(looks(0, record())).toEqual([0, 0]);
    expect(looks(20_000)).toEqual([20_000, 20_000]);
    expect(looks(0, record({ born: 5 }))).toEqual([0, 0]);
    expect(looks(1_000, record({ born: 5, counter: 2, unreadMs: 400 }))).toEqual([0, 400]);
    expect(looks(1_000)).toEqual([1_000, 1_400]);
    expect(looks(500, null)).toEqual([1_500, 1_900]);
    expect(watch.stillForMs()).toBe(1_500);
    const stopped = record({ born: 5, counter: 3, state: 'stopped' });
    expect([looks(0, stopped), watch.last]).toEqual([null, stopped]);
  });

  test('begins anew after it was away itself for more than thirty seconds, and not after thirty', () => {
    const { looks } = watched();
    looks(0, record());
    expect(looks(30_000)).toEqual([30_000, 30_000]);
    expect(looks(30_001)).toEqual([0, 0]);
    expect(looks(10_000)).toEqual([10_000, 10_000]);
  });

  test('counts from the last beat or from the end of the last time away, however often it looks between', () => {
    const look = fc.record({
      ms: fc.oneof(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 30_001, max: 90_000 })),
      beats: fc.integer({ min: 0, max: 4 }).map(n => n === 0),
    });
    fc.assert(
      fc.property(fc.array(look, { minLength: 2, maxLength: 20 }), all => {
        const { looks } = watched();
        looks(0, record());
        let [counter, still] = [1, 0];
        for (const { ms, beats } of all) {
          if (beats) counter++;
          still = beats || ms > 30_000 ? 0 : still + ms;
          const seen = looks(ms, record({ counter }));
          expect(seen?.[0]).toBe(still);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('goes on with what nobody has read over starts without a read, unless the one before had stopped or was unseen', () => {
    const started = (changes: Partial<HeartbeatRecord>) => record({ reads: 0, counter: 9, born: 6, ...changes });
    const after = (ms: number, read: HeartbeatRecord, before = record({ unreadMs: 100 })) => {
      const { looks } = watched();
      looks(0, before);
      return looks(ms, read);
    };
    expect(after(4_000, started({}))).toEqual([0, 4_100]);
    expect(after(4_000, started({ unreadMs: 9_000 }))).toEqual([0, 9_000]);
    expect(after(4_000, started({ reads: 1 }))).toEqual([0, 0]);
    expect(after(30_001, started({}))).toEqual([0, 0]);
    expect(after(4_000, started({}), record({ unreadMs: 100, state: 'stopped' }))).toEqual([0, 0]);
    const { looks } = watched();
    expect(looks(4_000, started({}))).toEqual([0, 0]);
  });
});
