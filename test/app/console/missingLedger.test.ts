/** A console that starts before its bot has the ledger soon after the bot has one, not at the next regular read. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { BesideRun } from '../../../src/app/console/besideRun.ts';
import { openJournal, STATE_FILE } from '../../../src/live/state/journal.ts';
import { markOf } from '../../live/states.ts';
import { sandboxConfig } from '../../live/world.ts';
import { realClock } from '../../../src/live/realClock.ts';

let dir = '';
afterEach(() => rmSync(dir, { recursive: true }));

function consoleOn(): BesideRun {
  dir = mkdtempSync(join(tmpdir(), 'puntas-missing-'));
  chmodSync(dir, 0o700);
  return new BesideRun({ ...sandboxConfig(), state: { dir } }, realClock());
}

test('the ledger is read once it is there, and then no more', async () => {
  const beside = consoleOn();
  await beside.readMissingLedger();
  expect([beside.ledger, beside.trouble]).toEqual([null, null]);
  const owner = { venue: null, key: '', book: 'btc_mxn', instance: 'demo' };
  const journal = openJournal(dir, { account: 'a', owner, at: 1, setup: '{}', earlierBytesMax: 1e6 });
  journal.flush(markOf('100', '77'));
  journal.close();
  await beside.readMissingLedger();
  const { ledger } = beside;
  expect(ledger).not.toBeNull();
  await beside.readMissingLedger();
  expect(beside.ledger).toBe(ledger);
});

test('a ledger that cannot be read waits for the regular read', async () => {
  const beside = consoleOn();
  writeFileSync(join(dir, STATE_FILE), 'no database');
  await beside.readMissingLedger();
  const { trouble } = beside;
  expect(trouble).toMatch(/^the ledger cannot be read: /);
  rmSync(join(dir, STATE_FILE));
  await beside.readMissingLedger();
  expect(beside.trouble).toBe(trouble);
  await beside.readLedger();
  expect(beside.trouble).toBeNull();
});
