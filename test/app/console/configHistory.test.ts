/** Changes of the configuration, from recordings and from a log that any version, or anyone, may have written. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  changesOfBook,
  mergedChanges,
  notedChangesIn,
  RecordedChanges,
  shownChange,
} from '../../../src/app/console/history/configHistory.ts';
import { asTrialOrder, booksOf, configOfBooks, type Config } from '../../../src/config.ts';
import { readConfig, shippedConfig } from '../../../src/wiring/configFile.ts';
import { runsOf } from '../../many.ts';

let dir = '';
beforeAll(() => (dir = mkdtempSync(join(tmpdir(), 'puntas-changes-'))));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function noted(lines: readonly unknown[]) {
  writeFileSync(join(dir, 'reloads.jsonl'), lines.map(line => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 });
  return notedChangesIn(dir)();
}

const changes = [{ key: 'strategy.halfSpreadBps', from: '16', to: '13', takesEffect: 'reload' }];

test('an entry of an older version has its run from its text, and neither digest nor profit', () => {
  const lines = ['strategy.halfSpreadBps: 16 -> 13', 'applied: run 12 resumed with the new configuration after 1.4 s'];
  expect(noted([{ at: 7, by: 'ann', reason: 'why', end: 'taken', lines, changes }])).toEqual([
    {
      ...{ at: 7, by: 'ann', reason: 'why', run: 12, text: 'strategy.halfSpreadBps: 16 -> 13', digest: null },
      profit: null,
    },
  ]);
});

test('a refused reload is no change, and an address is not shown', () => {
  const feed = { key: 'reference.feeds', from: null, to: '"https://a.example/key"' };
  const entry = { at: 7, by: 'ann', reason: '', lines: [] };
  expect(noted([{ ...entry, end: 'kept', changes }])).toEqual([]);
  const [shown] = noted([{ ...entry, end: 'started', run: 3, changes: [feed] }]);
  expect(shown).toMatchObject({ text: 'reference.feeds', run: 3, reason: null });
});

test('a change that trading does not read is no change, neither noted nor recorded', () => {
  const unread = ['log.level', 'console.totp', 'webhooks'].map((key, i) => ({
    ...{ key, from: null, to: '"debug"', takesEffect: i === 0 ? 'live' : 'elsewhere' },
  }));
  const entry = { at: 7, by: 'ann', reason: '', end: 'taken', lines: [], run: null };
  expect(noted([{ ...entry, changes: unread }])).toEqual([]);
  expect(noted([{ ...entry, changes: [...unread, ...changes] }]).map(({ text }) => text)).toEqual([
    'strategy.halfSpreadBps: 16 -> 13',
  ]);
  const config = readConfig(shippedConfig('sandbox'));
  const recorded = new RecordedChanges();
  for (const [run, level] of ['info', 'debug', 'info'].entries())
    recorded.add({ run, startedAt: run, setup: JSON.stringify({ ...config, log: { level } }), format: 2 });
  expect(recorded.of()).toEqual([]);
});

test('any line is a bounded change or none', () => {
  const value = fc.oneof(fc.jsonValue(), fc.string({ maxLength: 600 }), fc.constant(changes), fc.constant('taken'));
  const keys = ['at', 'by', 'reason', 'end', 'lines', 'changes', 'run', 'time', 'digest', 'profit'] as const;
  const entry = fc.record(Object.fromEntries(keys.map(key => [key, value])), { requiredKeys: [] });
  fc.assert(
    fc.property(fc.array(fc.oneof(entry, fc.jsonValue()), { maxLength: 6 }), entries => {
      for (const { text, by, reason, digest, at } of noted([...entries, { at: 1, end: 'taken', changes }])) {
        expect(text.length + (by ?? '').length + (reason ?? '').length).toBeLessThanOrEqual(580);
        expect(digest ?? 'a'.repeat(64)).toMatch(/^[0-9a-f]{64}$/);
        expect(Number.isFinite(at)).toBe(true);
      }
    }),
  );
});

test('a folder in place of the log is no change, and no error', () => {
  const other = mkdtempSync(join(dir, 'other-'));
  mkdirSync(join(other, 'reloads.jsonl'));
  expect(notedChangesIn(other)()).toEqual([]);
  expect(notedChangesIn(join(dir, 'absent'))()).toEqual([]);
});

test('runs that only continue are no change; a changed one is, once, with its note', () => {
  const config = readConfig(shippedConfig('sandbox'));
  const setup = (halfSpreadBps: number) =>
    JSON.stringify({ ...config, strategy: { ...config.strategy, halfSpreadBps } });
  const recorded = new RecordedChanges();
  for (const [run, bps] of [16, 16, 13, 13, 16].entries())
    recorded.add({ run, startedAt: run * 10, setup: setup(bps), format: 2 });
  recorded.add({ run: 5, startedAt: 50, setup: 'not a configuration', format: 2 });
  expect(recorded.of().map(({ run, text }) => [run, text])).toEqual([
    [2, 'strategy.halfSpreadBps: 16 -> 13'],
    [4, 'strategy.halfSpreadBps: 13 -> 16'],
  ]);
  const notes = noted([
    { at: 3, by: 'ann', reason: 'before the recordings', end: 'taken', run: -4, lines: [], changes },
    { at: 21, by: 'ann', reason: 'why', end: 'taken', run: 2, digest: 'b'.repeat(64), lines: [], changes },
  ]);
  expect(mergedChanges(recorded.of(), notes).map(({ at, reason }) => [at, reason])).toEqual([
    [3, 'before the recordings'],
    [20, 'why'],
    [40, null],
  ]);
});

const withSpread = (config: Config, halfSpreadBps: number): Config =>
  ({ ...config, strategy: { ...config.strategy, halfSpreadBps } }) as Config;

test('each book has its own changes between the runs that are read, in whichever place and company it is quoted', () => {
  const configs = booksOf(readConfig(shippedConfig('desk')));
  const names = configs.map(({ book }) => book);
  const oneRun = fc.record({
    books: fc.shuffledSubarray([...names], { minLength: 1 }),
    bps: fc.array(fc.integer({ min: 11, max: 13 }), { minLength: 3, maxLength: 3 }),
    kind: fc.constantFrom('own', 'own', 'own', 'trial', 'unreadable'),
  });
  fc.assert(
    fc.property(fc.array(oneRun, { minLength: 1, maxLength: 12, size: 'max' }), runs => {
      const recorded = new RecordedChanges();
      const expected = new Map(names.map(name => [name, [] as [run: number, text: string][]]));
      // Half spreads by book in the last run that counts.
      let before = new Map<string, number>();
      for (const [run, { books, bps, kind }] of runs.entries()) {
        const now = new Map(books.map(book => [book, bps[names.indexOf(book)]!]));
        const config = configOfBooks(books.map(book => withSpread(configs[names.indexOf(book)]!, now.get(book)!)));
        const setup = kind === 'trial' ? asTrialOrder(config, false) : config;
        recorded.add({
          ...{ run, startedAt: 100 + run, format: 2 },
          setup: kind === 'unreadable' ? 'not a configuration' : JSON.stringify(setup),
        });
        if (kind !== 'own') continue;
        for (const [book, to] of now) {
          const from = before.get(book);
          const found = expected.get(book)!;
          // One book in place of another one is a change too.
          if (from === undefined && before.size === 1 && now.size === 1) found.push([run, 'book']);
          else if (from !== undefined && from !== to) found.push([run, `strategy.halfSpreadBps: ${from} -> ${to}`]);
        }
        before = now;
      }
      const seen = (symbol?: string) =>
        recorded.of(symbol).map(({ run, at, text }) => {
          expect(at).toBe(100 + run!);
          return [run, text.split(', ').includes('book') ? 'book' : text];
        });
      for (const [name, changed] of expected) expect(seen(name)).toEqual(changed);
      const [first = ''] = before.keys();
      expect(seen()).toEqual(expected.get(first) ?? []);
    }),
    runsOf(300, 60),
  );
});

test('of more than 200 changes the newest are kept, recorded and noted ones together', () => {
  const recorded = Array.from({ length: 230 }, (_, run) => ({
    ...{ at: 10 * run, text: 'a change', run, digest: null, by: null, reason: null },
  }));
  const notes = noted([225, 229, 230, 231].map(run => ({ at: 10 * run + 1, end: 'taken', run, lines: [], changes })));
  const all = Array.from({ length: 200 }, (_, i) => 32 + i);
  expect(mergedChanges(recorded, notes).map(({ run }) => run)).toEqual(all);
});

test.each<[keys: readonly string[], books: readonly string[] | undefined]>([
  [['strategy.halfSpreadBps'], undefined],
  [['books.eth_mxn.strategy.halfSpreadBps'], ['eth_mxn']],
  [
    ['books.eth_mxn.limits.ordersMax', 'books.btc_usd', 'books.eth_mxn.strategy.levels'],
    ['eth_mxn', 'btc_usd'],
  ],
  [['books.eth_mxn.strategy.levels', 'timing.staleAfterMs'], undefined],
])('a noted change of %j is one of the books %j, or of all without them', (keys, books) => {
  const changed = keys.map(key => ({ key, from: '1', to: '2' }));
  const found = noted([{ at: 7, end: 'taken', run: 3, lines: [], changes: changed }]);
  expect(found.map(each => each.books)).toEqual([books]);
  for (const symbol of ['btc_mxn', 'eth_mxn', 'btc_usd'])
    expect(changesOfBook(found, symbol)).toEqual(books === undefined || books.includes(symbol) ? found : []);
  expect(changesOfBook(found, undefined)).toEqual(found);
});

test('a noted change has its own time, name and reason, and the recorded text; a page gets eight digits of its digest', () => {
  const digest = '0123456789'.repeat(6).concat('abcd');
  const long = 'x'.repeat(600);
  const key = 'books.eth_mxn.strategy.halfSpreadBps';
  const entry = { at: 9, time: 7, end: 'taken', run: 2, digest, by: long, reason: long, lines: [] };
  const [note] = noted([{ ...entry, changes: [{ key, from: null, to: '13' }] }]);
  expect(note).toMatchObject({ at: 7, run: 2, text: `${key}: not set -> 13`, digest });
  expect([note!.by!.length, note!.reason!.length]).toEqual([80, 200]);
  const recorded = { at: 5, text: 'as recorded', run: 2, digest: null, by: null, reason: null };
  const [merged] = mergedChanges([recorded], [note!]);
  expect(merged).toEqual({ ...note, at: 5, text: 'as recorded' });
  expect(shownChange(merged!)).toEqual({
    ...{ at: 5, text: 'as recorded', run: 2, digest: '01234567' },
    ...{ by: note!.by, reason: note!.reason },
  });
});
