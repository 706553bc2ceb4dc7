import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import Database from 'libsql';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { realClock } from '../../../src/live/realClock.ts';
import { runsOf } from '../../many.ts';
import {
  DamagedAccount,
  lockPaperAccount,
  openPaperAccount,
  PAPER_ACCOUNT_FILE,
  readPaperAccount,
} from '../../../src/live/state/paperAccount.ts';
import { between } from '../../draws.ts';

/** Value of `PRAGMA synchronous` from which SQLite syncs the log at each commit. */
const FULL = 2;

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'puntas-paper-account-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('has the rows of the last writes in order of their keys, and another reads them while it is open', async () => {
  const file = openPaperAccount(dir);
  file.write(
    [
      { key: 'b', text: '1' },
      { key: 'a', text: '2' },
    ],
    true,
  );
  file.write(
    [
      { key: 'a', text: null },
      { key: 'c', text: '3' },
      { key: 'b', text: '4' },
    ],
    false,
  );
  const rows = [
    { key: 'b', text: '4' },
    { key: 'c', text: '3' },
  ];
  expect(file.read()).toEqual(rows);
  expect(await readPaperAccount(dir, realClock())).toEqual(rows);
  file.close();
  const again = openPaperAccount(dir);
  expect(again.read()).toEqual(rows);
  again.close();
});

test('is open in one process at a time', () => {
  const file = openPaperAccount(dir);
  expect(() => openPaperAccount(dir)).toThrow(/is in use by another process/);
  file.close();
  openPaperAccount(dir).close();
});

test('refuses a changed row, and names the remedy', () => {
  const file = openPaperAccount(dir);
  file.write([{ key: 'account', text: 'a balance of 12345' }], true);
  file.close();
  const path = join(dir, PAPER_ACCOUNT_FILE);
  const bytes = readFileSync(path);
  bytes.write('99999', bytes.indexOf('12345'));
  writeFileSync(path, bytes);
  expect(() => openPaperAccount(dir)).toThrow(/row account does not match its checksum.*--fresh/);
});

/** Account file of a process that is killed after each of some writes: the files as each kill leaves them. */
function killed(writes: number): { readonly left: string; readonly copies: readonly string[] } {
  const file = openPaperAccount(dir);
  const copies = Array.from({ length: writes }, (_, i) => {
    file.write([{ key: 'account', text: `a balance of ${1_000 + i}` }], true);
    file.write([{ key: 'queues', text: `a place of ${i}` }], false);
    return copyOf(dir, `copy-${i}`);
  });
  file.close();
  return { left: copies.at(-1)!, copies: copies.slice(0, -1) };
}

/** Copies the files of a folder into a new folder in it. */
function copyOf(from: string, name: string): string {
  const to = join(dir, name);
  mkdirSync(to);
  for (const { name: one } of readdirSync(from, { withFileTypes: true }).filter(entry => entry.isFile()))
    copyFileSync(join(from, one), join(to, one));
  return to;
}

const LOG = `${PAPER_ACCOUNT_FILE}-wal`;
const LOSSES: readonly (readonly [string, (left: string, older: string) => void, RegExp])[] = [
  ['removed', left => rmSync(join(left, PAPER_ACCOUNT_FILE)), /the file is missing, but earlier runs left/],
  [
    'removed with its log',
    left => [PAPER_ACCOUNT_FILE, LOG].forEach(name => rmSync(join(left, name))),
    /the file is missing, but earlier runs left paper-account\.commits/,
  ],
  [
    'removed with the number of its commits',
    left => [PAPER_ACCOUNT_FILE, 'paper-account.commits'].forEach(name => rmSync(join(left, name))),
    /the file is missing, but earlier runs left paper-account\.db-wal/,
  ],
  ['emptied', left => truncateSync(join(left, PAPER_ACCOUNT_FILE)), /the file is empty/],
  ['without its log', left => rmSync(join(left, LOG)), /only \d+ of 4 commits/],
  ['with a log that was cut off', left => truncateSync(join(left, LOG), 4_000), /only \d+ of 4 commits/],
  [
    'of an older copy',
    (left, older) => [PAPER_ACCOUNT_FILE, LOG].forEach(name => copyFileSync(join(older, name), join(left, name))),
    /only 2 of 4 commits/,
  ],
];

