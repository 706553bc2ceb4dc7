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
    expect(stdout).toMatch(/^tape of btc_mxn, source a test: 1 day, 1000 rows, /);
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
      expect(refused.stderr).toMatch(/rows\.tape.* byte \d+.* use --skip-damaged to turn damaged blocks into gaps/);
      expect(refused.stderr.trimEnd().split('\n')).toHaveLength(1);
      const skipped = await puntas(['tape', dir, '--skip-damaged']).ended;
      expect(skipped.code).toBe(0);
      expect(skipped.stdout).toMatch(/gap of .* a damaged block\n/);
    } finally {
      writeFileSync(day, whole);
    }
  });
});

describe('a tape of hardly anything', () => {
  const of = (name: string, count: number): string => {
    const small = bench.path(`small-${name}`);
    const tape = new TapeWriter({ dir: small, rules: RULES, source: 'a test' });
    if (count === 0) tape.gap({ from: START, to: START + 1_000, why: 'nothing came' });
    for (let i = 0; i < count; i++) {
      const at = START + 40 * Math.floor(i / 4);
      if (i % 4 === 0) tape.clear(at, at);
      else if (i % 4 === 3) tape.trade(at, at, SIDE.buy, price(102 + (i % 3)), amount(1), i);
      else tape.level(at, at, i % 4 === 1 ? SIDE.buy : SIDE.sell, price(99 + (i % 4)), amount(5));
    }
    tape.close();
    return small;
  };

  test('without a row is refused by that name', async () => {
    const { code, stderr } = await puntas(['tape', of('none', 0)]).ended;
    expect([code, stderr]).toEqual([2, expect.stringMatching(/book=btc_mxn: no rows on the recorded days/)]);
  });

  test.each([
    ['one row', 1],
    ['one book and one trade', 4],
    ['two moments', 8],
    ['a hundred moments', 400],
  ])('of %s is told, measured and replayed without a number that is none', async (name, count) => {
    const small = of(name, count);
    const page = bench.path(`${name}.html`);
    const commands = [
      ['tape', small],
      ['tape', small, '--json'],
      ['calibrate', '--tape', small],
      ['backtest', '--tape', small, '--models', 'expected', '--out', page],
    ];
    const ends = await Promise.all(commands.map(args => puntas(args).ended));
    for (const { code, stdout, stderr } of ends) {
      // A tape of one row has no book to replay.
      if (code !== 0)
        expect([count, code, stderr.trimEnd().split('\n')]).toEqual([
          1,
          2,
          [expect.stringMatching(/the recording contains no order book/)],
        ]);
      expect(stdout + stderr).not.toMatch(/\bNaN\b|Infinity|undefined|Cannot read/);
    }
    if (count > 1)
      expect(readFileSync(page, 'utf8').replace(/<script[^]*?<\/script>/g, '')).not.toMatch(
        /\bNaN\b|Infinity|undefined/,
      );
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
    expect(refused.stderr).toMatch(/rows\.txt: expected a file name that ends in \.parquet or \.csv/);
  });
});
