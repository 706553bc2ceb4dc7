/** The shadow beside recordings of real runs: decisions, growing files, restarts, damage. */
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomOf, VirtualClock } from '../../../../src/core/index.ts';
import {
  readRecording,
  recorderIn,
  recordingName,
  recordingsIn,
  type RunRecorder,
} from '../../../../src/live/recording/recordings.ts';
import { inProcessStream } from '../../../../src/sandbox/index.ts';
import { shadowRuns, type ShadowNow } from '../../../../backtest/app/shadow/shadow.ts';
import { fittedFillsOf } from '../../../../backtest/app/calibrate/ownFills.ts';
import { SHADOW_FILE } from '../../../../backtest/app/shadow/shadowFile.ts';
import type { ShadowAlarm } from '../../../../backtest/shadow/memory.ts';
import { readShipped } from '../../../../src/wiring/configFile.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';
import { doomed, restarted } from '../../../live/crashes.ts';
import { Folders } from '../../../live/states.ts';
import { passing, worldOf } from '../../../live/world.ts';

const folders = new Folders();
const SECOND = 1_000;
/** A state directory with two runs on the stream: one killed, one that ended cleanly. */
let recorded: string;

beforeAll(async () => {
  const near = { strategy: { halfSpreadBps: 10.2, levelSpacingBps: 4, minEdgeBps: 0 } };
  const world = worldOf(71, near);
  const stream = inProcessStream(world.box.exchange.stream, world.clock, 10);
  const first = await doomed(world, folders, undefined, { stream });
  await world.clock.advance(120 * SECOND);
  const dir = first.kill();
  const second = await restarted(world, dir, { stream });
  await world.clock.advance(120 * SECOND);
  await second.stop();
  recorded = folders.copyOf(dir);
  await first.running.stop();
  world.end();
}, 300_000);
afterAll(() => folders.clear());

type Result = {
  readonly now: ShadowNow;
  readonly alarms: readonly ShadowAlarm[];
  readonly troubles: readonly string[];
};

async function once(dir: string): Promise<Result> {
  const alarms: ShadowAlarm[] = [];
  const troubles: string[] = [];
  const clock = new VirtualClock();
  const ended = shadowRuns({
    ...{ dir, model: 'expected', clock, once: true, signal: new AbortController().signal },
    onAlarm: alarm => alarms.push(alarm),
    onTrouble: line => troubles.push(line),
  });
  return { now: await passing(clock, ended), alarms, troubles };
}

/** Copy of the recordings, of which the last is damaged in its middle. */
function damaged(): { readonly dir: string; readonly run: number } {
  const dir = folders.copyOf(recorded);
  const { run, bytes } = recordingsIn(dir).at(-1)!;
  const file = join(dir, recordingName(run));
  const content = readFileSync(file);
  content.fill(0xff, Math.floor(bytes / 2), Math.floor(bytes / 2) + 64);
  writeFileSync(file, content);
  return { dir, run };
}

/** Copy of the recordings, with changed lines of the last run. */
function changed(change: (lines: readonly string[]) => readonly string[]): string {
  const dir = folders.copyOf(recorded);
  const { run } = recordingsIn(dir).at(-1)!;
  const { of, lines } = readRecording(dir, run)!;
  const kept = [...lines];
  rmSync(join(dir, recordingName(run)));
  const recorder = recorderIn(dir, of);
  recorder.write(change(kept));
  recorder.close();
  return dir;
}

