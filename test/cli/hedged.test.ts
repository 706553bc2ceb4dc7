/** `puntas scout` and `puntas calibrate` with a hedge on another exchange, as a user runs them on recordings. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { HedgedBook, Scouting } from '../../backtest/index.ts';
import { KIND, TapeWriter, type Tape } from '../../src/tape/index.ts';
import { readConfig } from '../../src/wiring/configFile.ts';
import { independentPair, PAYING, plantedPair } from '../backtest/hedged/pairedMarkets.ts';
import { Bench, complaints, printed, ran } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

function stored(name: string, { columns, rules }: Tape): string {
  const dir = bench.path(name);
  const writer = new TapeWriter({ dir, rules, source: name, depth: 1 });
  writer.append(columns);
  writer.close();
  return dir;
}

/** Times of the planted markets count from 0. */
const START = Date.UTC(2026, 0, 1);

/** Last prices of two exchanges in one folder, with a mapping file for each. */
function folderOfTwo(): string {
  const dir = bench.path('two');
  mkdirSync(dir);
  for (const [name, tape] of Object.entries(independentPair(4, 2))) {
    const { at, price, kind, length } = tape.columns;
    const rows = ['date,last'];
    for (let i = 0; i < length; i++)
      if (kind[i] === KIND.trade)
        rows.push(`${new Date(START + at[i]!).toISOString()},${(price[i]! / 100).toFixed(2)}`);
    writeFileSync(join(dir, `${name}.csv`), rows.join('\n'));
    writeFileSync(
      join(dir, `${name}.mapping.yaml`),
      `book: btc_mxn\ntick: 0.01\ntables:\n  - files: ${name}.csv\n    kind: trades\n    time: date\n    price: last\n`,
    );
  }
  return dir;
}

const { quoted, hedge } = plantedPair(11, 3, PAYING);
const [here, there] = [stored('here', quoted), stored('there', hedge)];

