import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explain, progress } from '../../../src/app/inspect/explain.ts';
import { explanationText } from '../../../src/app/inspect/explainText.ts';
import { timeOrAgeFlag } from '../../../src/cli/terminal/flags.ts';
import { VirtualClock, type Command, type Millis, type PlaceCommand } from '../../../src/core/index.ts';
import { lineOf } from '../../../src/live/recording/recording.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { doomed, restarted } from '../crashes.ts';
import { Folders } from '../states.ts';
import { started, worldOf } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());
const SECOND = 1_000;

/** Two runs with two minutes between them, the first one killed. */
let dir: string;
/** When inputs were taken that placed orders, and what they placed. */
let placements: readonly { readonly at: Millis; readonly places: readonly PlaceCommand[] }[];
let runs: readonly number[];

beforeAll(async () => {
  const world = worldOf(83, {
    strategy: { refreshToleranceBps: 0.5 },
    fairValue: { mid: { weight: 1 }, weightedMid: { weight: 1 } },
  });
  const first = await doomed(world, folders);
  await world.clock.advance(60 * SECOND);
  dir = first.kill();
  await world.clock.advance(120 * SECOND);
  const second = await restarted(world, dir);
  await world.clock.advance(60 * SECOND);
  await second.stop();
  await first.running.stop();
  world.end();
  runs = recordingsIn(dir).map(({ run }) => run);
  placements = placed(runs[0]!);
});

function placed(run: number) {
  const found: { at: Millis; places: readonly PlaceCommand[] }[] = [];
  let [before, at] = [Number.NaN, Number.NaN];
  const decided: { at: Millis; commands: readonly Command[] }[] = [];
  for (const text of readRecording(dir, run)?.lines ?? []) {
    const line = lineOf(text);
    if (line.kind === 'input') [before, at] = [at, line.event.at];
    // Another input of the same moment may have decided again.
    if (line.kind === 'input' && before === at && decided.at(-1)?.at === at) decided.pop();
    if (line.kind === 'commands') decided.push({ at, commands: line.commands });
  }
  for (const one of decided) {
    const places = one.commands.filter((command): command is PlaceCommand => command.kind === 'place');
    if (places.length > 0) found.push({ at: one.at, places });
  }
  return found;
}

