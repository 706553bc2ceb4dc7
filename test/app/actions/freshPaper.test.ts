/** `--fresh`: moves the state of this bot's paper account, and nothing else. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { setPaperStateAside } from '../../../src/app/actions/freshPaper.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { openPaperAccount, PAPER_ACCOUNT_FILE, readPaperAccount } from '../../../src/live/state/paperAccount.ts';
import { claimState } from '../../../src/live/state/paperMark.ts';
import { storedText } from '../../../src/sandbox/venue/storedText.ts';

const PURPOSE = { follows: 'https://one.example', book: 'btc_mxn', instance: 'bot' };
const clock = realClock();
let root = '';
let dir = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'puntas-fresh-'));
  dir = join(root, 'state-paper');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Makes the state of an account that is not open. */
function used(purpose = PURPOSE): void {
  claimState(dir, true);
  const file = openPaperAccount(dir);
  file.write([{ key: 'identity', text: storedText({ version: 1, ...purpose }) }], true);
  file.close();
}

const aside = () => readdirSync(root).filter(name => name !== 'state-paper');

test('moves the account with all of its rows, and names the command that brings it back', async () => {
  used();
  writeFileSync(join(dir, 'run-1.rec'), 'a recording');
  const rows = await readPaperAccount(dir, clock);
  const { line } = await setPaperStateAside(dir, clock, PURPOSE);
  const [name] = aside();
  expect([existsSync(dir), aside().length]).toEqual([false, 1]);
  expect(line).toContain(`mv ${dir} ${dir}.new && mv ${join(root, name!)} ${dir}`);
  expect(await readPaperAccount(join(root, name!), clock)).toEqual(rows);
  expect(readFileSync(join(root, name!, 'run-1.rec'), 'utf8')).toBe('a recording');
  // A new account is opened at the old name, and stays whole beside the old one.
  used({ ...PURPOSE, book: 'eth_mxn' });
  const fresh = openPaperAccount(dir);
  const old = openPaperAccount(join(root, name!));
  expect([fresh.read().length, old.read()]).toEqual([1, rows]);
  fresh.close();
  old.close();
});

test.each([
  ['instance', 'another'],
  ['book', 'eth_mxn'],
  ['follows', 'https://two.example'],
] as const)('leaves the account of another %s where it is', async (key, value) => {
  used({ ...PURPOSE, [key]: value });
  await expect(setPaperStateAside(dir, clock, PURPOSE)).rejects.toThrow(
    /this paper account is not moved, because it belongs to .*; give this bot its own paper\.stateDir/,
  );
  expect(aside()).toEqual([]);
});

test('leaves an account that a process has open, even one without a heartbeat', async () => {
  used();
  const file = openPaperAccount(dir);
  await expect(setPaperStateAside(dir, clock, PURPOSE)).rejects.toThrow(/a bot is running with this state/);
  file.write([{ key: 'account', text: 'still whole' }], true);
  file.close();
  expect([aside(), (await readPaperAccount(dir, clock)).length]).toEqual([[], 2]);
});

test('moves an account that is damaged, lost or empty', async () => {
  for (const [n, spoil] of [
    (file: string) => writeFileSync(file, 'no database at all, but long enough to be read as one'.repeat(100)),
    (file: string) => rmSync(file),
    (file: string) => writeFileSync(file, ''),
  ].entries()) {
    used();
    spoil(join(dir, PAPER_ACCOUNT_FILE));
    const { line } = await setPaperStateAside(dir, { ...clock, now: () => clock.now() + n * 60_000 }, PURPOSE);
    expect([line.includes('to return to it'), aside().length]).toEqual([true, n + 1]);
  }
});

test('leaves a folder that is not of paper trading, and has nothing to move without a folder', async () => {
  expect((await setPaperStateAside(dir, clock, PURPOSE)).line).toBe(`${dir}: no earlier paper account`);
  mkdirSync(dir);
  writeFileSync(join(dir, 'notes.txt'), 'of someone');
  await expect(setPaperStateAside(dir, clock, PURPOSE)).rejects.toThrow(/not the state of paper trading/);
  expect(aside()).toEqual([]);
});