describe('with --hedge-tape', () => {
  test('scout says where to quote around the other price, and draws value and basis', async () => {
    const page = bench.path('page.html');
    const flags = ['--tape', here, '--hedge-tape', there, '--fees', '1', '--hedge-fee', '3', '--out', page];
    const { code, stdout, stderr } = await ran(['scout', ...flags]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.replaceAll('\n', ' ')).toMatch(
      /Quote here btc_mxn [\d.]+ bps from the price of there btc_mxn and hedge there: at fees of 1\.0 \+ 3\.0 bps and latencies of 25 \+ 100 ms, a fill earns [\d.]+ bps\./,
    );
    expect(stdout).toContain('leads by 2 s');
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(Math.max(80, page.length + 20));
    const html = readFileSync(page, 'utf8');
    for (const part of ['Quotes hedged on another exchange', 'hedged-distance-0', 'hedged-basis-0'])
      expect(html).toContain(part);
    expect(/NaN|undefined|Infinity/.test(html.split('id="plots"')[1]!.split('</script>')[0]!)).toBe(false);
    const { hedged } = JSON.parse(readFileSync(bench.path('page.json'), 'utf8')) as Scouting;
    const [book] = hedged!;
    expect([book!.verdict.quote, book!.verdict.feeBps, book!.isPriceAlone]).toEqual([true, 4, false]);
    expect(JSON.stringify(hedged)).not.toContain('null,null,null');
  });

  test('calibrate adds the verdict as comments, and the numbers to its JSON', async () => {
    const flags = [
      '--tape',
      here,
      '--hedge-tape',
      there,
      '--fees',
      '1,30',
      '--hedge-fee',
      '3',
      '--hedge-latency-ms',
      '50',
    ];
    const { code, stdout } = await ran(['calibrate', ...flags]);
    expect(code).toBe(0);
    const comments = stdout.split('\n').filter(line => line.startsWith('#'));
    expect(comments.join(' ').replaceAll(' # ', ' ')).toContain('and latencies of 25 + 50 ms, a fill earns');
    for (const line of comments) expect(line.length).toBeLessThanOrEqual(80);
    const json = printed(await ran(['calibrate', ...flags, '--json'])) as { readonly hedged: HedgedBook };
    const verdicts = new Map(json.hedged.byFee.map(({ feeBps, quote }) => [feeBps, quote]));
    expect([verdicts.get(4), verdicts.get(33)]).toEqual([true, false]);
    expect(json.hedged.fees).toEqual({ makerBps: 1, hedgeBps: 3, backBps: 0 });
  });

  test('the cost of moving money back counts: that of the flag, else that of hedge.elsewhere in the configuration', async () => {
    const config = fileURLToPath(new URL('../../config/elsewhere.yaml', import.meta.url));
    const { backBps } = readConfig(config).hedge!.elsewhere!;
    const tapes = ['--tape', here, '--hedge-tape', there, '--hedge-fee', '3', '--json'];
    for (const [command, flags, cost] of [
      ['scout', ['-c', config], backBps],
      ['scout', ['-c', config, '--hedge-back', '0.5'], 0.5],
      ['scout', [], 0],
      ['calibrate', ['--hedge-back', '90'], 90],
    ] as const) {
      const { hedged } = printed(await ran([command, ...tapes, '--fees', '1', ...flags])) as {
        readonly hedged: HedgedBook | readonly [HedgedBook];
      };
      const { fees, verdict } = 'fees' in hedged ? hedged : hedged[0];
      expect([fees.backBps, verdict.feeBps, verdict.costBps]).toEqual([cost, 4, 4 + cost]);
      expect(verdict.quote).toBe(cost < 90);
    }
    const { stdout } = await ran(['calibrate', ...tapes.slice(0, -1), '--fees', '1', '--hedge-back', '90']);
    expect(stdout.replaceAll(/\n# ?/g, ' ')).toContain(
      'at fees of 1.0 + 3.0 bps, 90.0 bps for moving quote currency back, and latencies of 25 + 100 ms',
    );
  });

  test('two exchanges in one folder are named by their mapping files; last prices are prices alone', async () => {
    const dir = folderOfTwo();
    const tapes = ['--tape', join(dir, 'quoted.mapping.yaml'), '--hedge-tape', join(dir, 'hedge.mapping.yaml')];
    const { code, stdout, stderr } = await ran(['scout', ...tapes, '--fees', '0', '--hedge-fee', '0']);
    expect([code, stderr]).toEqual([0, '']);
    const text = stdout.replaceAll('\n', ' ');
    expect(text).toContain('Do not quote quoted btc_mxn with a hedge at hedge btc_mxn');
    expect(text).toContain(
      'Because the recordings lack amounts or depth, an order fills completely when a recorded last price passes',
    );
    expect(text).toContain('The two prices do not move together');
  });

  test.each([
    [['--hedge-book', 'btc_mxn'], '--hedge-book: no effect without a recording in --hedge-tape'],
    [['--hedge-tape', '/nowhere'], '/nowhere'],
    [['--hedge-tape', there, '--hedge-book', 'eth_mxn'], 'no book eth_mxn'],
    [['--hedge-tape', there, '--hedge-fee', 'x'], 'expected a fee in bps like 10, from -1000 to 1000'],
    [['--hedge-tape', there, '--hedge-back', '-1'], 'expected a cost in bps like 5, from 0 to 5000'],
    [['--hedge-back', '1'], '--hedge-back: no effect without a recording in --hedge-tape'],
  ])('%j is refused in one line', async (flags, why) => {
    const ended = await ran(['scout', '--tape', here, ...flags]);
    expect(ended.code).toBe(2);
    const [line, ...more] = complaints(ended);
    expect(line).toContain(why);
    expect(more).toEqual([]);
  });

  test('a hedge without a recording of this exchange is refused', async () => {
    const ended = await ran(['scout', '--hedge-tape', there]);
    expect([ended.code, complaints(ended)]).toEqual([
      2,
      ['--hedge-tape needs recordings of the quoted books for the same hours; pass those recordings with --tape'],
    ]);
  });
});
