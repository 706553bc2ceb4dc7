/** Loses the state file of a bot in every way that a disk or a person can, and holds that no start takes what is left for a new account. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import Database from 'libsql';
import { afterAll, describe, expect, test } from 'vitest';
import { VirtualClock } from '../../../src/core/index.ts';
import { recordingName, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { DamagedState, journalIn, openDatabase, STATE_FILE } from '../../../src/live/state/journal.ts';
import { commitsKnown, lossOf } from '../../../src/live/state/knownCommits.ts';
import { commitsIn } from '../../../src/live/state/stateFile.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { heartbeatIn } from '../../../src/live/safety/heartbeat.ts';
import { ACCOUNT, AT, Folders, markOf, opened, place } from '../states.ts';
import { runsOf } from '../../many.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const clock = new VirtualClock();
const LOG = `${STATE_FILE}-wal`;

/** What a killed bot leaves, and copies of its files from before its last sends. */
function killed(sends: number): { readonly dir: string; readonly older: string } {
  const dir = folders.fresh();
  const first = opened(dir);
  first.flush(markOf('1000', '1'));
  first.close();
  const journal = opened(dir, AT + 60_000);
  heartbeatIn(dir, 'bot', clock).beat('alive');
  const older = folders.copyOf(dir);
  for (let i = 1; i <= sends; i++) {
    journal.intend([place(`a-${journal.run}-${i}`)], AT + i);
    journal.flush(markOf(String(1000 - i), String(i + 1)));
  }
  const left = folders.copyOf(dir);
  journal.close();
  return { dir: left, older };
}

function refusal(dir: string): DamagedState {
  try {
    opened(dir, AT + 120_000).close();
  } catch (error) {
    if (error instanceof DamagedState) return error;
    throw error;
  }
  throw new Error('it was taken up');
}

describe('a state file that is not what it was', () => {
  const ways: [string, (dir: string, older: string) => void, RegExp][] = [
    [
      'emptied, its log with it',
      dir => [STATE_FILE, LOG].forEach(name => truncateSync(join(dir, name))),
      /the file is empty/,
    ],
    ['emptied', dir => truncateSync(join(dir, STATE_FILE)), /the file is empty/],
    ['removed', dir => rmSync(join(dir, STATE_FILE)), /the file is missing/],
    ['removed with its log', dir => [STATE_FILE, LOG].forEach(name => rmSync(join(dir, name))), /the file is missing/],
    ['without its log', dir => rmSync(join(dir, LOG)), /its log puntas\.db-wal was lost or truncated/],
    ['with an emptied log', dir => truncateSync(join(dir, LOG)), /its log puntas\.db-wal was lost or truncated/],
    [
      'put back from an older copy',
      (dir, older) => [STATE_FILE, LOG].forEach(name => copyFileSync(join(older, name), join(dir, name))),
      /restored from an older copy/,
    ],
    [
      'without its log, and without the mark of its commits',
      dir => [LOG, 'puntas.commits'].forEach(name => rmSync(join(dir, name))),
      /the file has no run \d+, but the recording/,
    ],
  ];
  test.each(ways)('%s is refused by name, and says what to do', (_, lose, says) => {
    const { dir, older } = killed(3);
    lose(dir, older);
    const { message, advice } = refusal(dir);
    expect(message).toMatch(/^the state file .*puntas\.db cannot be used: /);
    expect(message).toMatch(says);
    expect(advice).toContain(`move ${dir} away without deleting it, then start again`);
    // It stays so until a person has done that.
    expect(refusal(folders.copyOf(dir)).message).toMatch(/cannot be used/);
  });

  test('is refused too after a clean end, when there is no log to lose', () => {
    const dir = folders.fresh();
    opened(dir).close();
    truncateSync(join(dir, STATE_FILE));
    expect(refusal(dir).message).toMatch(/the file is empty, but .*puntas\.commits.*run-\d+\.rec/);
  });

  test('is missed as soon as any one trace of earlier runs is left, every trace is named, and an empty log is none', () => {
    const { dir } = killed(1);
    rmSync(join(dir, STATE_FILE));
    const traceOf = (name: string): string => (name.endsWith('.rec') ? 'recordings' : name);
    const newest = recordingsIn(dir).at(-1)!.run;
    const shown: Readonly<Record<string, string>> = {
      'heartbeat.json': 'heartbeat.json',
      'puntas.commits': 'puntas.commits',
      [LOG]: LOG,
      recordings: `recordings up to ${recordingName(newest)}`,
    };
    fc.assert(
      fc.property(fc.subarray(Object.keys(shown)), fc.boolean(), (left, isEmptied) => {
        const copy = folders.copyOf(dir);
        for (const name of readdirSync(copy))
          if (traceOf(name) in shown && !left.includes(traceOf(name))) rmSync(join(copy, name));
        if (isEmptied && left.includes(LOG)) truncateSync(join(copy, LOG));
        const traces = left.filter(name => !isEmptied || name !== LOG);
        expect(lossOf(copy)).toBe(
          traces.length === 0
            ? null
            : `the file is missing, but earlier runs left ${traces.map(name => shown[name]).join(', ')} next to it`,
        );
        rmSync(copy, { recursive: true });
      }),
      { numRuns: 40 },
    );
  });

  test('with its log cut anywhere before its last commit is never believed', () => {
    const { dir } = killed(4);
    const { length } = readFileSync(join(dir, LOG));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: length - 4_096 }), cut => {
        const copy = folders.copyOf(dir);
        truncateSync(join(copy, LOG), cut);
        refusal(copy);
        rmSync(copy, { recursive: true });
      }),
      { numRuns: 40 },
    );
  });
});