describe('a shadow of recorded runs', () => {
  test('repeats every decision, counts every order and fill, and raises no alarm', async () => {
    const { now, alarms, troubles } = await once(recorded);
    const { memory } = now.stored;
    expect({ alarms, troubles, decision: memory.decision, runs: now.runs }).toEqual({
      ...{ alarms: [], troubles: [], decision: null, runs: 2 },
    });
    const lines = recordingsIn(recorded).flatMap(({ run }) => [...readRecording(recorded, run)!.lines]);
    const placed = lines.join('\n').match(/"kind":"place"/g)!.length;
    expect(memory.counts.orders).toBe(placed);
    const trades = new Set(
      lines.flatMap(line => (line.includes('"kind":"trades"') ? (line.match(/"tid":"\d+"/g) ?? []) : [])),
    );
    expect(memory.counts.fills + memory.counts.earlier).toBeGreaterThanOrEqual(trades.size);
    expect(memory.counts.unmeasured).toBeLessThan(memory.counts.orders / 2);
  });

  test('gives a fit of own fills the orders that rested, and names what it leaves out', async () => {
    const fitIn = async (dir: string, book?: string) => {
      const troubles: string[] = [];
      const clock = new VirtualClock();
      const task = {
        dir,
        book,
        seed: 1,
        clock,
        progress: NO_PROGRESS,
        onTrouble: (line: string) => troubles.push(line),
      };
      return { report: await fittedFillsOf(task), troubles };
    };
    const { report, troubles } = await fitIn(recorded);
    const { memory } = (await once(recorded)).now.stored;
    expect(troubles).toEqual([]);
    expect(report.orders + report.unused).toBe(memory.counts.orders);
    expect(report.orders).toBeGreaterThan(20);
    expect(report.fallback).toMatch(/^too few fills: \d+ of 60/);
    const { dir, run } = damaged();
    expect((await fitIn(dir)).troubles.join()).toMatch(new RegExp(`^run ${run}: the recording is damaged`));
    await expect(fitIn(recorded, 'eth_mxn')).rejects.toThrow('has no usable recording of eth_mxn');
    await expect(fitIn(join(recorded, 'nothing'))).rejects.toThrow('pass the state directory of a bot that has run');
  });

  test('names time, input and field of the first decision that differs, and goes on with the orders', async () => {
    let isChanged = false;
    const dir = changed(lines =>
      lines.map(line => {
        if (isChanged || !line.startsWith('o') || !line.includes('"price":')) return line;
        isChanged = true;
        return line.replace(/"price":(\d+)/, (_, price) => `"price":${Number(price) + 1}`);
      }),
    );
    const { now, alarms } = await once(dir);
    const [alarm, ...more] = alarms;
    expect(more).toEqual([]);
    expect(alarm).toMatchObject({ cause: 'decision', detector: 'decisions', after: [] });
    expect(alarm!.text).toMatch(
      /^after input \d+ \([a-z ]+\), field \d+\.price: the engine now has (\d+), the recording has \d+$/,
    );
    expect(now.stored.memory.decision?.text).toBe(alarm!.text);
    expect(now.stored.memory.counts.orders).toBe((await once(recorded)).now.stored.memory.counts.orders);
  });

  test('takes a damaged recording up to the damage, and reports it', async () => {
    const { dir, run } = damaged();
    const { now, troubles } = await once(dir);
    expect(troubles.join()).toMatch(new RegExp(`^run ${run}: the recording is damaged`));
    expect(now.runs).toBe(2);
  });

  test('ignores an incomplete last piece, which the bot was about to write', async () => {
    const dir = folders.copyOf(recorded);
    const { run, bytes } = recordingsIn(dir).at(-1)!;
    truncateSync(join(dir, recordingName(run)), bytes - 3);
    expect((await once(dir)).troubles).toEqual([]);
  });

  test('without a recording ends without a run', async () => {
    const { now } = await once(folders.copyOf(join(recorded, 'nothing')));
    expect(now).toMatchObject({ runs: 0, run: null, instrument: null });
  });
});

/** Recording that grows as a bot writes it, a few lines per second, each run after the one before. */
class GrowingDirectory {
  readonly dir: string;
  readonly #parts: { readonly of: Parameters<typeof recorderIn>[1]; readonly lines: string[] }[];
  #recorder: RunRecorder | null = null;

  constructor(dir: string) {
    this.dir = dir;
    mkdirSync(dir, { recursive: true });
    this.#parts = recordingsIn(recorded).map(({ run }) => {
      const { of, lines } = readRecording(recorded, run)!;
      return { of, lines: [...lines] };
    });
  }

  /** Writes the next lines. Returns `false` if none are left. */
  grow(count: number): boolean {
    const [part] = this.#parts;
    if (part === undefined) return false;
    this.#recorder ??= recorderIn(this.dir, part.of);
    this.#recorder.write(part.lines.splice(0, count));
    if (part.lines.length > 0) return true;
    this.#recorder.close();
    this.#recorder = null;
    this.#parts.shift();
    return this.#parts.length > 0;
  }
}

