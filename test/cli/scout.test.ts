/** `puntas scout` as a user runs it: on the exchange in the box, on recordings, and with what is wrong. */
import { afterAll, describe, expect, test } from 'vitest';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FLOW_PROFILES } from '../../src/sandbox/index.ts';
import { TapeWriter } from '../../src/tape/index.ts';
import { plantedMarket } from '../backtest/profile/plantedMarket.ts';
import type { Scouting } from '../../backtest/index.ts';
import { Bench, complaints, printed, puntas, ran, ROOT } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

/** An hour of a book in which quoting pays, as a stored tape. */
function paying(): string {
  const { columns, rules } = plantedMarket(7, 1, {
    ...{ perMinute: 6, decayPerBps: 0.1, move: 1, moveOfReach: 0.2, volatilityBps: 40 },
  });
  const dir = bench.path('paying');
  const writer = new TapeWriter({ dir, rules, source: 'planted', depth: 1 });
  writer.append(columns);
  writer.close();
  return dir;
}

describe('puntas scout', () => {
  test('writes page, numbers and a configuration for the book that pays, which puntas check takes', async () => {
    const tape = paying();
    const [page, yaml] = [bench.path('page.html'), bench.path('best.yaml')];
    const flags = ['--tape', tape, '--fees', '10', '--out', page, '--yaml', yaml];
    const { code, stdout } = await ran(['scout', ...flags]);
    expect(code).toBe(0);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(Math.max(80, page.length + 20));
    expect(stdout).toMatch(/^Quoting is profitable in 1 of 1 book\. Best: /);
    expect(stdout).toContain(`configuration: ${yaml}`);
    expect(readFileSync(page, 'utf8')).toContain('Where quoting pays');
    const scouting = JSON.parse(readFileSync(bench.path('page.json'), 'utf8')) as Scouting;
    expect(scouting.books[0]?.verdict.quote).toBe(true);
    const checked = await ran(['check', '-c', yaml]);
    expect(checked.code, checked.stderr).toBe(0);
    expect(checked.stdout).toMatch(/bid [\d.]+ at \d+/);
    expect(checked.stdout).toMatch(/ask [\d.]+ at \d+/);
  });

  test('measures at backtest.fees, which puntas check then charges, or says that only a backtest uses them', async () => {
    const [own, yaml] = [bench.path('own.yaml'), bench.path('own-best.yaml')];
    const sandbox = readFileSync(join(ROOT, 'config/sandbox.yaml'), 'utf8');
    const scout = async (maker: string) => {
      writeFileSync(own, `${sandbox}\nbacktest: { fees: { maker: '${maker}', taker: '0.0004' } }\n`);
      const { code, stdout } = await ran(['scout', '-c', own, '--tape', bench.path('paying'), '--yaml', yaml]);
      return { code, said: stdout.replaceAll('\n', ' ').split('configuration: ')[1] };
    };
    expect(await scout('0.00012')).toEqual({ code: 0, said: expect.stringMatching(/own-best\.yaml ?$/) as string });
    const checked = await ran(['check', '-c', yaml]);
    expect([checked.code, checked.stderr, checked.stdout]).toEqual([
      0,
      expect.anything(),
      expect.stringContaining('maker fee 0.012'),
    ]);
    const only = /Only (?:npx )?puntas backtest uses the fees in backtest\.fees/;
    expect(await scout('-0.0002')).toEqual({ code: 0, said: expect.stringMatching(only) as string });
    expect(readFileSync(yaml, 'utf8')).toMatch(only);
  });

  test('ends with 0, one sentence and no configuration where nothing pays; its keys are those of the page on JSON', async () => {
    const yaml = bench.path('none.yaml');
    const ended = await ran(['scout', '--tape', bench.path('paying'), '--fees', '90', '--yaml', yaml]);
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringMatching(/^Quoting is not profitable in any book: /)]);
    expect(ended.stdout.replaceAll('\n', ' ')).toContain(
      `${yaml} was not written, because quoting is not profitable in any book`,
    );
    expect(() => readFileSync(yaml)).toThrow(/ENOENT/);
    const json = printed(await ran(['scout', '--tape', bench.path('paying'), '--fees', '90', '--json'])) as Scouting;
    const [, section = ''] = readFileSync(join(ROOT, 'docs/json.md'), 'utf8').split('## `puntas scout --json`');
    const told = section.split('\n## ')[0] ?? '';
    const keys = [...Object.keys(json), ...Object.keys(json.books[0]!), ...Object.keys(json.books[0]!.curve[0]!)];
    for (const key of keys) expect(told).toContain(`\`${key}\``);
  });

  test('stopped early tells what it saw of the ten books in the box', async () => {
    const program = puntas(['scout', '--for', '1h', '--speed', '20', '--seed', '1']);
    await program.sees(/watching 10 books: \d+%/);
    program.signal('SIGINT');
    const ended = await program.ended;
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^(?:Quoting is not known to be profitable in any book:|There was no data, so) /);
    // In the table, or left out with a reason: the first moments of a book may be without a trade.
    for (const book of Object.keys(FLOW_PROFILES)) expect(ended.stdout).toContain(book);
    expect(complaints(ended)).toEqual([]);
  });

  test.each([
    [['--for', '1s', '--books', 'nope_mxn'], /^nope_mxn: not listed by the exchange; expected one of btc_mxn, .*$/],
    [['--fees', 'cheap'], /expected config, best, entry, or a maker fee in bps like 4 /],
    [['--out', 'page.txt'], /^--out: expected a name that ends in \.html, found "page\.txt"$/],
    [['--tape', '/nowhere'], /^\/nowhere: no such file or folder/],
  ])('with %s is one clear line', async (flags, line) => {
    const ended = await ran(['scout', ...flags]);
    expect(ended.code).toBe(2);
    expect(complaints(ended)).toEqual([expect.stringMatching(line)]);
  });
});
