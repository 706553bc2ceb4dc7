import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import Database from 'libsql';
import { afterAll, describe, expect, test } from 'vitest';
import {
  causesOf,
  moneyOf,
  NO_PROFIT,
  VirtualClock,
  type Amount,
  type Causes,
  type LedgerEntry,
} from '../../../src/core/index.ts';
import { hoursIn } from '../../../src/live/state/profitHours.ts';
import { entriesIn } from '../../../src/live/state/ledgerEntries.ts';
import {
  closeDatabase,
  DamagedState,
  journalIn,
  openDatabase,
  openJournal,
  STATE_FILE,
  type Leftovers,
} from '../../../src/live/state/journal.ts';
import { nonceMarkOf } from '../../../src/live/state/stateSummary.ts';
import { NotOurs } from '../../../src/live/state/owner.ts';
import { readRecording, recordingsIn, RUNS_MAX } from '../../../src/live/recording/recordings.ts';
import { ACCOUNT, AT, Folders, markOf, opened, OPENING, OWNER, place, textOf } from '../states.ts';
import { runsOf } from '../../many.ts';

const folders = new Folders();
afterAll(() => folders.clear());

/** What a start would take up from this folder. */
function leftIn(dir: string): Leftovers {
  const journal = opened(dir, AT + 60_000);
  journal.close();
  return journal.leftovers;
}

const idsIn = (dir: string): string[] => leftIn(dir).orders.map(({ id }) => id);

describe('an intent', () => {
  test('is what the next run finds, whenever the process is killed after intend has returned', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    journal.intend([place('a-1-1')], AT + 1);
    const first = folders.copyOf(dir);
    journal.intend([place('a-1-2', 'sell', 1010, 7), place('a-1-3')], AT + 2);
    const second = folders.copyOf(dir);
    journal.close();
    expect(idsIn(first)).toEqual(['a-1-1']);
    expect(leftIn(second).orders).toEqual([
      { id: 'a-1-1', side: 'buy', price: 1000, amount: 5, filled: 0, oid: null, at: AT + 1 },
      { id: 'a-1-2', side: 'sell', price: 1010, amount: 7, filled: 0, oid: null, at: AT + 2 },
      { id: 'a-1-3', side: 'buy', price: 1000, amount: 5, filled: 0, oid: null, at: AT + 2 },
    ]);
  });

  test('is never written twice: an id that was used throws', () => {
    const journal = opened(folders.fresh());
    journal.intend([place('a-1-1')], AT);
    expect(() => journal.intend([place('a-1-1')], AT)).toThrow(/UNIQUE/);
    journal.close();
  });

  test('that ended is left no more, and its ending is durable with the next intent, ledger and marker in the same step', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    journal.intend([place('a-1-1'), place('a-1-2')], AT);
    journal.ended('a-1-1', 'filled');
    journal.keep(markOf('100', '77', [{ id: 'a-1-2', filled: 3 as Amount, oid: 'o2' }]), []);
    const before = folders.copyOf(dir);
    journal.intend([place('a-1-3')], AT + 1);
    const after = folders.copyOf(dir);
    journal.close();
    expect(leftIn(before)).toMatchObject({ ledger: null, marker: undefined });
    expect(idsIn(before)).toEqual(['a-1-1', 'a-1-2']);
    const left = leftIn(after);
    expect(left.marker).toBe('77');
    expect(left.orders.map(({ id, filled, oid }) => [id, filled, oid])).toEqual([
      ['a-1-2', 3, 'o2'],
      ['a-1-3', 0, null],
    ]);
  });

  test('leaves the ledger as it was when it was told, whatever has changed by the time it is written', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    const mark = markOf('100', '77', []);
    journal.keep(mark, []);
    (mark.ledger.causes as Map<string, Causes>).set('mxn', causesOf({ opening: moneyOf('999') }));
    journal.flush();
    journal.close();
    const { ledger, marker } = leftIn(dir);
    expect([ledger?.causes, marker]).toEqual([markOf('100', '77', []).ledger.causes, '77']);
  });

  test('at an embedded exchange that has ended is forgotten: a next one is another account', () => {
    const dir = folders.fresh();
    const boxed = { ...OPENING, owner: { ...OWNER, venue: null, key: '' } };
    const journal = openJournal(dir, { ...boxed, account: 'in the first box' });
    journal.intend([place('a-1-1'), { ...place('a-1-2'), symbol: 'btc_usd' }], AT);
    const changes = [{ cause: 'opening', currency: 'mxn', amount: moneyOf('100') }] as const;
    journal.keep(markOf('100', '77'), [{ source: 'opening', at: AT, why: null, changes }]);
    journal.flush();
    journal.reserveNonces(7n);
    journal.close();
    for (const account of ['in the second box', 'in the first box']) {
      const next = openJournal(dir, { ...boxed, account });
      const db = new Database(join(folders.copyOf(dir), STATE_FILE));
      for (const table of ['intents', 'order_books', 'marks', 'entries', 'nonces'])
        expect([table, db.prepare(`SELECT * FROM ${table}`).all()]).toEqual([table, []]);
      db.close();
      next.close();
      expect(next.leftovers).toEqual({
        orders: [],
        ledger: null,
        marker: undefined,
        hedges: [],
        transfers: null,
        uncounted: [],
        units: null,
      });
    }
  });
});