describe('a shadow beside a bot', () => {
  test.each([1, 2, 3])(
    'has the same result as one over the finished recordings, stopped and started again at any time (seed %i)',
    async seed => {
      const random = randomOf(seed);
      const growing = new GrowingDirectory(folders.fresh());
      const alarms: ShadowAlarm[] = [];
      let last: ShadowNow | null = null;
      for (let isMore = true; isMore;) {
        const clock = new VirtualClock();
        const stop = new AbortController();
        const running = shadowRuns({
          ...{ dir: growing.dir, model: 'expected', clock, once: false, signal: stop.signal },
          onAlarm: alarm => alarms.push(alarm),
          onTrouble: line => expect.unreachable(line),
          onSlice: now => (last = now),
        });
        for (let turns = random.integer(1, 12); turns > 0 && isMore; turns--) {
          isMore = growing.grow(random.integer(1, 400));
          await clock.advance(2 * SECOND);
        }
        if (!isMore) await clock.advance(60 * SECOND);
        stop.abort();
        await passing(clock, running);
      }
      const { now } = await once(recorded);
      const live = last!.stored.memory;
      // The last run is open: it ends only when a later run starts.
      expect(live.counts.orders).toBe(now.stored.memory.counts.orders);
      expect(live.counts.fills).toBe(now.stored.memory.counts.fills);
      expect(live.observedMs).toBe(now.stored.memory.observedMs);
      expect(last!.isCaughtUp).toBe(true);
      expect(alarms).toEqual([]);
      expect(existsSync(join(growing.dir, SHADOW_FILE))).toBe(true);
    },
  );

  test('refuses a file that is not its own, by name', async () => {
    const dir = folders.copyOf(recorded);
    writeFileSync(join(dir, SHADOW_FILE), '{"version":2}');
    const clock = new VirtualClock();
    const running = shadowRuns({
      ...{ dir, model: 'expected', clock, once: false, signal: new AbortController().signal },
      ...{ onAlarm: () => undefined, onTrouble: () => undefined },
    });
    await expect(running).rejects.toThrow(/shadow\.json: cannot be used .*; delete the file to start again$/);
  });

  /** Follows recordings for a minute, and returns the last state with the reported troubles. */
  async function aMinute(dir: string): Promise<Pick<Result, 'now' | 'troubles'>> {
    const [clock, stop, troubles] = [new VirtualClock(), new AbortController(), [] as string[]];
    const running = shadowRuns({
      ...{ dir, model: 'expected', clock, once: false, signal: stop.signal },
      onAlarm: () => undefined,
      onTrouble: line => troubles.push(line),
    });
    await clock.advance(60 * SECOND);
    expect(troubles).toHaveLength(1);
    stop.abort();
    return { now: await passing(clock, running), troubles };
  }

  test('reports damage in the current run once, as soon as it is read, and has then not caught up', async () => {
    const { dir, run } = damaged();
    const { now, troubles } = await aMinute(dir);
    expect(troubles.join()).toMatch(new RegExp(`^run ${run}: the recording is damaged`));
    expect(now).toMatchObject({ isCaughtUp: false, run });
  });

  test('leaves out a run of several books, by name, and has then not caught up', async () => {
    const dir = folders.copyOf(recorded);
    const { run } = recordingsIn(dir).at(-1)!;
    const { of, lines } = readRecording(dir, run)!;
    const kept = [...lines];
    rmSync(join(dir, recordingName(run)));
    const recorder = recorderIn(dir, { ...of, setup: JSON.stringify(readShipped('desk')) });
    recorder.write(kept);
    recorder.close();
    const { now, troubles } = await aMinute(dir);
    expect(troubles).toEqual([
      `run ${run} is left out: the run has several books, and the shadow compares runs of one book`,
    ]);
    expect(now).toMatchObject({ isCaughtUp: false, run: null });
  });

  test('reports an alarm once, also after a restart in the same run', async () => {
    const dir = changed(lines =>
      lines.map(line =>
        line.replace(/^o(.*)"price":(\d+)/, (_, rest, price) => `o${rest}"price":${Number(price) + 1}`),
      ),
    );
    const alarms: ShadowAlarm[] = [];
    for (let start = 0; start < 2; start++) {
      const clock = new VirtualClock();
      const stop = new AbortController();
      const running = shadowRuns({
        ...{ dir, model: 'expected', clock, once: false, signal: stop.signal },
        onAlarm: alarm => alarms.push(alarm),
        onTrouble: () => undefined,
      });
      await clock.advance(60 * SECOND);
      stop.abort();
      await passing(clock, running);
    }
    expect(alarms.map(({ cause }) => cause)).toEqual(['decision']);
  });
});