test('a refused start puts the earlier account back with all of its rows, and leaves nothing else', async () => {
  used();
  writeFileSync(join(dir, 'run-1.rec'), 'a recording');
  const rows = await readPaperAccount(dir, clock);
  const { putBack } = await setPaperStateAside(dir, clock, PURPOSE);
  used({ ...PURPOSE, book: 'eth_mxn' });
  expect(putBack()).toBe(`the bot did not start, so the earlier paper account is again in ${dir}`);
  expect([aside(), await readPaperAccount(dir, clock)]).toEqual([[], rows]);
  expect(readFileSync(join(dir, 'run-1.rec'), 'utf8')).toBe('a recording');
});

test.each<readonly [string, () => void]>([
  ['before it made a folder', () => undefined],
  ['after it made the folder', () => mkdirSync(dir)],
  ['after it marked the folder', () => claimState(dir, true)],
  [
    'while it opened the new account',
    () => {
      claimState(dir, true);
      writeFileSync(join(dir, PAPER_ACCOUNT_FILE), '');
    },
  ],
  ['after it opened the new account', used],
])('a start with --fresh that is killed %s loses nothing, and the next starts go on', async (_, killed) => {
  used();
  writeFileSync(join(dir, 'run-1.rec'), 'a recording');
  const rows = await readPaperAccount(dir, clock);
  await setPaperStateAside(dir, clock, PURPOSE);
  const [name] = aside();
  const isWhole = async () => {
    expect(await readPaperAccount(join(root, name!), clock)).toEqual(rows);
    expect(readFileSync(join(root, name!, 'run-1.rec'), 'utf8')).toBe('a recording');
  };
  killed();
  // A start without --fresh opens the new account, or continues it.
  used();
  await isWhole();
  rmSync(dir, { recursive: true });
  killed();
  // A second start with --fresh moves only what the first one left.
  const { putBack } = await setPaperStateAside(dir, { ...clock, now: () => clock.now() + 60_000 }, PURPOSE);
  used();
  await isWhole();
  putBack();
  await isWhole();
  expect(aside().filter(one => one.includes('refused'))).toEqual([]);
});

const STOP = { reason: 'odd fills', at: 1, by: 'person', who: 'Ana' } as const;
test.each<readonly [string, () => void]>([
  ['halt', () => latchIn(dir).set(STOP)],
  ['pause', () => latchIn(dir).setPause({ ...STOP, until: null })],
  ['reduce-only', () => latchIn(dir).setReduce(STOP)],
])('a %s of the earlier account or of the new one is moved by no start', async (_, stop) => {
  used();
  const { putBack } = await setPaperStateAside(dir, clock, PURPOSE);
  const moved = aside();
  used();
  stop();
  expect(putBack()).toContain('is held');
  const later = { ...clock, now: () => clock.now() + 60_000 };
  await expect(setPaperStateAside(dir, later, PURPOSE)).rejects.toThrow(/trading is held .*; resume first/);
  expect(aside()).toEqual(moved);
});

test('a refused start puts nothing back over a new account that a process has open', async () => {
  used();
  const { putBack } = await setPaperStateAside(dir, clock, PURPOSE);
  used();
  const file = openPaperAccount(dir);
  expect(putBack()).toMatch(
    /stays in .* \(.*a bot is running with this state.*; to return to it, stop the bot, then: mv /,
  );
  file.close();
  expect(aside().length).toBe(1);
});

test('leaves an account that cannot be locked for a cause other than damage, and names no new account as the remedy', async () => {
  claimState(dir, true);
  mkdirSync(join(dir, PAPER_ACCOUNT_FILE));
  writeFileSync(join(dir, PAPER_ACCOUNT_FILE, 'a file'), 'in it');
  const moved = setPaperStateAside(dir, clock, PURPOSE);
  await expect(moved).rejects.toThrow(/cannot be used .*; (?!.*--fresh)/);
  expect(aside()).toEqual([]);
});