/** A database that can grow no more. */
function full(dir: string) {
  const journal = opened(dir);
  journal.close();
  const db = openDatabase(join(dir, STATE_FILE));
  const next = journalIn(db, { account: ACCOUNT, at: AT, setup: '{}', recordings: { dir, earlierBytesMax: 1e9 } });
  const [{ page_count: pages }] = db.pragma('page_count') as [{ page_count: number }];
  return {
    journal: next,
    fill: () => db.pragma(`max_page_count = ${pages}`),
    free: () => db.pragma('max_page_count = 100000'),
  };
}

describe('a disk that takes nothing', () => {
  test('makes intend throw and leaves nothing half written; what waited is written when there is room again', () => {
    const dir = folders.fresh();
    const { journal, fill, free } = full(dir);
    expect(journal.isWritable()).toBe(true);
    fill();
    const many = Array.from({ length: 100 }, (_, i) => place(`a-2-${i + 10}`));
    journal.keep(markOf('100', big), []);
    expect(() => journal.intend(many, AT)).toThrow(/full/);
    expect(journal.isWritable()).toBe(false);
    expect(idsIn(folders.copyOf(dir))).toEqual([]);
    free();
    journal.intend([place('a-2-2')], AT);
    expect(journal.isWritable()).toBe(true);
    const copy = folders.copyOf(dir);
    journal.close();
    expect(idsIn(copy)).toEqual(['a-2-2']);
  });

  test('has the recording take each line before the state file takes or refuses what came of it', () => {
    const dir = folders.fresh();
    const { journal, fill, free } = full(dir);
    const told: string[] = [];
    const intended: string[] = [];
    for (const [i, isFull] of [false, true, true, false, true, false, true].entries()) {
      for (let n = 0; n < 2; n++) {
        told.push(`i${told.length}`);
        journal.record(told.at(-1)!);
      }
      if (isFull) fill();
      else free();
      // More than the file has room for, each time.
      journal.keep(markOf('100', big.slice(0, 20_000 * (i + 1))), []);
      const id = `a-2-${i}`;
      const write = i % 2 === 0 ? () => journal.flush() : () => journal.intend([place(id)], AT + i);
      if (isFull) expect(write).toThrow(/full/);
      else write();
      if (!isFull && i % 2 === 1) intended.push(id);
      const copy = folders.copyOf(dir);
      expect([...readRecording(copy, journal.run)!.lines]).toEqual(told);
      expect(idsIn(copy)).toEqual(intended);
    }
    expect(intended).toHaveLength(2);
    journal.close();
  });
});

