import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { amount, price } from '../../../src/core/index.ts';
import { SIDE, TapeWriter } from '../../../src/tape/index.ts';
import { RULES, START } from '../../tape/storedRows.ts';
import { Bench, puntas } from '../program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

const dir = bench.path('tape');
const day = join(dir, 'book=btc_mxn', 'day=2026-11-21', 'rows.tape');

beforeAll(() => {
  const tape = new TapeWriter({ dir, rules: RULES, source: 'a test', blockRows: 100 });
  for (let i = 0; i < 1_000; i++) tape.level(START + i, START + i + 3, SIDE.buy, price(100 + (i % 7)), amount(i));
  tape.close();
});

describe('puntas tape', () => {
  test('says what a stored tape holds, in lines and as JSON', async () => {
    const { code, stdout } = await puntas(['tape', dir]).ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^btc_mxn from a test: 1 day\(s\), 1000 rows, /);
    expect(stdout).toMatch(/\n {2}2026-11-21: 1000 rows, /);
    const json = await puntas(['tape', dir, '--json']).ended;
    expect(JSON.parse(json.stdout)).toMatchObject({ book: 'btc_mxn', rows: 1000, gaps: [], dirt: [] });
    expect(stdout).toContain((JSON.parse(json.stdout) as { hash: string }).hash);
  });

  test('refuses a damaged one by its file, byte and rows with exit code 2, and reads it without the damage when told to', async () => {
    const whole = readFileSync(day);
    const damaged = Buffer.from(whole);
    damaged[Math.floor(whole.length / 2)]! ^= 1;
    writeFileSync(day, damaged);
    try {
      const refused = await puntas(['tape', dir]).ended;
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(/rows\.tape.* byte \d+.* --skip-damaged leaves out/);
      expect(refused.stderr.trimEnd().split('\n')).toHaveLength(1);
      const skipped = await puntas(['tape', dir, '--skip-damaged']).ended;
      expect(skipped.code).toBe(0);
      expect(skipped.stdout).toMatch(/gap of .* a damaged block\n/);
    } finally {
      writeFileSync(day, whole);
    }
  });
});

describe('puntas export', () => {
  test('writes the rows of a time, and refuses an ending that it does not know', async () => {
    const out = bench.path('rows.csv');
    const args = ['export', '--tape', dir, '--to', '2026-11-21T00:00:00.099Z', '--out'];
    const { code, stdout } = await puntas([...args, out]).ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${out}: 100 rows of btc_mxn\n` });
    expect(readFileSync(out, 'utf8').split('\n')[100]).toBe(
      '2026-11-21T00:00:00.099000Z,2026-11-21T00:00:00.102000Z,level,buy,1010,0.00000099,',
    );
    const refused = await puntas([...args, bench.path('rows.txt')]).ended;
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/rows\.txt: expected a name that ends in \.parquet or \.csv/);
  });
});