test.each(LOSSES)('a file that was %s is no new account, and stays as it is', (_, lose, why) => {
  const { left, copies } = killed(4);
  lose(left, copies[1]!);
  const files = () => readdirSync(left).map(name => [name, readFileSync(join(left, name)).toString('hex')]);
  const before = files();
  expect(() => openPaperAccount(left)).toThrow(why);
  // SQLite may move the log of a file into it, which changes no row.
  if (!why.source.includes('only')) expect(files()).toEqual(before);
  // The next process, with the files as the first start left them.
  expect(() => openPaperAccount(copyOf(left, 'again'))).toThrow(why);
});

test('a kill or a power cut after any write loses nothing that the count of commits knows', () => {
  const { left, copies } = killed(5);
  for (const [i, copy] of [...copies, left].entries()) {
    // After a power cut, the number of the last commit may be an older one.
    const again = openPaperAccount(copy);
    expect(again.read().find(({ key }) => key === 'account')?.text).toBe(`a balance of ${1_000 + i}`);
    again.close();
  }
});

test('a write that fails, wherever it fails, changes no row and no count: a kill after it leaves a file that opens with the rows before it', () => {
  const write = fc.record({ isDurable: fc.boolean(), fails: fc.boolean(), rows: fc.nat(2) });
  let run = 0;
  fc.assert(
    fc.property(fc.array(write, { minLength: 1, maxLength: 6 }), writes => {
      const here = join(dir, `failed-${++run}`);
      mkdirSync(here);
      const file = openPaperAccount(here);
      const rows = new Map<string, string>();
      writes.forEach(({ isDurable, fails, rows: count }, n) => {
        const changes = Array.from({ length: count }, (_, i) => ({ key: `row ${i}`, text: `${n} ${i}` }));
        // The table takes no row without a key.
        const broken = { key: null as never, text: 'x' };
        if (fails) expect(() => file.write([...changes, broken], isDurable)).toThrow(/NOT NULL/);
        else {
          file.write(changes, isDurable);
          for (const { key, text } of changes) rows.set(key, text);
        }
        const left = copyOf(here, `failed-${run}-${n}`);
        const again = openPaperAccount(left);
        expect(new Map(again.read().map(({ key, text }) => [key, text]))).toEqual(rows);
        again.close();
        rmSync(left, { recursive: true });
      });
      file.close();
    }),
    { ...runsOf(200, 10), seed: 4 },
  );
});

test.each([
  [
    'the count of its commits is changed',
    (path: string) => changed(path, 'UPDATE commits SET n = 1'),
    /commit count does not match/,
  ],
  ['it is lost', (path: string) => rmSync(path), /the file is missing, but earlier runs left/],
] as const)('neither a bot nor a reader takes an account for whole when %s', async (_, spoil, why) => {
  const file = openPaperAccount(dir);
  for (let n = 0; n < 2; n++) file.write([{ key: 'account', text: String(n) }], true);
  file.close();
  spoil(join(dir, PAPER_ACCOUNT_FILE));
  expect(() => openPaperAccount(dir)).toThrow(why);
  if (!why.source.includes('count')) await expect(readPaperAccount(dir, realClock())).rejects.toThrow(why);
});

