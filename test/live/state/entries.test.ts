/** Entries of the ledger on disk: durable with their mark or not at all, held against it at every start, brought forward when there are many. */
import {
  NO_PROFIT,
  causesFrom,
  causesOf,
  moneyOf,
  type Cause,
  type Causes,
  type LedgerEntry,
} from '../../../src/core/index.ts';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import Database from 'libsql';
import { afterAll, describe, expect, test } from 'vitest';
import { addedText } from '../../../src/live/loop/elsewhereHedging.ts';
import {
  entriesIn,
  foldEntries,
  isBroughtForward,
  ledgerByEntries,
  writeEntries,
} from '../../../src/live/state/ledgerEntries.ts';
import { atomically } from '../../../src/live/state/stateFile.ts';
import { closeDatabase, DamagedState, openDatabase, STATE_FILE } from '../../../src/live/state/journal.ts';
import type { LedgerCheckpoint } from '../../../src/live/recording/ledgerText.ts';
import { sumOf } from '../../../src/live/state/rowChecksums.ts';
import { ACCOUNT, AT, Folders, markOf, opened } from '../states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const entry = (source: string, currency = 'mxn', amount = '1'): LedgerEntry => ({
  ...{ source, at: AT, why: null },
  changes: [{ cause: 'trades', currency, amount: moneyOf(amount) }],
});
const opening: LedgerEntry = {
  ...{ source: 'opening', at: AT, why: null },
  changes: [
    { cause: 'opening', currency: 'btc', amount: moneyOf('1.5') },
    { cause: 'opening', currency: 'mxn', amount: moneyOf('100') },
  ],
};
/** The mark that these entries lead to. */
const after = (entries: readonly LedgerEntry[]): LedgerCheckpoint => {
  const mark = markOf('100', '77');
  return { ...mark, ledger: { ...mark.ledger, causes: causesFrom(entries) } };
};

function read(dir: string): LedgerEntry[] {
  const db = openDatabase(join(dir, STATE_FILE));
  const entries = [...entriesIn(db, ACCOUNT)].map(({ n: _, ...each }) => each);
  closeDatabase(db);
  return entries;
}