describe('an explanation', () => {
  test('of a past moment is what the engine decided then, and its steps add up to each price', () => {
    expect(placements.length).toBeGreaterThan(3);
    const some = placements.filter((_, i) => i % Math.ceil(placements.length / 6) === 0);
    for (const { at, places } of some) {
      const told = explain({ dir, at });
      expect([told.decidedAt, told.run, told.difference]).toEqual([at, runs[0], null]);
      const shown = told.levels.filter(({ decision }) => decision === 'placed');
      expect(shown.map(({ order }) => order?.id).sort()).toEqual(places.map(({ id }) => id).sort());
      for (const { price, steps, order } of shown) {
        const sum = steps.reduce((total, { ticks }) => total + ticks, 0);
        expect(sum * Number(told.tick)).toBeCloseTo(Number(price), 6);
        expect(order?.price).toBe(price);
        const command = places.find(({ id }) => id === order?.id);
        expect(sum).toBeCloseTo(command?.price ?? Number.NaN, 6);
      }
    }
  });

  test('says of each level that is kept where its order stands, and of the fair value its parts', () => {
    const told = explain({ dir, at: placements.at(-1)!.at + 900 });
    expect(told.regime).toMatchObject({ regime: 'normal' });
    expect(told.fair?.steps.map(({ name }) => name)).toEqual(['fair value: mid', 'weighted mid']);
    const levels = told.levels.filter(({ level }) => level !== null);
    expect(levels.length).toBeGreaterThanOrEqual(2);
    for (const { decision, order, steps } of levels) {
      expect(['placed', 'kept', 'waits', 'canceled']).toContain(decision);
      expect(order).not.toBeNull();
      expect(steps.length).toBeGreaterThan(2);
    }
    const text = explanationText(told);
    expect(text).toMatch(/^regime: normal since 20\d\d-/m);
    expect(text).toMatch(/^fair value in ticks of .* = fair value: mid /m);
    expect(text).toMatch(/^ {2}bid 1: (kept|placed|waits|canceled): /m);
  });

  test('of now is the last decision of the last run, which ended with its quotes taken out', () => {
    const told = explain({ dir, at: null });
    expect([told.run, told.refusal, told.regime.regime]).toEqual([runs[1], 'stopping', 'paused']);
    expect(told.changes.map(({ regime }) => regime)).toContain('normal');
    expect(JSON.parse(JSON.stringify(told))).toMatchObject({ book: told.book, note: null, hedges: [] });
  });

  test('of a moment between two runs says that the bot was not running, and how it ended', () => {
    const end = explain({ dir, at: placements.at(-1)!.at }).at;
    const told = explain({ dir, at: end + 100 * SECOND });
    expect(told.run).toBe(runs[0]);
    expect(told.note).toMatch(/^the bot was not running at 20/);
    expect(explanationText(told)).toContain('note: the bot was not running');
  });

  test.each([
    ['before the first run', () => 1_000, /no recording of 1970-.*; the recordings cover 20.* to 20/],
    ['after the last one', () => 4_102_444_800_000, /no recording of 2100-.*; the recordings cover 20.* to 20/],
  ])('of a moment %s says what is kept', (_, at, says) => {
    expect(() => explain({ dir, at: at() })).toThrow(says);
  });

  test('without a recording says what was expected', () => {
    const empty = folders.fresh();
    expect(() => explain({ dir: empty, at: null })).toThrow(
      /no recording of a run in this directory; expected the state directory/,
    );
    mkdirSync(empty);
    expect(() => explain({ dir: empty, at: null })).toThrow(/no recording of a run in this directory/);
  });

  test('of a bot that runs changes nothing in its state directory, and has its last second', async () => {
    const world = worldOf(84);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    const bytes = () => readdirSync(world.stateDir).map(name => [name, sizeOf(join(world.stateDir, name))]);
    const before = bytes();
    const told = explain({ dir: world.stateDir, at: null });
    expect(bytes()).toEqual(before);
    expect(world.clock.now() - told.at).toBeLessThanOrEqual(2 * SECOND);
    expect(told.levels.length).toBeGreaterThan(0);
    await bot.stop();
    world.end();
  });
});

const sizeOf = (path: string): number => readFileSync(path).length;

test('a long replay says every two seconds how far it is', async () => {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const tell = progress(clock, line => lines.push(line));
  for (let i = 0; i < 5_000; i++) {
    if (i % 1_000 === 0) await clock.advance(SECOND);
    tell(1_767_225_600_000 + i);
  }
  expect(lines).toEqual([
    'replaying: 2000 inputs, at 2026-01-01T00:00:01.999Z\n',
    'replaying: 4000 inputs, at 2026-01-01T00:00:03.999Z\n',
  ]);
});

describe('a moment of the command line', () => {
  test.each([
    ['2026-11-22T13:05:00Z', Date.UTC(2026, 10, 22, 13, 5)],
    ['2026-11-22 13:05', Date.UTC(2026, 10, 22, 13, 5)],
    ['2026-11-22 13:05 UTC', Date.UTC(2026, 10, 22, 13, 5)],
    ['2026-11-22T13:05:00.250-06:00', Date.UTC(2026, 10, 22, 19, 5, 0, 250)],
    ['5m', 1_700_000_000_000 - 300_000],
  ])('%s is a time', (text, at) => {
    expect(timeOrAgeFlag(text)(1_700_000_000_000)).toBe(at);
  });

  test.each(['yesterday', '2026-13-40T00:00Z', '', '5 m', '12:00'])('%j is none', text => {
    expect(() => timeOrAgeFlag(text)).toThrow(InvalidArgumentError);
  });
});