describe('the ledger on a disk that takes nothing', () => {
  test('has every entry and every hour of every keep when there is room again', () => {
    const dir = folders.fresh();
    const { journal, fill, free } = full(dir);
    const entry = (source: string, ...changes: LedgerEntry['changes']): LedgerEntry => ({
      source,
      at: AT,
      why: null,
      changes,
    });
    const opening = (currency: string, sum: string) => ({ cause: 'opening', currency, amount: moneyOf(sum) }) as const;
    const hour = (n: number) => [{ since: AT, at: AT + n * 3_600_000, twiceMid: null, profit: NO_PROFIT }];
    fill();
    journal.keep(markOf('90', big), [entry('first', opening('btc', '1.5'), opening('mxn', '90'))], hour(1));
    expect(() => journal.flush()).toThrow(/full/);
    journal.keep(markOf('97', big), [entry('second', opening('mxn', '7'))], hour(2));
    expect(() => journal.flush()).toThrow(/full/);
    journal.keep(markOf('100', '77'), [entry('third', opening('mxn', '3'))], hour(3));
    free();
    journal.flush();
    const copy = folders.copyOf(dir);
    journal.close();
    // What the entries add up to is held against the ledger there.
    expect(leftIn(copy).marker).toBe('77');
    const db = openDatabase(join(copy, STATE_FILE));
    expect([...entriesIn(db, ACCOUNT)].map(({ source }) => source)).toEqual(['first', 'second', 'third']);
    expect(hoursIn(db, ACCOUNT).map(({ at }) => (at! - AT) / 3_600_000)).toEqual([1, 2, 3]);
    db.close();
  });
});

describe('a run number', () => {
  test('is above that of every earlier run, also when the clock was set back', () => {
    const dir = folders.fresh();
    const first = opened(dir, AT);
    first.close();
    const second = opened(dir, AT - 86_400_000);
    second.close();
    expect(second.run).toBe(first.run + 1);
  });

  test('is above those of a state directory that was lost, so that no origin id comes again', () => {
    const lost = opened(folders.fresh(), AT);
    lost.close();
    const next = opened(folders.fresh(), AT + 5_000);
    next.close();
    expect(next.run).toBeGreaterThan(lost.run);
    // Twelve letters, the number, and a counter fit the forty characters that the exchange takes.
    expect(String(next.run).length).toBeLessThanOrEqual(10);
  });
});

describe('one process at a time', () => {
  test('a second open of the same folder is refused in one line while the first lives, and not after', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    expect(() => opened(dir)).toThrow(/^the state directory is in use by another process .*state\.dir$/);
    journal.close();
    expect(() => opened(dir).close()).not.toThrow();
  });
});

/** Every state that was durable once, as a start would take it up, and the folder as a crash leaves it at the end. */
function history(): { states: Set<string>; crashed: string; closed: string } {
  const dir = folders.fresh();
  const states = new Set<string>();
  const keep = () => states.add(textOf(leftIn(folders.copyOf(dir))));
  const journal = opened(dir);
  states.add(
    textOf({ orders: [], ledger: null, marker: undefined, hedges: [], transfers: null, uncounted: [], units: null }),
  );
  keep();
  for (let i = 1; i <= 12; i++) {
    journal.record(`i{"event":{"kind":"timer","at":${AT + i}}}`);
    journal.intend([place(`a-1-${2 * i}`), place(`a-1-${2 * i + 1}`, 'sell', 1010, i)], AT + i);
    keep();
    if (i > 1) journal.ended(`a-1-${2 * i - 2}`, 'canceled');
    journal.flush(
      markOf(`${1000 + i}.00000001`, String(900 + i), [{ id: `a-1-${2 * i}`, filled: 1 as Amount, oid: `o${i}` }]),
    );
    keep();
    journal.reserveNonces(10n ** 18n + BigInt(i));
  }
  const crashed = folders.copyOf(dir);
  journal.close();
  return { states, crashed, closed: folders.copyOf(dir) };
}

