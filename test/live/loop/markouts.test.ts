import { afterAll, beforeAll, expect, test } from 'vitest';
import { engineOf } from '../../../src/wiring/bot.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import type { Config } from '../../../src/config.ts';
import type { EngineEvent, RestoredLedger } from '../../../src/core/index.ts';
import { lineOf } from '../../../src/live/recording/recording.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { firstRules, replayRun } from '../../../src/live/replay/replay.ts';
import { doomed, restarted } from '../crashes.ts';
import { Folders } from '../states.ts';
import { worldOf } from '../world.ts';

type Adverse = NonNullable<RestoredLedger['adverse']>;

const folders = new Folders();
const SECOND = 1_000;
/** A state directory with four runs: one that was killed in the middle of its trading, the one after it, one without markouts, and one with them again. */
let dir: string;
const without = ({ markouts: _, ...config }: Config): Config => config;

beforeAll(async () => {
  const world = worldOf(72, {
    markouts: {
      horizonMs: 5_000,
      halfLifeMs: 600_000,
      minFills: 2,
      standardErrors: 0,
      toleratedBps: 0,
      widenBpsMax: 20,
    },
  });
  const first = await doomed(world, folders);
  await world.clock.advance(600 * SECOND);
  dir = first.kill();
  const second = await restarted(world, dir);
  await world.clock.advance(120 * SECOND);
  await second.stop();
  // As the trial order of the doctor, and a reload that takes the key out.
  const third = await restarted(world, dir, { config: without(world.config) });
  await world.clock.advance(20 * SECOND);
  await third.stop();
  const fourth = await restarted(world, dir);
  await fourth.stop();
  await first.running.stop();
  world.end();
});
afterAll(() => folders.clear());

/** What each input left of markouts, and how far it moved the sides out. */
function lived(run: number): {
  readonly states: readonly string[];
  readonly widened: number;
  readonly restored: Adverse | undefined;
} {
  const { of } = readRecording(dir, run)!;
  const engine = engineOf(JSON.parse(of.setup) as Config, firstRules(dir, run)!, run);
  const states = new Set<string>();
  let widened = 0;
  let version = -1;
  const onInput = (event: EngineEvent): void => {
    if (engine.ledgerVersion === version) return;
    version = engine.ledgerVersion;
    states.add(JSON.stringify(engine.ledger([])?.adverse));
    const { buy, sell } = engine.book.snapshot(event.at).markouts!.widenBps;
    widened = Math.max(widened, buy, sell);
  };
  replayRun(dir, run, engine, { onInput });
  return { states: [...states], widened, restored: restoredBy(run) };
}

function restoredBy(run: number): Adverse | undefined {
  const [text = ''] = readRecording(dir, run)!.lines;
  const line = lineOf(text);
  return line.kind === 'input' && line.event.kind === 'restore' ? line.event.ledger?.adverse : undefined;
}

test('markouts go on after a kill where they were last kept: nothing is lost but the last second', () => {
  const [first, second] = recordingsIn(dir)
    .slice(0, 2)
    .map(({ run }) => lived(run));
  expect(first!.restored).toBeUndefined();
  const fills = first!.states.length;
  expect(fills).toBeGreaterThan(20);
  const at = first!.states.indexOf(JSON.stringify(second!.restored));
  // Everything that became known is flushed within a second; a fill or two may be found in one.
  expect(at).toBeGreaterThanOrEqual(fills - 5);
  expect(second!.restored!.markouts.means.length).toBeGreaterThan(10);
  expect(first!.widened).toBeGreaterThan(0);
});

test('a run without markouts hands on what was learned before it', () => {
  const [third, fourth] = recordingsIn(dir)
    .slice(2)
    .map(({ run }) => restoredBy(run));
  expect(third!.adverse.buy).toBeDefined();
  expect(third!.markouts.means.length).toBeGreaterThan(10);
  expect(fourth).toEqual(third);
});

test('a replay gives the same commands before and after the kill, with sides that were moved out', () => {
  const printed: string[] = [];
  expect(replay(dir, 'all', line => printed.push(line))).toBe(true);
  expect(printed.join('\n').match(/all commands identical$/gm)).toHaveLength(4);
});