function changed(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

test('after a byte that is not UTF-8 anywhere in the file, a start is refused or has the same rows, and --fresh can still lock the file', async () => {
  const file = openPaperAccount(dir);
  file.write(
    Array.from({ length: 12 }, (_, i) => ({ key: `order/${i}`, text: `"${'an order of the bot '.repeat(3)}${i}"` })),
    true,
  );
  const rows = file.read();
  file.close();
  const bytes = readFileSync(join(dir, PAPER_ACCOUNT_FILE));
  const used = [...bytes.keys()].filter(at => bytes[at] !== 0);
  const inRows = bytes.indexOf('an order of the bot');
  const seen = { refused: 0, same: 0 };
  let run = 0;
  const tried = (at: number) => {
    const here = join(dir, `flip-${++run}`);
    mkdirSync(here);
    const flipped = Buffer.from(bytes);
    flipped[at] = 0xff;
    writeFileSync(join(here, PAPER_ACCOUNT_FILE), flipped);
    lockPaperAccount(here)?.release();
    try {
      const again = openPaperAccount(here);
      expect(again.read()).toEqual(rows);
      again.close();
      seen.same++;
    } catch (error) {
      // A byte of the header can also say that a newer version wrote the file, or that it must not be written.
      if (at >= 100) expect(error).toBeInstanceOf(DamagedAccount);
      seen.refused++;
    }
    rmSync(here, { recursive: true });
  };
  // The text of a table's definition is not checked by SQLite as long as it can be parsed.
  const inTables = bytes.indexOf('PRIMARY KEY');
  for (const at of [inRows, inRows + 40, inTables, inTables + 1]) tried(at);
  expect(seen).toEqual({ refused: 4, same: 0 });
  fc.assert(fc.property(fc.constantFrom(...used), tried), { ...runsOf(2_000, 40), seed: 3 });
  const here = join(dir, 'read');
  mkdirSync(here);
  const flipped = Buffer.from(bytes);
  flipped[inRows] = 0xff;
  writeFileSync(join(here, PAPER_ACCOUNT_FILE), flipped);
  await expect(readPaperAccount(here, realClock())).rejects.toThrow(/does not match its checksum/);
});

test('the lock of a file ends with its release, and stops every other process until then', () => {
  expect(lockPaperAccount(dir)).toBeNull();
  const file = openPaperAccount(dir);
  file.write([{ key: 'account', text: '1' }], true);
  expect(() => lockPaperAccount(dir)).toThrow(/is in use by another process/);
  file.close();
  const locked = lockPaperAccount(dir)!;
  expect(() => openPaperAccount(dir)).toThrow(/is in use by another process/);
  locked.release();
  const again = openPaperAccount(dir);
  expect(again.read()).toEqual([{ key: 'account', text: '1' }]);
  again.close();
});

test('waits for the disk at exactly the writes that must survive a power cut, in any order of writes', () => {
  const prepare = vi.spyOn(Database.prototype, 'prepare');
  try {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), kinds => {
        const file = openPaperAccount(dir);
        const db = prepare.mock.contexts.at(-1) as Database.Database;
        const synced = kinds.map((isDurable, i) => {
          file.write([{ key: 'a', text: String(i) }], isDurable);
          const [{ synchronous }] = db.pragma('synchronous') as [{ synchronous: number }];
          return synchronous >= FULL;
        });
        file.close();
        expect(synced).toEqual(kinds);
      }),
      runsOf(100, 15),
    );
  } finally {
    prepare.mockRestore();
  }
});

test('a file that a newer version wrote asks for an update, not for a new account', () => {
  openPaperAccount(dir).close();
  const db = new Database(join(dir, PAPER_ACCOUNT_FILE));
  db.exec('PRAGMA user_version = 9');
  db.close();
  expect(() => openPaperAccount(dir)).toThrow(/newer than this version of Puntas can read\); update Puntas$/);
});

test('without a file has no rows to read', async () => {
  expect(await readPaperAccount(dir, realClock())).toEqual([]);
  expect(readdirSync(dir)).toEqual([]);
});

test('a write that was cut off in the middle is not there at all, and every write before it is', () => {
  const change = fc.record({
    key: fc.constantFrom('a', 'b', 'c'),
    text: fc.option(fc.string({ maxLength: 9_000, size: 'max' })),
  });
  const writes = fc.array(
    fc.record({ changes: fc.array(change, { minLength: 1, maxLength: 3 }), isDurable: fc.boolean() }),
    { minLength: 1, maxLength: 6 },
  );
  let run = 0;
  const seen = { none: 0, some: 0, all: 0 };
  fc.assert(
    fc.property(writes, between(0, 1), (all, share) => {
      const here = join(dir, `run-${++run}`);
      mkdirSync(here);
      const [path, log] = [join(here, PAPER_ACCOUNT_FILE), join(here, `${PAPER_ACCOUNT_FILE}-wal`)];
      const file = openPaperAccount(here);
      const sizeOf = () => statSync(log).size;
      // Rows after each write, with the size of the log from which this write is complete.
      const states = [{ rows: file.read(), size: sizeOf() }];
      for (const { changes, isDurable } of all) {
        file.write(changes, isDurable);
        states.push({ rows: file.read(), size: sizeOf() });
      }
      const first = states[0]!.size;
      const cut = Math.floor(first + share * (sizeOf() - first));
      const left = join(here, 'left');
      mkdirSync(left);
      copyFileSync(path, join(left, PAPER_ACCOUNT_FILE));
      copyFileSync(log, join(left, `${PAPER_ACCOUNT_FILE}-wal`));
      truncateSync(join(left, `${PAPER_ACCOUNT_FILE}-wal`), cut);
      file.close();
      const again = openPaperAccount(left);
      const whole = states.findLastIndex(({ size }) => size <= cut);
      expect(again.read()).toEqual(states[whole]!.rows);
      again.close();
      seen[whole === 0 ? 'none' : whole === states.length - 1 ? 'all' : 'some']++;
    }),
    { ...runsOf(300, 25), seed: 5 },
  );
  expect(seen.some).toBeGreaterThan(0);
});
