/** Parquet: floats as the shortest decimals that they stand for, every packing and encoding as DuckDB reads it, and small files that ask for much. */
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { rowBatches } from '../../src/tape/import/mapping/tables.ts';
import { textOfFloat32 } from '../../src/tape/import/read/parquet.ts';
import { openTape } from '../../src/tape/index.ts';
import { hostileParquet } from './hostileParquet.ts';
import { runsOf, testInMany } from '../many.ts';
import { between } from '../draws.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-parquet-'));
let query: (sql: string) => Promise<unknown> = () => Promise.reject(new Error('not open'));
let close = (): void => undefined;
beforeAll(async () => {
  const database = await DuckDBInstance.create(':memory:');
  const connection = await database.connect();
  query = sql => connection.run(sql);
  close = () => {
    connection.closeSync();
    database.closeSync();
  };
});
afterAll(() => {
  close();
  rmSync(dir, { recursive: true, force: true });
});

async function rowsOf(path: string, columns: readonly string[]): Promise<readonly (readonly string[] | null)[]> {
  const rows = [];
  for await (const batch of rowBatches(path, { columns, delimiter: ',', header: undefined }, () => undefined))
    rows.push(...batch);
  return rows;
}

describe('a float of 32 bits', () => {
  test('is the shortest decimal that stands for it: every price of up to six digits comes back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999 }), fc.integer({ min: 0, max: 5 }), (digits, decimals) => {
        const text = String(Number(`${digits}e-${decimals}`));
        expect(textOfFloat32(Math.fround(Number(text)))).toBe(text);
      }),
      runsOf(5_000, 1_000),
    );
  });

  test('is itself again, whatever it is', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), value => {
        expect(Math.fround(Number(textOfFloat32(value)))).toBe(value === 0 ? 0 : value);
      }),
      runsOf(5_000, 1_000),
    );
  });

  test('in a file is a price on its tick', async () => {
    const path = join(dir, 'floats.parquet');
    await query(
      `copy (select epoch_ms(1700000000000 + i) as ts, (102.13 + i / 100)::float as bid, (102.15 + i / 100)::float as ask from range(500) t(i)) to '${path}'`,
    );
    const mapping = `book: btc_mxn\ntick: 0.01\ntables:\n  - files: floats.parquet\n    kind: quotes\n    time: { column: ts, zone: Z }\n    bid: bid\n    ask: ask\n`;
    writeFileSync(join(dir, 'mapping.yaml'), mapping);
    const { columns } = await openTape(dir);
    expect([...columns.price.slice(0, 6)]).toEqual([0, 10_213, 10_215, 0, 10_214, 10_216]);
  });
});

describe('the cells are those that were written', () => {
  const CELLS = `select i as n, (1700000000000000 + i * 1001)::bigint as us, case when i % 7 = 0 then null else (i % 13) / 8 end as d,
    case when i % 5 = 0 then null when i % 3 = 0 then 'buy' else 'sell' end as side, i % 2 = 0 as flag, (i / 100)::float as f from range(9000) t(i)`;
  const COLUMNS = ['n', 'us', 'd', 'side', 'flag', 'f'];
  const expected = Array.from({ length: 9_000 }, (_, i) => [
    String(i),
    String(1_700_000_000_000_000 + i * 1001),
    i % 7 === 0 ? '' : String((i % 13) / 8),
    i % 5 === 0 ? '' : i % 3 === 0 ? 'buy' : 'sell',
    String(i % 2 === 0),
    textOfFloat32(Math.fround(i / 100)),
  ]);

  it.each(['uncompressed', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4_raw'])('packed by %s', async packing => {
    const path = join(dir, `${packing}.parquet`);
    await query(`copy (${CELLS}) to '${path}' (compression ${packing}, row_group_size 4000)`);
    expect(await rowsOf(path, COLUMNS)).toEqual(expected);
  });

  test('in the encodings of the second version', async () => {
    const path = join(dir, 'v2.parquet');
    await query(`copy (${CELLS}) to '${path}' (parquet_version v2, row_group_size 4000)`);
    expect(await rowsOf(path, COLUMNS)).toEqual(expected);
  });

  test('by the writer of puntas export', async () => {
    const path = join(dir, 'own.parquet');
    const of = (i: number) => expected.map(row => row[i]!);
    const file = parquetWriteBuffer({
      columnData: COLUMNS.map((name, i) => ({ name, data: of(i), type: 'STRING' as const })),
      rowGroupSize: 4_000,
    });
    writeFileSync(path, Buffer.from(file));
    expect(await rowsOf(path, COLUMNS)).toEqual(expected);
  });
});

/** The most that this process has held at once since it was set back, in MB. */
const peak = {
  reset: () => writeFileSync('/proc/self/clear_refs', '5'),
  mb: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / 1_000,
};

