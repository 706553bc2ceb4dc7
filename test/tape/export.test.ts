import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { amount, instrumentOf, price, textOfAmount, textOfPrice } from '../../src/core/index.ts';
import { exportTape, KIND, openStoredTape, SIDE, TapeWriter } from '../../src/tape/index.ts';
import { RULES, START } from './storedRows.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-export-'));
let query: (sql: string) => Promise<readonly (readonly unknown[])[]> = () => Promise.reject(new Error('not open'));
let close = (): void => undefined;

beforeAll(async () => {
  const database = await DuckDBInstance.create(':memory:');
  const connection = await database.connect();
  query = async sql => (await connection.runAndReadAll(sql)).getRowsJson();
  close = () => {
    connection.closeSync();
    database.closeSync();
  };
});
afterAll(() => {
  close();
  rmSync(dir, { recursive: true, force: true });
});

const quiet = (): void => undefined;
const instrument = instrumentOf({ ...RULES, tickSize: '0.05' });

/** Every kind of row, a second market with a finer tick behind the first. */
function written(): string {
  const folder = mkdtempSync(join(dir, 'tape-'));
  const tape = new TapeWriter({ dir: folder, rules: RULES, source: 'a test' });
  tape.clear(START, START);
  tape.level(START + 0.001, START + 5.25, SIDE.sell, price(12), amount(345));
  tape.trade(START + 1, START - 2, SIDE.unknown, price(11), amount(100_000_000), 9_007_199_254_740_991);
  tape.rulesChanged({ ...RULES, tickSize: '0.05' }, START + 2);
  tape.order(KIND.add, START + 2, START + 2, SIDE.buy, price(-3), amount(7), 5);
  tape.close();
  return folder;
}

const EXPECTED = [
  ['2026-11-21T00:00:00.000000Z', '2026-11-21T00:00:00.000000Z', 'clear', '', '', '', ''],
  ['2026-11-21T00:00:00.000001Z', '2026-11-21T00:00:00.005250Z', 'level', 'sell', '120', '0.00000345', ''],
  ['2026-11-21T00:00:00.001000Z', '2026-11-20T23:59:59.998000Z', 'trade', '', '110', '1.00000000', '9007199254740991'],
  ['2026-11-21T00:00:00.002000Z', '2026-11-21T00:00:00.002000Z', 'add', 'buy', '-0.15', '0.00000007', '5'],
];

describe('an exported tape', () => {
  test('as CSV has every row with exact decimals, and empty where there is nothing', async () => {
    const file = join(dir, 'all.csv');
    await exportTape(openStoredTape(written()), file, quiet);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines[0]).toBe('exchange_time,local_time,kind,side,price,amount,id');
    expect(lines.slice(1).map(line => line.split(','))).toEqual(EXPECTED);
  });

  test('as Parquet is read by DuckDB with the same rows, times as timestamps and numbers as decimals', async () => {
    const file = join(dir, 'all.parquet');
    await exportTape(openStoredTape(written()), file, quiet);
    const rows = await query(
      `select strftime(exchange_time, '%Y-%m-%dT%H:%M:%S.%fZ'), strftime(local_time, '%Y-%m-%dT%H:%M:%S.%fZ'),
       kind, side, price, amount, id from '${file}'`,
    );
    const withDecimals = EXPECTED.map(([at, local, kind, side, cost, size, id]) => [
      at,
      local,
      kind,
      side || null,
      cost ? Number(cost).toFixed(2) : null,
      size || null,
      id || null,
    ]);
    expect(rows).toEqual(withDecimals);
    expect(
      await query(`select typeof(price), typeof(amount), typeof(id), typeof(exchange_time) from '${file}' limit 1`),
    ).toEqual([['DECIMAL(18,2)', 'DECIMAL(18,8)', 'BIGINT', 'TIMESTAMP']]);
  });

  test('as Parquet has the same sums for any rows', async () => {
    const level = fc.record({
      ticks: fc.nat(10_000_000),
      lots: fc.nat(1_000_000_000),
      sell: fc.boolean(),
      step: fc.nat(500),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(level, { minLength: 1, maxLength: 300 }), async levels => {
        const folder = mkdtempSync(join(dir, 'tape-'));
        const tape = new TapeWriter({
          dir: folder,
          rules: { ...RULES, tickSize: '0.05' },
          source: 'a test',
          blockRows: 64,
        });
        let at = START;
        for (const { ticks, lots, sell, step } of levels) {
          at += step;
          tape.level(at, at, sell ? SIDE.sell : SIDE.buy, price(ticks), amount(lots));
        }
        tape.close();
        const file = join(folder, 'out.parquet');
        await exportTape(openStoredTape(folder), file, quiet);
        const ticks = levels.reduce((sum, one) => sum + one.ticks, 0);
        const lots = levels.reduce((sum, one) => sum + one.lots, 0);
        expect(await query(`select count(*), sum(price), sum(amount) from '${file}'`)).toEqual([
          [String(levels.length), textOfPrice(instrument, price(ticks)), textOfAmount(instrument, amount(lots))],
        ]);
      }),
      { numRuns: 8 },
    );
  });

  test('says in the file itself which book it is, its rules and its gaps', async () => {
    const folder = written();
    const again = new TapeWriter({ dir: folder, rules: { ...RULES, tickSize: '0.05' }, source: 'a test' });
    again.gap({ from: START, to: START + 9, why: 'no stream' });
    again.close();
    const file = join(dir, 'said.parquet');
    await exportTape(openStoredTape(folder), file, quiet);
    const said = await query(`select decode(key), decode(value) from parquet_kv_metadata('${file}')`);
    expect(said).toContainEqual(['puntas.book', 'btc_mxn']);
    expect(said).toContainEqual(['puntas.gaps', JSON.stringify([{ from: START, to: START + 9, why: 'no stream' }])]);
  });

  test('has its name only when it is whole, and another ending is refused', async () => {
    const folder = written();
    const out = mkdtempSync(join(dir, 'out-'));
    for (const name of ['tape.csv', 'tape.parquet']) {
      const stop = (): never => {
        throw new Error('interrupted');
      };
      await expect(exportTape(openStoredTape(folder), join(out, name), stop)).rejects.toThrow('interrupted');
      expect(existsSync(join(out, name))).toBe(false);
    }
    expect(readdirSync(out)).toEqual([]);
    await expect(exportTape(openStoredTape(folder), join(out, 'tape.json'), quiet)).rejects.toThrow(
      /tape\.json: expected a file name that ends in \.parquet or \.csv/,
    );
  });

  test('refuses a number that a Parquet decimal cannot hold, by its units', async () => {
    const folder = mkdtempSync(join(dir, 'tape-'));
    const tape = new TapeWriter({ dir: folder, rules: { ...RULES, tickSize: '1000' }, source: 'a test' });
    tape.level(START, START, SIDE.buy, price(Number.MAX_SAFE_INTEGER), amount(1));
    tape.close();
    await expect(exportTape(openStoredTape(folder), join(dir, 'far.parquet'), quiet)).rejects.toThrow(
      /amount of 9007199254740991 ticks or lots has more than 18 digits/,
    );
  });
});
