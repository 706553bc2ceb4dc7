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
import { afterEach, beforeEach, expect, test } from 'vitest';
import { realClock } from '../../../src/live/realClock.ts';
import { runsOf } from '../../many.ts';
import { openPaperAccount, PAPER_ACCOUNT_FILE, readPaperAccount } from '../../../src/live/state/paperAccount.ts';
import { between } from '../../draws.ts';

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
