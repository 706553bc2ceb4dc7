/** What commands leave for a bot in its state directory: trusted only as far as nobody else could have written it. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { noteInJournal, promotionJournal } from '../../../src/app/promote/promotionJournal.ts';
import { money } from '../../../src/core/index.ts';
import { flattenIn } from '../../../src/live/safety/flatten.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { adjustmentsIn } from '../../../src/live/state/adjustments.ts';
import { cancelsIn } from '../../../src/live/state/cancels.ts';
import { reloadsIn } from '../../../src/live/state/reloads.ts';
import { settlementsIn } from '../../../src/live/state/settlements.ts';
import { started } from '../../app/promote/records.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-mailboxes-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let dir = root;
beforeEach(() => (dir = mkdtempSync(join(root, 'state-'))));

const said = { at: 1, by: 'ann', reason: 'a test' };
/** Every mailbox: how something is left there, and whether the bot finds it. */
const MAILBOXES: Readonly<Record<string, { readonly put: () => void; readonly isFound: () => boolean }>> = {
  adjust: {
    put: () => adjustmentsIn(dir).put({ id: 'a1b2c3d4', currency: 'btc', amount: money(5n), ...said }),
    isFound: () => adjustmentsIn(dir).waiting().length > 0,
  },
  settle: {
    put: () => settlementsIn(dir).put({ id: 'H-1', as: 'failed', ...said }),
    isFound: () => settlementsIn(dir).waiting().length > 0,
  },
  flatten: {
    put: () => flattenIn(dir).set({ id: 'f-1', costMax: '10', ...said }),
    isFound: () => flattenIn(dir).read() !== null,
  },
  cancel: {
    put: () => cancelsIn(dir).put({ id: 'c-1', ...said }),
    isFound: () => cancelsIn(dir).waiting() !== null,
  },
  reload: {
    put: () => reloadsIn(dir).put({ id: 'r-1', digest: null, isPreview: false, ...said }),
    isFound: () => reloadsIn(dir).waiting() !== null,
  },
};
/** What has no answer to be found here, and is left in the same way. */
const LEFT: Readonly<Record<string, () => void>> = {
  pause: () => latchIn(dir).setPause?.({ ...said, by: 'person', until: null }),
  resume: () => latchIn(dir).lift('a test', 1),
  'a promotion': () => void noteInJournal(dir, started(1, 1)),
};

const isOwned = process.geteuid !== undefined;

describe.skipIf(!isOwned)('what a command leaves for a bot', () => {
  const puts = { ...Object.fromEntries(Object.entries(MAILBOXES).map(([name, { put }]) => [name, put])), ...LEFT };

  test.each(Object.entries(puts))('(%s) is not left in a folder that others can write', (_, put) => {
    chmodSync(dir, 0o777);
    expect(put).toThrow(/is writable by other users \(mode 777\)/);
    expect(readdirSync(dir)).toEqual([]);
  });

  test.each(Object.entries(puts))('(%s) is not left beside a file that others can write, or a link', (_, put) => {
    writeFileSync(join(dir, 'journal.db'), '');
    chmodSync(join(dir, 'journal.db'), 0o666);
    expect(put).toThrow(/journal\.db is writable by other users/);
    rmSync(join(dir, 'journal.db'));
    symlinkSync('/etc/hostname', join(dir, 'journal.db'));
    expect(put).toThrow(/journal\.db is a symbolic link/);
  });

  test.each(Object.entries(MAILBOXES))('(%s) is found, and is not once others could have written it', (_, box) => {
    box.put();
    const [name] = readdirSync(dir);
    const file = join(dir, name!);
    expect(box.isFound()).toBe(true);
    chmodSync(file, 0o622);
    expect(box.isFound()).toBe(false);
  });

  test.each(Object.entries(MAILBOXES))('(%s) is not found behind a link', (_, box) => {
    box.put();
    const [name] = readdirSync(dir);
    const elsewhere = mkdtempSync(join(root, 'elsewhere-'));
    renameSync(join(dir, name!), join(elsewhere, 'planted.json'));
    symlinkSync(join(elsewhere, 'planted.json'), join(dir, name!));
    expect(box.isFound()).toBe(false);
  });

  test('and the journal of promotions is not read where others could have written it', () => {
    noteInJournal(dir, started(1, 1));
    expect(promotionJournal(dir).records).toHaveLength(1);
    chmodSync(join(dir, 'journal.jsonl'), 0o606);
    expect(() => promotionJournal(dir)).toThrow(/journal\.jsonl is writable by other users .*chmod go-w/);
    chmodSync(join(dir, 'journal.jsonl'), 0o600);
    mkdirSync(join(dir, 'files'));
    chmodSync(join(dir, 'files'), 0o777);
    expect(() => promotionJournal(dir)).toThrow(/files is writable by other users/);
  });
});