describe('damage', () => {
  const { states, crashed, closed } = history();
  const filesOf = (dir: string) =>
    readdirSync(dir)
      .filter(name => name === STATE_FILE || name.endsWith('-wal'))
      .map(name => ({ name, bytes: readFileSync(join(dir, name)) }));
  const cases = [
    ...filesOf(closed).map(({ name, bytes }) => ({ what: `${name} after a clean end`, dir: closed, name, bytes })),
    ...filesOf(crashed).map(({ name, bytes }) => ({ what: `${name} after a crash`, dir: crashed, name, bytes })),
  ].filter(({ bytes }) => bytes.length > 0);

  /** Opens a copy with one file changed: refused by name, or a state that was true once. */
  function judge(dir: string, change: (copy: string) => void): 'refused' | 'earlier state' {
    const copy = folders.copyOf(dir);
    change(copy);
    let left: Leftovers;
    try {
      left = leftIn(copy);
    } catch (error) {
      if (!(error instanceof DamagedState)) throw error;
      return 'refused';
    }
    if (!states.has(textOf(left))) throw new Error(`neither refused nor true once: ${textOf(left)}`);
    return 'earlier state';
  }

  function refusalOf(dir: string): Error {
    try {
      opened(dir).close();
    } catch (error) {
      return error as Error;
    }
    throw new Error('it was not refused');
  }

  test.each(cases)('of $what: cut anywhere it is refused or taken up as it stood once', ({ dir, name, bytes }) => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length }), length => {
        judge(dir, copy => truncateSync(join(copy, name), length));
      }),
      runsOf(120, 20),
    );
  });

  test.each(cases)('of $what: any byte changed it is refused or taken up as it stood once', ({ dir, name, bytes }) => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
        judge(dir, copy => {
          const changed = Buffer.from(bytes);
          changed[at]! ^= change;
          writeFileSync(join(copy, name), changed);
        });
      }),
      runsOf(250, 40),
    );
  });

  // What SQLite itself does not look at: the values in a row.
  test.each([
    ["UPDATE intents SET amount = 999 WHERE id = 'a-1-24'", /row of intents/],
    ["UPDATE intents SET ending = 'canceled' WHERE id = 'a-1-24'", /row of intents/],
    ["UPDATE marks SET mark = replace(mark, '1012.00000001', '9012.00000001')", /row of marks/],
    ["UPDATE nonces SET mark = '1'", /row of nonces/],
    ["UPDATE runs SET account = 'x'", /row of runs/],
    ["UPDATE owner SET owner = replace(owner, 'btc_mxn', 'eth_mxn')", /row of owner/],
    ['PRAGMA user_version = 1', /the file has version 1, but this version of Puntas reads versions 2 to 6/],
  ])('%s is refused', (sql, says) => {
    const copy = folders.copyOf(closed);
    const db = openDatabase(join(copy, STATE_FILE));
    db.exec(sql);
    closeDatabase(db);
    const error = refusalOf(copy);
    expect(error).toBeInstanceOf(DamagedState);
    expect(error.message).toMatch(says);
  });

  test('any value of any column of any table that was changed is refused, and the table is named', () => {
    const dir = folders.fresh();
    const journal = opened(dir);
    journal.intend([{ ...place('a-1-1'), symbol: 'btc_usd' }], AT);
    journal.reserveNonces(7n);
    const hour = { since: AT, at: AT + 3_600_000, twiceMid: null, profit: NO_PROFIT };
    const changes = [{ cause: 'deposits', currency: 'mxn', amount: moneyOf('1') }] as const;
    journal.keep(markOf('100', '77'), [{ source: 'transfer 1', at: AT, why: null, changes }], [hour]);
    journal.flush();
    journal.close();
    const path = join(dir, STATE_FILE);
    const whole = new Database(path);
    const tables = whole.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
    const columns = tables.flatMap(({ name: table }) =>
      (whole.pragma(`table_info(${table})`) as { name: string; type: string }[])
        // A constraint keeps this one as it is.
        .filter(({ name }) => name !== 'one')
        .map(({ name, type }) => ({ table, name, isText: type === 'TEXT' })),
    );
    whole.close();
    expect(tables).toHaveLength(9);
    const copies = folders.fresh();
    mkdirSync(copies);
    for (const { table, name, isText } of columns) {
      const changed = join(copies, `${table}.${name}`);
      copyFileSync(path, changed);
      const db = new Database(changed);
      db.exec(`UPDATE ${table} SET ${name} = ${isText ? `coalesce(${name}, '') || 'x'` : `${name} + 1`}`);
      db.close();
      const refused = `damaged: a row of ${table} does not match its checksum`;
      expect(() => closeDatabase(openDatabase(changed)), `${table}.${name}`).toThrow(refused);
    }
  });

  test('a file that is none of ours is refused by its name', () => {
    const dir = folders.copyOf(closed);
    writeFileSync(join(dir, STATE_FILE), 'a shopping list, and not a short one. '.repeat(100));
    const error = refusalOf(dir);
    expect(error).toBeInstanceOf(DamagedState);
    expect(error.message).toMatch(/^the state file .*puntas\.db cannot be used: /);
  });

  test('a folder in which no file can be made is a mistake, not damage', () => {
    const dir = folders.copyOf(closed);
    const file = join(dir, 'no-folder');
    writeFileSync(file, '');
    expect(() => openDatabase(join(file, STATE_FILE))).toThrow(/cannot write the state file .*check state\.dir/);
    expect(() => openDatabase(join(file, STATE_FILE))).not.toThrow(DamagedState);
  });
});