describe('entries', () => {
  test('are durable with the mark that they lead to, whenever the process is killed, and never without it', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    const told: LedgerEntry[] = [opening];
    journal.keep(after(told), [opening]);
    const untold = folders.copyOf(dir);
    journal.flush();
    const copies = Array.from({ length: 5 }, (_, n) => {
      told.push(entry(`trade ${n} o`), entry(`trade ${n} p`, 'btc', '-0.1'));
      journal.keep(after(told), told.slice(-2));
      journal.flush();
      return { dir: folders.copyOf(dir), told: [...told] };
    });
    journal.close();
    expect(read(untold)).toEqual([]);
    for (const copy of copies) {
      expect(read(copy.dir)).toEqual(copy.told);
      expect(() => opened(copy.dir).close()).not.toThrow();
    }
  });

  test('of one source are never written twice', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    journal.keep(after([opening]), [opening]);
    journal.flush();
    journal.keep(after([opening, entry('t')]), [entry('t')]);
    journal.flush();
    journal.keep(after([opening, entry('t'), entry('t')]), [entry('t')]);
    expect(() => journal.flush()).toThrow(/UNIQUE/);
    journal.close();
    expect(read(dir)).toHaveLength(2);
  });

  test('that do not lead to the balances are damage', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    journal.flush(after([opening, entry('t')]));
    journal.keep(after([opening, entry('t')]), [opening]);
    journal.flush();
    journal.close();
    expect(() => opened(folders.copyOf(dir))).toThrow(DamagedState);
    expect(() => opened(dir)).toThrow(/the mxn entries for trades do not add up to the trades of the ledger/);
  });

  test('that an older Puntas left out of the sums at an exchange that it did not read are in them, and said once', () => {
    const change = (cause: Cause, currency: string, amount: string) => ({ cause, currency, amount: moneyOf(amount) });
    const placed: LedgerEntry = {
      ...{ source: 'opening@kraken', at: AT, why: null },
      changes: [change('opening', 'btc@kraken', '3'), change('opening', 'usdt@kraken', '90')],
    };
    // Booked in the ledger of the own account, whose row the one of kraken then replaced.
    const adjusted: LedgerEntry = {
      ...{ source: 'adjust 1', at: AT, why: 'ann: closed the account' },
      changes: [change('adjustments', 'btc@kraken', '-2.5')],
    };
    const dir = folders.fresh();
    const before = after([opening, placed]);
    const journal = opened(dir);
    journal.keep({ ...before, ledger: { ...before.ledger, sources: ['adjust 1'] } }, [opening, placed, adjusted]);
    journal.flush();
    // A change that a sum of another cause lacks, or one of the own account, is damage.
    for (const other of [change('deposits', 'btc@kraken', '1'), change('adjustments', 'btc', '1')]) {
      const copy = folders.copyOf(dir);
      const db = openDatabase(join(copy, STATE_FILE));
      writeEntries(db, ACCOUNT, [{ source: 'other', at: AT, why: null, changes: [other] }]);
      closeDatabase(db);
      expect(() => opened(copy)).toThrow(/do not add up to the/);
    }
    journal.close();
    const next = opened(dir);
    const { ledger, added } = next.leftovers;
    expect(ledger!.causes).toEqual(causesFrom([opening, placed, adjusted]));
    expect(added).toEqual(new Map([['btc@kraken', moneyOf('-2.5')]]));
    // Holdings and target fell together; a request that is found again is known.
    expect([ledger!.target, ledger!.targetRest]).toEqual([before.ledger.target, moneyOf('-2.5')]);
    expect(ledger!.sources).toEqual(['adjust 1', 'adjust 1@kraken']);
    expect(addedText(next.leftovers)).toMatch(
      /adjustments of -2\.5 btc@kraken that an older version of Puntas did not add to the sums/,
    );
    next.flush({ ...before, ledger: ledger! });
    next.close();
    const last = opened(dir);
    last.close();
    expect([last.leftovers.added, addedText(last.leftovers)]).toEqual([undefined, null]);
    expect(last.leftovers.ledger!.causes).toEqual(ledger!.causes);
  });

  test('of an adjustment at an exchange that are lost are damage, also beside one that an older Puntas left out', () => {
    const change = (cause: Cause, amount: string) => ({ cause, currency: 'btc@kraken', amount: moneyOf(amount) });
    const of = (source: string, cause: Cause, amount: string) => ({
      ...{ source, at: AT, why: null },
      changes: [change(cause, amount)],
    });
    const placed = of('opening@kraken', 'opening', '3');
    const adjusted = of('adjust 1@kraken', 'adjustments', '-2.5');
    const leftOut = of('adjust 2', 'adjustments', '-0.25');
    for (const entries of [
      [opening, placed, adjusted],
      [opening, placed, adjusted, leftOut],
    ]) {
      const dir = folders.fresh();
      const journal = opened(dir);
      journal.keep(after([opening, placed, adjusted]), entries);
      journal.flush();
      journal.close();
      opened(folders.copyOf(dir)).close();
      const db = openDatabase(join(dir, STATE_FILE));
      db.exec("DELETE FROM entries WHERE source = 'adjust 1@kraken'");
      closeDatabase(db);
      expect(() => opened(dir)).toThrow(/the btc@kraken entries for adjustments do not add up/);
    }
  });

  test('a changed one is damage', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    journal.keep(after([opening]), [opening]);
    journal.flush();
    journal.close();
    const db = openDatabase(join(dir, STATE_FILE));
    db.exec(`UPDATE entries SET entry = replace(entry, '1.5', '2.5')`);
    closeDatabase(db);
    expect(() => opened(dir)).toThrow(/a row of entries does not match its checksum/);
  });

  test('are brought forward exactly when there are enough beyond those that stay, with the time of the last of them', () => {
    const limits = fc.record({ max: fc.integer({ min: 1, max: 6 }), every: fc.integer({ min: 1, max: 4 }) });
    fc.assert(
      fc.property(limits, fc.array(fc.nat(5), { minLength: 1, maxLength: 8 }), ({ max, every }, counts) => {
        const db = openDatabase(':memory:');
        const stored = () => [...entriesIn(db, ACCOUNT)].map(({ source, at, changes }) => ({ source, at, changes }));
        let kept: ReturnType<typeof stored> = [];
        let n = 0;
        for (const count of counts) {
          const added = Array.from({ length: count }, () => ({
            ...entry(`trade ${++n}`, 'mxn', String(n)),
            at: AT + n,
          }));
          writeEntries(db, ACCOUNT, added);
          kept.push(...added.map(({ source, at, changes }) => ({ source, at, changes })));
          foldEntries(db, ACCOUNT, max, every);
          if (kept.length >= max + every) {
            const old = kept.slice(0, kept.length - max + 1);
            const amount = moneyOf(
              String(
                old.flatMap(({ changes }) => changes).reduce((sum, one) => sum + Number(one.amount / 10n ** 18n), 0),
              ),
            );
            const { at } = old.at(-1)!;
            const source = `brought forward ${at - AT}`;
            kept = [{ source, at, changes: [{ cause: 'trades', currency: 'mxn', amount }] }, ...kept.slice(old.length)];
          }
          expect(stored()).toEqual(kept);
        }
        db.close();
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ['btc@kraken', '-2.5'],
    ['usdt@kraken', '0'],
    ['btcx@kraken', '0'],
  ])('of %s that an older Puntas left out move the target by %s, on top of what it was', (currency, moved) => {
    const change = (cause: Cause, amount: string) => ({ cause, currency, amount: moneyOf(amount) });
    const of = (source: string, cause: Cause, amount: string): LedgerEntry => ({
      ...{ source, at: AT, why: null },
      changes: [change(cause, amount)],
    });
    const db = openDatabase(':memory:');
    const told = [opening, of('opening@kraken', 'opening', '3')];
    writeEntries(db, ACCOUNT, [...told, of('adjust 1', 'adjustments', '-2.5')]);
    const ledger = { ...after(told).ledger, targetRest: moneyOf('0.25') };
    const read = ledgerByEntries(db, ACCOUNT, ledger, 'btc_mxn');
    expect(read.ledger.targetRest).toBe(moneyOf(moved) + moneyOf('0.25'));
    expect(read.added).toEqual(new Map([[currency, moneyOf('-2.5')]]));
    // The base currency is unknown without the name of the book.
    expect(ledgerByEntries(db, ACCOUNT, ledger, null).ledger.targetRest).toBe(moneyOf('0.25'));
    db.close();
  });

  test('are brought forward as one when there are too many, and still lead to the balances', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    const told = [opening, ...Array.from({ length: 40 }, (_, n) => entry(`trade ${n} o`))];
    journal.keep(after(told), told);
    journal.flush();
    journal.close();
    const db = openDatabase(join(dir, STATE_FILE));
    for (let times = 0; times < 2; times++) {
      atomically(db, () => foldEntries(db, ACCOUNT, 10, 5))();
      const kept = [...entriesIn(db, ACCOUNT)];
      expect(kept).toHaveLength(10);
      expect(kept.filter(isBroughtForward)).toEqual([kept[0]]);
      expect(kept.slice(1).map(({ source }) => source)).toEqual(told.slice(-9).map(({ source }) => source));
      expect(kept[0]?.changes).toHaveLength(3);
    }
    closeDatabase(db);
    const next = opened(dir);
    next.close();
    expect(next.leftovers.ledger?.causes).toEqual(causesFrom(told));
  });
});

