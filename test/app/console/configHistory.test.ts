/** Changes of the configuration, from recordings and from a log that any version, or anyone, may have written. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mergedChanges, notedChangesIn, RecordedChanges } from '../../../src/app/console/history/configHistory.ts';
import { readConfig, shippedConfig } from '../../../src/wiring/configFile.ts';

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
