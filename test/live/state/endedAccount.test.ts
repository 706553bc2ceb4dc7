/** No ledger is deleted in silence: a start reports it in one line if the account of the ledger ended with its embedded exchange. */
import { afterAll, describe, expect, test } from 'vitest';
import type { LogLine } from '../../memoryLog.ts';
import { openJournal } from '../../../src/live/state/journal.ts';
import type { Owner } from '../../../src/live/state/owner.ts';
import { restarted } from '../crashes.ts';
import { Folders, markOf } from '../states.ts';
import { started, worldOf } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const OWNERS: readonly (readonly [string, Owner])[] = [
  ['an embedded exchange', { venue: null, key: '', book: 'btc_mxn', instance: 'a' }],
  ['an exchange', { venue: 'https://x', key: 'k', book: 'btc_mxn', instance: 'a' }],
  [
    'a paper account',
    { venue: null, key: '', book: 'btc_mxn', instance: 'a', paperAccount: { account: 'p', opens: 1 } },
  ],
];

describe('a start', () => {
  test.each(
    OWNERS.flatMap(([first, before]) =>
      OWNERS.flatMap(([next, after]) =>
        [true, false].flatMap(hasLedger =>
          [true, false].map(isSame => ({ first, before, next, after, hasLedger, isSame })),
        ),
      ),
    ),
  )('at $next after $first, ledger $hasLedger, same account $isSame, reports a ledger exactly if it is gone', at => {
    const dir = folders.fresh();
    const options = { at: 1_000, setup: '{}', earlierBytesMax: 1e9 };
    const journal = openJournal(dir, { ...options, owner: at.before, account: 'first' });
    if (at.hasLedger) journal.flush(markOf('100', '77'));
    journal.close();
    let reports = 0;
    const open = () =>
      openJournal(dir, {
        ...{ ...options, owner: at.after, account: at.isSame ? 'first' : 'second' },
        onEndedLedger: () => reports++,
      });
    let kept = true;
    try {
      const next = open();
      kept = next.leftovers.ledger !== null;
      next.close();
    } catch (error) {
      // The state of another bot is refused, and keeps its ledger.
      expect(String(error)).toMatch(/the state directory .* (belongs to|has the ledger of)/);
    }
    expect(reports).toBe(at.hasLedger && !kept ? 1 : 0);
  });
});

describe('a bot on the embedded exchange', () => {
  const linesOf = (log: readonly LogLine[]) =>
    log.filter(({ text }) => text.includes('starts with a new account')).map(({ level }) => level);

  test('says at a restart that profit and ledger start again, and what keeps them', async () => {
    const first = worldOf(71);
    const run = await started(first);
    await first.clock.advance(20_000);
    await run.stop();
    expect(linesOf(run.log)).toEqual([]);
    const dir = folders.copyOf(first.stateDir);
    first.end();
    const second = worldOf(72);
    const again = await restarted(second, dir);
    await again.stop();
    second.end();
    expect(linesOf(again.log)).toEqual(['info']);
    const line = again.log.find(({ text }) => text.includes('starts with a new account'))!;
    expect(line.text).toMatch(/profit and ledger start again; to keep an account .* puntas run --paper$/);
  });
});