describe('a state directory', () => {
  test.each([
    [
      'another instance',
      { instance: 'b' },
      /^the state directory .* belongs to a on btc_mxn at https:\/\/exchange\.test, but this bot is b on/,
    ],
    ['another book', { book: 'eth_mxn' }, /this bot is a on eth_mxn at/],
    [
      'another exchange',
      { venue: 'https://other.test' },
      /this bot is a on btc_mxn at https:\/\/other\.test; give every bot its own/,
    ],
    ['an embedded exchange', { venue: null, key: '' }, /this bot is a on btc_mxn at an embedded exchange/],
    [
      'another key',
      { key: 'other' },
      /with another API key, and the account of this key was not checked at the exchange/,
    ],
  ])('of one bot refuses %s by name, and changes nothing', (_, change, says) => {
    const dir = folders.fresh();
    const journal = opened(dir);
    journal.intend([place('a-1-1')], AT);
    journal.close();
    const other = { ...OPENING, account: 'somebody else', owner: { ...OWNER, ...change } };
    expect(() => openJournal(dir, other)).toThrow(NotOurs);
    expect(() => openJournal(dir, other)).toThrow(says);
    expect(idsIn(dir)).toEqual(['a-1-1']);
  });

  test('has its rows under the name of its first account, whatever name a later start has, also after a demo', () => {
    const dir = folders.fresh();
    openJournal(dir, { ...OPENING, account: 'box', owner: { ...OWNER, venue: null, key: '' } }).close();
    const first = opened(dir, AT + 60_000);
    first.intend([place('a-1-1')], AT);
    first.flush(markOf('100', '77'));
    first.close();
    for (const [n, key] of ['another', 'a third'].entries()) {
      const at = AT + (n + 2) * 60_000;
      const next = openJournal(dir, { ...OPENING, at, account: key, owner: { ...OWNER, key }, client: '17' });
      next.close();
      expect(next.leftovers).toMatchObject({ orders: [{ id: 'a-1-1' }], marker: '77' });
    }
  });

  test('of a paper account is refused for another account and for an older copy of it, and changed by neither', () => {
    const dir = folders.fresh();
    const start = (account: string | null, opens: number) => () => {
      const paper = account === null ? {} : { paperAccount: { account, opens } };
      openJournal(dir, { ...OPENING, owner: { ...OWNER, ...paper } }).close();
    };
    // A process that could not start has counted itself too.
    for (const opens of [1, 1, 2, 5]) expect(start('p', opens)).not.toThrow();
    for (let times = 0; times < 2; times++) {
      expect(start('p', 4)).toThrow(/has a ledger that is newer than the file of its paper account/);
      expect(start('q', 9)).toThrow(/has the ledger of a paper account, but its account file has another account/);
      expect(start(null, 9)).toThrow(/has the ledger of a paper account, but its account file has no account/);
      expect(start('p', 5)).not.toThrow();
    }
  });

  test('of a demo is taken over by the first bot with an account', () => {
    const dir = folders.fresh();
    openJournal(dir, { ...OPENING, account: 'box', owner: { ...OWNER, venue: null, key: '' } }).close();
    expect(() => opened(dir).close()).not.toThrow();
  });
});