describe('a state file of the version before', () => {
  /** As version 2 wrote it: balances alone, and no entries. */
  function before(change: (db: Database.Database) => void = () => undefined): string {
    const dir = folders.fresh();
    opened(dir).close();
    const db = new Database(join(dir, STATE_FILE));
    const ledger = {
      totals: [
        ['btc', '1.5'],
        ['mxn', '100.00000001'],
      ],
      seen: [['8', 'x']],
      target: 150,
      guard: null,
    };
    const mark = JSON.stringify({ ledger: JSON.stringify(ledger), marker: '7', live: [], hedges: [] });
    db.prepare('INSERT INTO marks (account, mark, sum) VALUES (?, ?, ?)').run(ACCOUNT, mark, sumOf(ACCOUNT, mark));
    db.exec('DROP TABLE entries; DROP TABLE commits; DROP TABLE hours; PRAGMA user_version = 2');
    change(db);
    db.close();
    return dir;
  }

  test.each([
    ['count of commits and no profit by hour', 3, 'DROP TABLE commits; DROP TABLE hours'],
    ['profit by hour', 4, 'DROP TABLE hours'],
  ])('that kept no %s (version %i) is taken up as it is', (_, version, drop) => {
    const dir = folders.fresh();
    const first = opened(dir);
    first.keep(after([opening]), [opening]);
    first.flush();
    first.close();
    const db = new Database(join(dir, STATE_FILE));
    db.exec(`${drop}; PRAGMA user_version = ${version}`);
    db.close();
    if (version === 3) rmSync(join(dir, 'puntas.commits'));
    const next = opened(dir, AT + 60_000);
    next.close();
    expect(next.leftovers).toMatchObject({ marker: '77', ledger: { causes: causesFrom([opening]) } });
    expect(read(dir)).toEqual([opening]);
    const again = new Database(join(dir, STATE_FILE));
    expect(again.pragma('user_version')).toEqual([{ user_version: 5 }]);
    expect(again.prepare('SELECT count(*) AS n FROM hours').all()).toHaveLength(1);
    again.close();
  });

  test('is taken up: its balances are the opening, and everything else stays', () => {
    const dir = before();
    for (let times = 0; times < 2; times++) {
      const journal = opened(dir);
      journal.close();
      const { ledger, marker, transfers } = journal.leftovers;
      const causes: [string, Causes][] = [
        ['btc', causesOf({ opening: moneyOf('1.5') })],
        ['mxn', causesOf({ opening: moneyOf('100.00000001') })],
      ];
      expect(ledger).toEqual({
        causes: new Map(causes),
        sources: [],
        seen: new Map([['8', 'x']]),
        target: 150,
        guard: null,
        profit: { since: null, at: null, twiceMid: null, profit: NO_PROFIT },
      });
      expect([marker, transfers]).toEqual(['7', null]);
    }
    expect(read(dir).map(({ source, changes }) => [source, changes.length])).toEqual([['opening', 2]]);
  });

  test('that is damaged is refused as ever, and stays as it is', () => {
    const dir = before(db => void db.exec("UPDATE marks SET mark = replace(mark, '1.5', '2.5')"));
    expect(() => opened(dir)).toThrow(/a row of marks does not match its checksum/);
    const db = new Database(join(folders.copyOf(dir), STATE_FILE));
    expect(db.pragma('user_version')).toEqual([{ user_version: 2 }]);
    db.close();
  });
});
