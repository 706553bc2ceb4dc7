import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { realClock } from '../../../src/live/realClock.ts';
import { openPaperAccount, PAPER_ACCOUNT_FILE, readPaperAccount } from '../../../src/live/state/paperAccount.ts';

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