describe('a state directory', () => {
  test('that is whole is taken up over kills and restarts, however often', () => {
    let { dir } = killed(2);
    for (let times = 0; times < 4; times++) {
      const journal = opened(dir, AT + 120_000 + times * 60_000);
      journal.reserveNonces(BigInt(times + 1));
      journal.flush(markOf('5', String(times)));
      dir = times % 2 === 0 ? folders.copyOf(dir) : dir;
      journal.close();
      expect(existsSync(dir)).toBe(true);
    }
  });

  test('whose mark is behind, as a power cut may leave it, or cannot be read, is taken up', () => {
    for (const text of ['{"commits":1}', '', '\u0000\u0000', 'x'.repeat(32)]) {
      const { dir } = killed(2);
      writeFileSync(join(dir, 'puntas.commits'), text);
      const journal = opened(dir, AT + 120_000);
      // The mark is that of the file again.
      const known = [commitsKnown(dir)];
      journal.flush(markOf('5', '5'));
      known.push(commitsKnown(dir));
      const left = folders.copyOf(dir);
      journal.close();
      const db = new Database(join(left, STATE_FILE));
      expect(known).toEqual([commitsIn(db) - 1, commitsIn(db)]);
      db.close();
    }
  });

  test('in which only a sentinel and a person have been is new', () => {
    const dir = folders.fresh();
    heartbeatIn(dir, 'sentinel', clock).beat('alive');
    latchIn(dir).set({ reason: 'not yet', at: AT, by: 'person' });
    expect(() => opened(dir).close()).not.toThrow();
  });
});

test('the number of a commit is told once the state file has the commit, so that a kill or a full disk in between leaves none that is missing', () => {
  const op = fc.oneof(
    fc.record({ what: fc.constant('intend'), id: fc.nat(3) }),
    fc.record({ what: fc.constantFrom('flush', 'nonces', 'next run') }),
  );
  fc.assert(
    fc.property(fc.array(op, { minLength: 1, maxLength: 6 }), ops => {
      const dir = folders.fresh();
      mkdirSync(dir);
      const durable = () => {
        const db = new Database(join(folders.copyOf(dir), STATE_FILE));
        const commits = commitsIn(db);
        db.close();
        return commits;
      };
      const told: [number, number][] = [];
      const mark = { tell: (commits: number) => void told.push([commits, durable()]), close: () => undefined };
      let journal = journalIn(openDatabase(join(dir, STATE_FILE)), { account: ACCOUNT, at: AT, setup: '{}', mark });
      const ids = new Set<number>();
      ops.forEach((each, n) => {
        const before = told.length;
        let isDone = true;
        if (each.what === 'intend' && 'id' in each) {
          // An id that was used is what makes a commit fail here.
          isDone = !ids.has(each.id);
          ids.add(each.id);
          const intend = () => journal.intend([place(`a-1-${each.id}`)], AT + n);
          if (isDone) intend();
          else expect(intend).toThrow();
        } else if (each.what === 'flush') journal.flush(markOf('1000', String(n)));
        else if (each.what === 'nonces') journal.reserveNonces(BigInt(n));
        else journal = journal.next(AT + 60_000 + n);
        expect(told.length - before).toBe(isDone ? 1 : 0);
      });
      journal.close();
      expect(told).toEqual(told.map((_, n) => [n + 1, n + 1]));
    }),
    runsOf(30, 4),
  );
});
