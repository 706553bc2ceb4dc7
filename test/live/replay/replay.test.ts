import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engineOf } from '../../../src/wiring/bot.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import type { Config } from '../../../src/config.ts';
import { amount, emptyDepth, OrderBook, price } from '../../../src/core/index.ts';
import { eventOf, lineOf, LineWriter, type RecordingLine } from '../../../src/live/recording/recording.ts';
import { readRecording, recorderIn, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { firstRules, replayRun } from '../../../src/live/replay/replay.ts';
import { doomed, restarted } from '../crashes.ts';
import { AT, Folders, opened } from '../states.ts';
import { worldOf } from '../world.ts';

const folders = new Folders();
const SECOND = 1_000;
/** A state directory with three runs: killed, killed while it recovered, and ended cleanly. */
let recorded: string;

beforeAll(async () => {
  const world = worldOf(71);
  const first = await doomed(world, folders);
  await world.clock.advance(90 * SECOND);
  const config = { ...world.config, state: { dir: first.kill() } };
  const second = await doomed(world, folders, undefined, { config });
  await world.clock.advance(1_500);
  const dir = second.kill();
  const third = await restarted(world, dir);
  await world.clock.advance(90 * SECOND);
  await third.stop();
  recorded = folders.copyOf(dir);
  await first.running.stop();
  await second.running.stop();
  world.end();
});
afterAll(() => folders.clear());

/** Lines of a run, the last one by default, changed by hand with right sums, as somebody would who knows how. */
function tampered(change: (lines: string[]) => string[], which = -1): string {
  const dir = folders.copyOf(recorded);
  const { run } = recordingsIn(dir).at(which)!;
  const { lines, of } = readRecording(dir, run)!;
  rmSync(join(dir, `run-${run}.rec`));
  const recorder = recorderIn(dir, of);
  recorder.write(change([...lines]));
  recorder.close();
  return dir;
}

function lastOf(dir: string) {
  const { run } = recordingsIn(dir).at(-1)!;
  return { run, ...readRecording(dir, run)! };
}

/** Says whether all runs came out the same, and what was printed. */
function replayed(dir: string): { same: boolean; printed: string } {
  const lines: string[] = [];
  const same = replay(dir, 'all', line => lines.push(line));
  return { same, printed: lines.join('\n') };
}

describe('a recorded book', () => {
  test('is beside its event as the levels that changed, and comes back in it', () => {
    const told = new OrderBook();
    const writer = new LineWriter();
    const [kept, again] = [new OrderBook(), emptyDepth(50)];
    const turn = (at: number) => {
      const line = writer.input({ kind: 'book', at, startedAt: null, book: told });
      const event = eventOf(lineOf(line) as Extract<RecordingLine, { kind: 'input' }>, kept);
      if (event.kind === 'book') event.book.depth(again);
      return line;
    };
    told.set('buy', price(990), amount(5));
    told.set('sell', price(1010), amount(7));
    // As it has been on disk since the first recording.
    expect(turn(1)).toBe('i{"event":{"kind":"book","at":1,"startedAt":null},"levels":[[0,990,5],[1,1010,7]]}');
    expect(turn(2)).toBe('i{"event":{"kind":"book","at":2,"startedAt":null}}');
    told.set('sell', price(1010), amount(0));
    expect(turn(3)).toBe('i{"event":{"kind":"book","at":3,"startedAt":null},"levels":[[1,1010,0]]}');
    expect([again.bids, again.bidPrices[0], again.bidAmounts[0], again.asks]).toEqual([1, 990, 5, 0]);
  });
});

describe('a replay', () => {
  test('gives every command of every run again, over kills and restarts', () => {
    const { same, printed } = replayed(folders.copyOf(recorded));
    expect(printed.match(/^run \d+: \d+ inputs, \d+ commands, all commands identical$/gm)).toHaveLength(3);
    expect(same).toBe(true);
    const [first] = /\d+ commands/.exec(printed)!;
    expect(Number.parseInt(first, 10)).toBeGreaterThan(10);
  });

  test.each([0, 1, 2])('of all runs is not the same if one alone differs, here the one at %i', which => {
    const dir = tampered(lines => lines.filter((_, i) => i !== lines.findIndex(l => l.startsWith('o'))), which);
    const { same, printed } = replayed(dir);
    expect(printed.split('\n').map(line => line.includes('DIFFERENT'))).toEqual([0, 1, 2].map(run => run === which));
    expect(same).toBe(false);
  });

  test('of runs that were recorded under old names of keys gives the same', () => {
    const dir = folders.copyOf(recorded);
    for (const { run } of recordingsIn(dir)) {
      const { lines, of } = readRecording(dir, run)!;
      const setup = of.setup
        .replace('"requestDelayMaxMs"', '"fenceMs"')
        .replace('"tradeReportDelayMaxMs"', '"settleMs"');
      expect(setup).toMatch(/"fenceMs":.*"settleMs":/);
      const kept = [...lines];
      rmSync(join(dir, `run-${run}.rec`));
      const recorder = recorderIn(dir, { ...of, setup });
      recorder.write(kept);
      recorder.close();
    }
    expect(replayed(dir)).toEqual(replayed(folders.copyOf(recorded)));
  });

  test.each<readonly [string, (lines: string[]) => string[]]>([
    ['a command that was left out', lines => lines.filter((_, i) => i !== lines.findIndex(l => l.startsWith('o')))],
    [
      'an input that was left out',
      lines => lines.filter((_, i) => i !== lines.findIndex(x => x.includes('"balances"'))),
    ],
    [
      'a price of a command',
      lines => lines.map(line => (line.startsWith('o') ? line.replace(/"price":(\d+)/, '"price":1') : line)),
    ],
    [
      'the book that was seen',
      lines =>
        lines.map(line =>
          line.replace(/"levels":\[\[(\d),(\d+),/, (_, side, price) => `"levels":[[${side},${Number(price) + 900},`),
        ),
    ],
    ['a line that is none', lines => [...lines.slice(0, 40), 'what?', ...lines.slice(40)]],
  ])('shows %s', (_, change) => {
    const { same, printed } = replayed(tampered(change));
    expect(same).toBe(false);
    expect(printed).toMatch(/^run \d+: .*DIFFERENT after .* at \d+.* \(input \d+\)/m);
    expect(printed.match(/all commands identical/g)).toHaveLength(2);
  });

  test('through an engine of another configuration shows where they part', () => {
    const { run, of } = lastOf(recorded);
    const config = JSON.parse(of.setup) as Config;
    const other = { ...config, strategy: { ...config.strategy, levels: 2 } };
    const result = replayRun(recorded, run, engineOf(other, firstRules(recorded, run)!, run));
    expect(result.difference).toMatch(/the engine now returns .*but the recorded engine/);
  });

  test('of the first format, whose refusals have a code alone, looks up what it means', () => {
    const dir = folders.copyOf(recorded);
    const { run, of, lines } = lastOf(dir);
    const engine = engineOf(JSON.parse(of.setup) as Config, firstRules(dir, run)!, run);
    const outcome = { kind: 'refused', code: '0356', message: 'taken', status: 400 } as const;
    const written: string[] = [];
    const book = new OrderBook();
    let placed = 0;
    for (const text of lines) {
      const line = lineOf(text);
      if (line.kind !== 'input') continue;
      let event = eventOf(line, book);
      let input = text;
      if (event.kind === 'placed' && event.outcome.kind === 'done' && ++placed === 1) {
        input = text.replace(JSON.stringify(event.outcome), JSON.stringify(outcome));
        event = { ...event, outcome: { ...outcome, meaning: 'duplicate id' } };
      }
      const commands = engine.step(event);
      written.push(input, ...(commands.length === 0 ? [] : [`o${JSON.stringify(commands)}`]));
    }
    const isSame = (head: typeof of) => {
      rmSync(join(dir, `run-${run}.rec`));
      const recorder = recorderIn(dir, head);
      recorder.write(written);
      recorder.close();
      return replayed(dir).same;
    };
    const { format, ...first } = of;
    expect([placed > 0, format]).toEqual([true, 2]);
    expect(isSame(first)).toBe(true);
    expect(isSame(of)).toBe(false);
  });

  test.each([
    ['at its end', -1],
    ['in its middle', -8_000],
    ['at its beginning', 12],
  ])('of a recording with a changed byte %s says that it is damaged there', (_, at) => {
    const dir = folders.copyOf(recorded);
    const file = join(dir, `run-${lastOf(dir).run}.rec`);
    const bytes = readFileSync(file);
    expect(bytes.length).toBeGreaterThan(8_000);
    const index = at < 0 ? bytes.length + at : at;
    bytes[index] = bytes[index]! ^ 0x10;
    writeFileSync(file, bytes);
    const { same, printed } = replayed(dir);
    expect(same).toBe(false);
    expect(printed).toMatch(/DIFFERENT.*the recording is damaged, and the rest of it cannot be read/);
  });

  test('of a recording that was cut anywhere goes as far as whole pieces go', () => {
    const dir = folders.copyOf(recorded);
    const file = join(dir, `run-${lastOf(dir).run}.rec`);
    const whole = [...lastOf(dir).lines];
    const { size } = statSync(file);
    for (const length of [size - 1, Math.floor(size * 0.6), 2_000, 100, 9, 3, 0]) {
      truncateSync(file, length);
      expect(replayed(dir).same).toBe(true);
      const { run } = recordingsIn(dir).at(-1)!;
      const lines = [...(readRecording(dir, run)?.lines ?? [])];
      expect(lines).toEqual(whole.slice(0, lines.length));
    }
  });

  test('of a recording that the disk did not take whole goes as far as it reaches, and says so', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    for (let i = 0; i < 10_001; i++) journal.record(`i{"event":{"kind":"timer","at":${AT + i}}}`);
    journal.flush();
    journal.close();
    // The gap comes first: no engine is asked anything.
    const result = replayRun(dir, journal.run, undefined as never);
    expect(result).toMatchObject({ inputs: 0, difference: null, gap: true });
  });

  test('reads the recording of a bot that goes on', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    journal.record('i{"event":{"kind":"timer","at":1}}');
    journal.flush();
    expect([...readRecording(dir, journal.run)!.lines]).toEqual(['i{"event":{"kind":"timer","at":1}}']);
    journal.close();
  });

  test('of a folder without a state, or of a run that is not there, says what is', () => {
    expect(() => replay(folders.fresh(), 'last', () => undefined)).toThrow(/no recording of a run in this directory/);
    expect(() => replay(folders.copyOf(recorded), 7, () => undefined)).toThrow(
      /no recorded run 7; recorded runs: \d+, \d+, \d+/,
    );
  });
});