describe('what is kept', () => {
  test('recordings go, oldest first, when they take more than they may; this run, what may live and the ledger stay', () => {
    const dir = folders.fresh();
    const first = opened(dir, AT);
    first.record(big);
    first.intend([place('a-1-1'), place('a-1-2')], AT);
    first.ended('a-1-1', 'filled');
    first.flush(markOf('100', '77'));
    first.close();
    const size = recordingsIn(dir)[0]!.bytes;
    expect(size).toBeGreaterThan(100_000);
    for (let run = 1; run <= 5; run++) {
      const next = openJournal(dir, { ...OPENING, at: AT + run * 60_000, earlierBytesMax: 2.5 * size });
      next.record(big);
      next.flush();
      next.close();
      expect(recordingsIn(dir).at(-1)!.run).toBe(next.run);
      expect(recordingsIn(dir)).toHaveLength(Math.min(run + 1, 3));
    }
    expect(leftIn(dir)).toMatchObject({ orders: [{ id: 'a-1-2' }], marker: '77' });
  });

  test('runs go when there are RUNS_MAX newer ones, the oldest first', () => {
    const db = openDatabase(':memory:');
    const journal = journalIn(db, OPENING);
    db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${RUNS_MAX + 20})
      INSERT INTO runs SELECT i, '${ACCOUNT}', ${AT} + i, 0 FROM n`);
    const next = journal.next(AT + 60_000);
    const runs = (db.prepare('SELECT run FROM runs ORDER BY run').all() as { run: number }[]).map(({ run }) => run);
    const older = Array.from({ length: RUNS_MAX - 2 }, (_, i) => i + 23);
    expect(runs).toEqual([...older, journal.run, next.run]);
    db.close();
  });

  test('orders that ended go when there are a hundred thousand newer ones', () => {
    const db = openDatabase(':memory:');
    const journal = journalIn(db, OPENING);
    journal.intend([place('a-1-1')], AT);
    db.exec(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 110000)
      INSERT INTO intents SELECT 'a-1-' || i, '${ACCOUNT}', 'buy', 1000, 5, ${AT} + i, 'canceled', 0 FROM n`);
    journal.next(AT + 60_000);
    const count = (where: string) => db.prepare(`SELECT count(*) AS n FROM intents ${where}`).get();
    expect(count('')).toMatchObject({ n: 100_001 });
    expect(count('WHERE ending IS NULL')).toMatchObject({ n: 1 });
    db.close();
  });
});

test('a journal whose next run has taken over writes nothing, because it would put an older ledger back', () => {
  const dir = folders.fresh();
  const first = opened(dir, AT);
  first.flush(markOf('100', '77'));
  const next = first.next(AT + 60_000);
  next.flush(markOf('200', '78'));
  for (const write of [() => first.flush(markOf('100', '77')), () => first.intend([place('a-1-1')], AT)])
    expect(write).toThrow(`cannot write the journal of run ${first.run}: the next run has taken over`);
  next.close();
  expect(leftIn(dir)).toMatchObject({ orders: [], marker: '78' });
});

// Nothing that packs well.
const big = Array.from({ length: 4_000 }, (_, i) => createHash('sha256').update(String(i)).digest('base64')).join('');

test('the commit count never goes back: nonces of the earlier run of a process count on, and the marks of both exchanges stay apart', async () => {
  const dir = folders.fresh();
  const first = opened(dir);
  const commits = (): number =>
    (JSON.parse(readFileSync(join(dir, 'puntas.commits'), 'utf8')) as { readonly commits: number }).commits;
  const next = first.next(AT + 1);
  for (let n = 1; n <= 5; n++) next.intend([place(`a-2-${n}`)], AT + n);
  const before = commits();
  first.reserveNonces(7n);
  first.noncesElsewhere('there').reserveNonces(9n);
  expect(commits()).toBe(before + 2);
  next.intend([place('a-2-9')], AT + 9);
  expect(commits()).toBe(before + 3);
  next.close();
  expect(await nonceMarkOf(dir, new VirtualClock(AT))).toBe(7n);
  const again = opened(dir, AT + 60_000);
  expect([again.nonceMark, again.noncesElsewhere('there').nonceMark]).toEqual([7n, 9n]);
  expect(again.noncesElsewhere('another').nonceMark).toBe(0n);
  again.close();
});
