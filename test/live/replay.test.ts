import { join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type Database from 'libsql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engineOf } from '../../src/cli/bot.ts';
import { replay } from '../../src/cli/stateCommands.ts';
import type { Config } from '../../src/config.ts';
import { closeDatabase, openDatabase, openJournal, STATE_FILE, sumOfInputs } from '../../src/live/journal.ts';
import { firstRules, recordedRuns, replayRun } from '../../src/live/replay.ts';
import type { Replayed } from '../../src/live/replay.ts';
import { doomed, restarted } from './crashes.ts';
import { AT, Folders } from './states.ts';
import { worldOf } from './world.ts';

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

/** Lines of the last run, changed by hand with a right sum, as somebody would who knows how. */
function tampered(change: (lines: string[]) => string[]): string {
  const dir = folders.copyOf(recorded);
  inDatabase(dir, db => {
    const { run } = recordedRuns(db).at(-1)!;
    const rows = db.prepare('SELECT n, lines FROM inputs WHERE run = ? ORDER BY n').all(run) as {
      n: number;
      lines: Buffer;
    }[];
    const all = rows.flatMap(({ lines }) => inflateRawSync(lines).toString('utf8').split('\n'));
    const packed = deflateRawSync(change(all).join('\n'));
    db.prepare('DELETE FROM inputs WHERE run = ?').run(run);
    db.prepare('INSERT INTO inputs (run, lines, sum) VALUES (?, ?, ?)').run(run, packed, sumOfInputs(run, packed));
  });
  return dir;
}

function inDatabase<T>(dir: string, work: (db: Database.Database) => T): T {
  const db = openDatabase(join(dir, STATE_FILE));
  try {
    return work(db);
  } finally {
    closeDatabase(db);
  }
}

/** Says whether all runs came out the same, and what was printed. */
function replayed(dir: string): { same: boolean; printed: string } {
  const lines: string[] = [];
  const same = replay(dir, 'all', line => lines.push(line));
  return { same, printed: lines.join('\n') };
}

describe('a replay', () => {
  test('gives every command of every run again, over kills and restarts', () => {
    const { same, printed } = replayed(folders.copyOf(recorded));
    expect(printed.match(/^run \d+: \d+ inputs, \d+ commands, every command the same$/gm)).toHaveLength(3);
    expect(same).toBe(true);
    const [first] = /\d+ commands/.exec(printed)!;
    expect(Number.parseInt(first, 10)).toBeGreaterThan(10);
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
    expect(printed.match(/every command the same/g)).toHaveLength(2);
  });

  test('through an engine of another configuration shows where they part', () => {
    const result = inDatabase(folders.copyOf(recorded), db => {
      const { run, setup } = recordedRuns(db).at(-1)!;
      const config = JSON.parse(setup) as Config;
      const other = { ...config, strategy: { ...config.strategy, levels: 2 } };
      return replayRun(db, run, engineOf(other, firstRules(db, run)!, run));
    });
    expect(result.difference).toMatch(/the engine now gives .*recorded was/);
  });

  test('of a recording with changed bytes says that it is damaged there', () => {
    const dir = folders.copyOf(recorded);
    inDatabase(dir, db => db.exec('UPDATE inputs SET sum = sum + 1 WHERE n = (SELECT max(n) FROM inputs)'));
    const { same, printed } = replayed(dir);
    expect(same).toBe(false);
    expect(printed).toMatch(/DIFFERENT .*the recording is damaged from here on/);
  });

  test('of a recording that the disk did not take whole goes as far as it reaches, and says so', () => {
    const dir = folders.fresh();
    const journal = openJournal(dir, { account: 'a', at: AT, setup: '{}' });
    for (let i = 0; i < 50_001; i++) journal.record(`i{"event":{"kind":"timer","at":${AT + i}}}`);
    journal.flush();
    journal.close();
    const result = inDatabase(dir, (db): Replayed => {
      const { run } = recordedRuns(db).at(-1)!;
      // The gap comes first: no engine is asked anything.
      return replayRun(db, run, undefined as never);
    });
    expect(result).toMatchObject({ inputs: 0, difference: null, gap: true });
  });

  test('of a folder without a state, or of a run that is not there, says what is', () => {
    expect(() => replay(folders.fresh(), 'last', () => undefined)).toThrow(/no puntas\.db there/);
    expect(() => replay(folders.copyOf(recorded), 7, () => undefined)).toThrow(
      /no recorded run 7; it has \d+, \d+, \d+/,
    );
  });
});
