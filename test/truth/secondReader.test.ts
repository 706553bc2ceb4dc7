/** The importer and the second reader tell the same fate of each order. `npm run queue:truth -- --check` compares whole logs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { itOnRecording, withFolder } from '../tape/folder.ts';
import { compareReadings, hasPython, ORDER_LOGS, readByImporter, readByPython } from './logs.ts';
import { log2015, log2026 } from './madeLogs.ts';

const isThere = hasPython();
const where = isThere ? '' : ' (skipped: no python3)';

type Files = Readonly<Record<string, string>>;
const comparedIn = (files: Files) =>
  withFolder(files, async dir => compareReadings(await readByImporter(dir), readByPython(dir)));
const made2015: Files = { 'bitstamp_btcusd_2015-05-01.log.gz': log2015() };

describe.skipIf(!isThere)(`two readers of a log of single orders${where}`, () => {
  test('tell the same fate of each order of a log whose trades name no orders', async () => {
    expect(await comparedIn(made2015)).toEqual({ equal: 5, filled: 5, difference: null });
  });

  test('tell the same fate of each order of a log with a stale order', async () => {
    expect(await comparedIn(log2026())).toEqual({ equal: 8, filled: 3, difference: null });
  });

  test('match each trade of both logs with two orders', async () => {
    for (const files of [made2015, log2026()])
      await withFolder(files, dir => {
        expect(readByPython(dir).unmatched).toEqual([]);
        return Promise.resolve();
      });
  });

  test('differ where one loses an order, a fill or a time, and the first of these is named', async () => {
    await withFolder(made2015, async dir => {
      const own = await readByImporter(dir);
      const other = readByPython(dir);
      const [first, ...later] = own.orders;
      const differs = (orders: typeof own.orders) => compareReadings({ ...own, orders }, other).difference;
      expect(differs(later)).toMatch(/^only the second reader has order 1: \d+ sell 200000000 lots at tick 10100/);
      expect(differs([{ ...first!, filled: first!.filled - 1 }, ...later])).toMatch(/filled 20{8}.*; 1 more$/);
      expect(differs([{ ...first!, filledAt: first!.filledAt + 1 }, ...later])).not.toBeNull();
      expect(differs([...own.orders, first!])).toMatch(/^only the importer has an order: /);
    });
  });

  /** Until a second without a match, from which on nothing is compared. */
  const cuts = [
    { log: ORDER_LOGS[0], keep: (at: number) => at < 1_430_438_400_000 + 900_000, filled: 20 },
    { log: ORDER_LOGS[1], keep: (at: number) => at < 1_777_689_380_521 + 60_000, filled: 15 },
  ];
  for (const { log, keep, filled } of cuts)
    itOnRecording(
      log.set,
      `tell the same fate of each order of the first minutes of the log of ${log.name}`,
      async dir => {
        const files: Record<string, string> = {};
        for (const name of log.name === '2015'
          ? ['bitstamp_btcusd_2015-05-01_0000-0200.log.gz']
          : ['orders.csv.gz', 'trades.csv.gz'])
          files[name] = gunzipSync(readFileSync(join(dir, name)))
            .toString()
            .split('\n')
            .filter((line, n) =>
              keep(Number(/^(\d{13}) |^\d+,\d+,(\d+)/.exec(line)?.slice(1).find(Boolean) ?? (n === 0 ? 0 : Infinity))),
            )
            .concat('')
            .join('\n');
        const found = await comparedIn(files);
        expect(found).toMatchObject({ difference: null });
        expect(found.filled).toBeGreaterThan(filled);
      },
    );
});