describe('a file that asks for much', () => {
  const COLUMNS = ['n', 'd', 'side'];
  let seeds: readonly Buffer[] = [];
  beforeAll(async () => {
    const made: Buffer[] = [];
    for (const options of [
      'compression zstd',
      'compression uncompressed',
      'parquet_version v2',
      'compression snappy',
    ]) {
      const path = join(dir, 'seed.parquet');
      await query(
        `copy (select i as n, (i % 3) / 4 as d, case when i % 2 = 0 then null else 'x' end as side from range(300) t(i)) to '${path}' (${options})`,
      );
      made.push(readFileSync(path));
    }
    seeds = made;
  });
  const said = (path: string, columns = COLUMNS): Promise<string> =>
    rowsOf(path, columns).then(
      rows => `${rows.length} rows`,
      (error: unknown) => (error as Error).message,
    );

  test.runIf(process.platform === 'linux')(
    'by any of its numbers holds at most 400 MB, and is read or refused in one line',
    async () => {
      const path = join(dir, 'hostile.parquet');
      let read = 0;
      peak.reset();
      const before = peak.mb();
      await fc.assert(
        fc.asyncProperty(hostileParquet, async bytes => {
          writeFileSync(path, bytes);
          const text = await said(path, ['c']);
          expect(text).toMatch(/^(?:\d+ rows|[^\n]+\/hostile\.parquet: [^\n]+)$/);
          expect(text).not.toMatch(/undefined|not a function|not iterable|Cannot read/);
          if (text === '300 rows') read++;
        }),
        runsOf(1_500, 500),
      );
      expect(peak.mb() - before).toBeLessThan(400);
      // Some have no number that is wrong.
      expect(read).toBeGreaterThan(0);
    },
  );

  test('by any bytes of it changed is read or refused in one line', async () => {
    const path = join(dir, 'changed.parquet');
    const edit = fc.tuple(between(0, 0.999_999), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.nat(3), fc.array(edit, { minLength: 1, maxLength: 4 }), async (seed, edits) => {
        const bytes = Buffer.from(seeds[seed]!);
        for (const [share, byte] of edits) bytes[Math.floor(share * bytes.length)] = byte;
        writeFileSync(path, bytes);
        expect(await said(path)).toMatch(/^(?:\d+ rows|[^\n]+\/changed\.parquet: [^\n]+)$/);
      }),
      // The second file has a column whose name the edit breaks into two lines.
      { numRuns: 300, examples: [[1, [[0.904_238_618_752_178_9, 10]]]] },
    );
  });

  test('by a run of 134 million values in a file of 165 bytes is refused', async () => {
    const path = join(dir, 'run.parquet');
    const rows = 1_200_000;
    const data = [...Array<string>(rows - 1).fill('x'), 'y'];
    const columnData = [{ name: 'side', data }];
    const options = { codec: 'UNCOMPRESSED' as const, rowGroupSize: rows, pageSize: 1e9, statistics: false };
    const file = Buffer.from(parquetWriteBuffer({ columnData, ...options }));
    expect(file.length).toBeLessThan(200);
    // The header of a run is twice its length, seven bits a byte.
    const header = (count: number) =>
      Buffer.from([0, 7, 14, 21].map((shift, i) => (((count * 2) >>> shift) & 127) | (i < 3 ? 128 : 0)));
    const at = file.indexOf(header(rows - 1));
    expect(at).toBeGreaterThan(0);
    header(134_217_727).copy(file, at);
    writeFileSync(path, file);
    expect(await said(path, ['side'])).toMatch(
      /run\.parquet: column side: a run has 134217727 values, but only 1200000 values remain$/,
    );
  });

  it.each([
    ['a negative length', [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xf8]],
    ['a negative length after a block', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xf0]],
    ['a length beyond its page', [0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff]],
  ])('by LZ4 blocks with %s is refused', async (_, lengths) => {
    const path = join(dir, 'lz4.parquet');
    const columnData = [{ name: 'side', data: ['x', 'y', 'z'] }];
    const compressors = { LZ4: () => Uint8Array.from([...lengths, ...Array<number>(12).fill(0)]) };
    writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData, codec: 'LZ4', compressors, statistics: false })));
    expect(await said(path, ['side'])).toMatch(/lz4\.parquet: column side: [^\n]+$/);
  });

  it.each<[string, readonly number[], RegExp]>([
    [
      'a footer that is longer than the file',
      [0xff, 0xff, 0xff, 0x7f],
      /a Parquet footer of 2147483647 bytes is too large; expected at most/,
    ],
  ])('by %s is refused', async (_, length, why) => {
    const path = join(dir, 'footer.parquet');
    const bytes = Buffer.from(seeds[0]!);
    Buffer.from(length).copy(bytes, bytes.length - 8);
    writeFileSync(path, bytes);
    expect(await said(path)).toMatch(why);
  });

  test('by a footer that is one list of two billion is refused before any of it is made', async () => {
    const path = join(dir, 'list.parquet');
    const footer = Buffer.from([0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07]);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    writeFileSync(path, Buffer.concat([Buffer.from('PAR1'), footer, length, Buffer.from('PAR1')]));
    expect(await said(path)).toMatch(/list\.parquet: not a Parquet file, or damaged: a list of 2147483647$/);
  });

  testInMany(
    'by a million rows of nothing is refused when the file is small, and its size is what decides',
    async () => {
      const path = join(dir, 'rows.parquet');
      await query(
        `copy (select 1 as n, 2 as d, 'x' as side from range(2000000)) to '${path}' (compression zstd, row_group_size 2000000)`,
      );
      expect(await said(path)).toMatch(
        /rows\.parquet: a row group of 2000000 rows and 3 columns is too large for a file of \d+ bytes/,
      );
      expect(await said(path, ['n'])).toBe('2000000 rows');
    },
  );

  test('in a column that is nested, or is not there, names those that there are', async () => {
    const path = join(dir, 'nested.parquet');
    await query(`copy (select [1, 2] as list, {a: 1} as pair, 3 as n) to '${path}'`);
    expect(await said(path, ['list'])).toMatch(/nested\.parquet: no column list; the file has n$/);
    expect(await said(path, ['n'])).toBe('1 rows');
  });
});
