/** `puntas backtest` with --hedge-tape, as a user runs it on two recordings. */
import { afterAll, describe, expect, test } from 'vitest';
import type { BacktestReport } from '../../../backtest/index.ts';
import { TapeWriter, type Tape } from '../../../src/tape/index.ts';
import { handMadeTape, type Row } from '../../backtest/handMadeTape.ts';
import { hedgingText } from '../../backtest/hedgedThere.ts';
import { Bench, complaints, printed, ran } from '../program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

const END = 90_000;
const LARGE = 1_000_000;
const quoted: readonly Row[] = [
  [0, 'bid', 190_000, LARGE],
  [0, 'ask', 210_000, LARGE],
  [20_000, 'sell', 198_000, 50_000],
  [40_000, 'buy', 202_000, 50_000],
  [60_000, 'sell', 198_000, 50_000],
  [END, 'buy', 200_000, 1_000],
];
/** Market of the other exchange, from a time on. A far level changes, so that the book is never old. */
const market = (from = 0): readonly Row[] => [
  [from, 'bid', 199_990, LARGE],
  [from, 'ask', 200_010, LARGE],
  ...Array.from({ length: END / 500 }, (_, i): Row => [from + 500 * (i + 1), 'ask', 219_000, 1_000 + i]),
];

/** Stores tapes as one recording, which may have several books. */
function stored(name: string, ...tapes: readonly Tape[]): string {
  const dir = bench.path(name);
  for (const { rules, columns } of tapes) {
    const writer = new TapeWriter({ dir, rules, source: name });
    writer.append(columns);
    writer.close();
  }
  return dir;
}

const here = stored('here', handMadeTape(quoted));
const there = stored('there', handMadeTape(market()));
const hedging = bench.file('hedging.yaml', hedgingText({ strategy: { halfSpreadBps: 50 } }));
const { hedge: _, elsewhere: __, inventory: ___, ...others } = JSON.parse(hedgingText()) as Record<string, unknown>;
const alone = bench.file('alone.yaml', JSON.stringify(others));

const backtested = (config: string, ...flags: readonly string[]) =>
  ran(['backtest', '-c', config, '--tape', here, '--models', 'expected', '--threads', '1', ...flags]);

describe('puntas backtest --hedge-tape', () => {
  test('executes each hedge on the recording, at the given fee and latency, and reports both', async () => {
    const flags = ['--hedge-tape', there, '--hedge-fee', '7.5', '--hedge-latency-ms', '50'];
    const report = printed(await backtested(hedging, ...flags, '--json')) as BacktestReport;
    expect(report.hedge).toEqual({ name: 'there btc_mxn', feeBps: 7.5, latencyMs: 50 });
    expect(report.models[0]!.hedges).toMatchObject({ completed: 3, begun: 3 });
    const { code, stdout, stderr } = await backtested(hedging, ...flags);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('hedges on there btc_mxn, with a taker fee of 7.5 bps and a latency of 50 ms each way');
    expect(stdout).toMatch(/hedging −[\d.]+ \(3 hedges\)/);
  });

  test('takes the book of --hedge-book from a recording of several books', async () => {
    const both = stored('both', handMadeTape(market()), handMadeTape(market(), 'eth_mxn'));
    const flags = ['--hedge-tape', both, '--hedge-book', 'btc_mxn', '--json'];
    const report = printed(await backtested(hedging, ...flags)) as BacktestReport;
    expect([report.hedge?.name, report.models[0]!.hedges?.completed]).toEqual(['both btc_mxn', 3]);
    const ended = await backtested(hedging, ...flags.slice(0, 2));
    expect([ended.code, complaints(ended)]).toEqual([
      2,
      [expect.stringContaining('choose one with --hedge-book: btc_mxn, eth_mxn')],
    ]);
  });

  test.each([
    ['a missing file', hedging, ['--hedge-tape', '/nowhere'], '/nowhere: no such file or folder'],
    [
      'a recording of another base currency',
      hedging,
      ['--hedge-tape', stored('ether', handMadeTape(market(), 'eth_mxn'))],
      '--hedge-tape: expected the book btc_mxn (elsewhere.book), found ether eth_mxn; pass a recording of btc_mxn',
    ],
    [
      'a recording of other hours',
      hedging,
      ['--hedge-tape', stored('later', handMadeTape(market(1e9)))],
      '--hedge-tape: later btc_mxn has prices from 1970-01-12T13:46:40.000Z',
    ],
    [
      'a configuration without hedges on another exchange',
      alone,
      ['--hedge-tape', there],
      '--hedge-tape: the configuration has no hedges on another exchange (hedge.elsewhere); remove the flag',
    ],
    [
      'a fee without a recording',
      hedging,
      ['--hedge-fee', '5'],
      '--hedge-fee: no effect without a recording in --hedge-tape',
    ],
    ['a fee that is no number', hedging, ['--hedge-tape', there, '--hedge-fee', 'x'], 'expected a fee in bps like 10'],
  ])('refuses %s in one line', async (_name, config, flags, why) => {
    const ended = await backtested(config, ...flags);
    expect([ended.code, ended.stdout]).toEqual([2, '']);
    expect(complaints(ended)).toEqual([expect.stringContaining(why)]);
  });

  test('needs a recording of the quoted book for the same hours', async () => {
    const ended = await ran(['backtest', '-c', hedging, '--hedge-tape', there]);
    expect([ended.code, complaints(ended)]).toEqual([
      2,
      ['--hedge-tape needs a recording of the quoted book for the same hours; pass that recording with --tape'],
    ]);
  });
});
