/** Hedges on a recording of another exchange in a backtest: its report in every form, both accounts, what is refused. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { comparisonPage, mainOf, reportPage, type HedgeTape } from '../../../../backtest/index.ts';
import { backtest } from '../../../../backtest/app/backtest/backtest.ts';
import { describeBacktest, describeComparison } from '../../../../backtest/app/backtest/backtestText.ts';
import { bothAccountsOf, hedgeTapeProblem } from '../../../../backtest/app/backtest/hedgedElsewhere.ts';
import { compare, type CompareOptions } from '../../../../backtest/app/compare/compare.ts';
import { latenciesOf, latencyText } from '../../../../backtest/app/backtest/latencyFlags.ts';
import { reportFiles } from '../../../../backtest/app/backtest/reportFiles.ts';
import { moneyOf, multiplyMoneyFloor, textOfMoney } from '../../../../src/core/index.ts';
import type { Config } from '../../../../src/config.ts';
import { KIND, TapeWriter, type Tape } from '../../../../src/tape/index.ts';
import { pageParts } from '../../../../src/wiring/outFiles.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';
import { handMadeTape, type Row } from '../../handMadeTape.ts';
import { hedgedThere, hedgingConfig, hedgingText } from '../../hedgedThere.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-hedge-tape-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Here btc_mxn around 200,000, there btc_usdt around 10,000, and 20 mxn for one usdt. */
const USDT = {
  elsewhere: { book: 'btc_usdt', balances: { btc: '1.5', usdt: '5000' } },
  reference: {
    everyMs: 12_000,
    sources: [
      {
        name: 'there',
        books: [
          { book: 'btc_usdt', from: 'elsewhere' },
          { book: 'usdt_mxn', from: 'exchange', staleAfterMs: 60_000 },
        ],
      },
    ],
  },
  hedge: { elsewhere: { valueMin: '0', driftMax: '500000', debtMax: '0.05', latencyMs: 100, backBps: 0 } },
  strategy: { halfSpreadBps: 50, amount: '0.0005', minEdgeBps: 1 },
} as never;
const END = 90_000;
const seconds = (row: (i: number) => Row): readonly Row[] => Array.from({ length: END / 500 }, (_, i) => row(i));
const sorted = (rows: readonly Row[]) => rows.toSorted((a, b) => a[0] - b[0]);
const quoted = handMadeTape(
  sorted([
    [0, 'bid', 190_000, 1_000_000],
    [0, 'ask', 210_000, 1_000_000],
    [20_000, 'sell', 198_000, 50_000],
    [40_000, 'buy', 202_000, 50_000],
    [60_000, 'sell', 198_000, 50_000],
    [END, 'buy', 200_000, 1_000],
  ]),
);
const there = handMadeTape(
  sorted([
    [0, 'bid', 9_999, 1_000_000],
    [0, 'ask', 10_001, 1_000_000],
    ...seconds(i => [500 * i, 'ask', 10_900, 1_000 + i]),
  ]),
  'btc_usdt',
);
const rate = handMadeTape(
  sorted([
    [0, 'bid', 199_000, 1_000_000_000],
    [0, 'ask', 201_001, 1_000_000_000],
    ...seconds(i => [500 * i, 'buy', 200_000, 100_000 + i]),
    ...seconds(i => [500 * i, 'bid', 198_000, 1_000 + i]),
  ]),
  'usdt_mxn',
  '0.0001',
);
const LATENCY = { latencyMs: '25', feedLatencyMs: '0' };
const VENUE: HedgeTape = { name: 'there btc_usdt', tape: there, feeBps: 7.5, latencyMs: 100 };
const of = (config: Config, hedge: HedgeTape | null, reference: ReadonlyMap<string, Tape>, threads = 1) =>
  backtest({
    ...{ config, configText: '', tape: quoted, flowSeconds: 10, flowDrift: 0, hedge, reference, threads },
    ...{ models: ['expected', 'optimistic'], seed: 1, version: 'test', progress: NO_PROGRESS },
    ...{
      latencies: latenciesOf(LATENCY),
      latencyText: latencyText(LATENCY),
      files: reportFiles(join(dir, `${threads}.html`)),
    },
  });

describe('a backtest with --hedge-tape', () => {
  test('values another quote currency at the recorded rate, and rounds as the ledger of a run does', async () => {
    const config = hedgingConfig(USDT);
    const { result, hedges, fills } = await hedgedThere({
      ...{ quoted, there, config, feeBps: 7.5, reference: new Map([['usdt_mxn', rate]]) },
    });
    expect(fills.map(({ side }) => side)).toEqual(['buy', 'sell', 'buy']);
    expect(hedges.map(({ gaveCurrency, gotCurrency }) => [gaveCurrency, gotCurrency])).toEqual([
      ['btc', 'usdt'],
      ['usdt', 'btc'],
      ['btc', 'usdt'],
    ]);
    // 0.0005 btc at 9,999 less 7.5 bps; the purchase leaves its fee in btc as inventory.
    expect([hedges[0]!.got, hedges[1]!.gave, hedges[1]!.got]).toEqual(['4.99575037', '5.0005', '0.00049962']);
    const cash = (usdt: bigint) => multiplyMoneyFloor(usdt as never, moneyOf('20.00005'));
    const mid = 200_000n;
    const costs = [
      mid * moneyOf('0.0005') - cash(moneyOf('4.99575037')),
      -mid * moneyOf('0.00049962') - cash(-moneyOf('5.0005')),
      mid * moneyOf(hedges[2]!.gave!) - cash(moneyOf(hedges[2]!.got!)),
    ].map(sum => textOfMoney(sum as never));
    expect(hedges.map(({ cost }) => cost)).toEqual(costs);
    expect(result.collected.profit.hedging).toBe(-costs.reduce((sum, cost) => sum + moneyOf(cost), 0n));
    const usdt = moneyOf('4.99575037') - moneyOf('5.0005') + moneyOf(hedges[2]!.got!);
    expect(result.snapshot.elsewhere).toMatchObject({
      ...{ quoteHeld: moneyOf('5000') + usdt, drift: usdt, driftValue: cash(usdt), rate: moneyOf('20.00005') },
      ...{ held: moneyOf('1.5') - moneyOf('0.0005') + moneyOf('0.00049962') - moneyOf(hedges[2]!.gave!), debt: 0n },
    });
  });

  test('shows the hedges there in text, JSON, CSV and page, with any number of threads', async () => {
    const config = hedgingConfig(USDT);
    const references = new Map([['usdt_mxn', rate]]);
    const [report, threads] = [await of(config, VENUE, references), await of(config, VENUE, references, 2)];
    expect(threads.hash).toBe(report.hash);
    expect(report.reference?.map(({ book }) => book)).toEqual(['usdt_mxn', 'btc_usdt']);
    const text = describeBacktest(report);
    expect(text).toContain('hedges on there btc_usdt, with a taker fee of 7.5 bps and a latency of 100 ms each way');
    expect(text).toMatch(/hedging −[\d.]+ \(3 hedges\)/);
    expect(text).toContain('orders do not change the recorded book of the other exchange');
    const { hedges } = report.models[0]!;
    expect(hedges).toMatchObject({ completed: 3, begun: 3 });
    expect(hedges?.elsewhere).toMatchObject({
      ...{ exchange: 'binance', hedges: 3, executions: 3, debt: '0', debtValue: '0' },
      fees: { btc: '0.00000038' },
      holdings: { btc: hedges!.elsewhere!.holdings['btc'] },
    });
    const csv = readFileSync(join(dir, '1-hedges-expected.csv'), 'utf8').trim().split('\n');
    expect(csv.length).toBe(4);
    expect(csv[1]).toContain(',completed,0.0005,elsewhere,0.0005,btc,4.99575037,usdt,');
    const page = reportPage(report, pageParts());
    for (const part of [
      'hedges executed at binance',
      'fees at binance, usdt',
      'usdt at binance at the end',
      'hedge debt',
    ])
      expect(page).toContain(part);
    expect(page).toMatch(/recorded levels of\s+there btc_usdt, with a taker fee of 7.5 bps/);
  });

  test('without the flag, nothing is hedged there, as before', async () => {
    const report = await of(
      hedgingConfig(USDT),
      null,
      new Map([
        ['btc_usdt', there],
        ['usdt_mxn', rate],
      ]),
    );
    expect([report.hedge, report.models[0]!.hedges]).toEqual([undefined, null]);
    expect(report.noRoutes).toEqual([expect.stringContaining('are not simulated; inventory.target is ignored')]);
  });

  test('refuses, in one sentence, a configuration or a recording that cannot serve the hedges', async () => {
    const config = hedgingConfig(USDT);
    const { hedge: _, ...others } = config;
    const trades = { ...there, columns: { ...there.columns, kind: there.columns.kind.map(() => KIND.trade) } };
    const problem = (of: Config, tape = there) => hedgeTapeProblem(of, { ...VENUE, tape });
    expect(problem(config)).toBe(null);
    expect(problem(others as Config)).toBe(
      'the configuration has no hedges on another exchange (hedge.elsewhere); remove the flag',
    );
    expect(problem(config, quoted)).toBe(
      'expected the book btc_usdt (elsewhere.book), found there btc_usdt; pass a recording of btc_usdt',
    );
    expect(problem(config, trades)).toContain('has last trades, but hedges execute against levels with amounts');
    expect(problem(config, { ...there, quotesOnly: true })).toContain('has best prices, but');
    await expect(of(config, VENUE, new Map())).rejects.toThrow('--reference: no recording of usdt_mxn');
    await expect(of(config, { ...VENUE, tape: trades }, new Map())).rejects.toThrow('--hedge-tape: there btc_usdt has');
    const later = handMadeTape(
      [
        [1e9, 'bid', 9_999, 1_000_000],
        [1e9, 'ask', 10_001, 1_000_000],
      ],
      'btc_usdt',
    );
    const span = { from: 0, to: END };
    const reference = { legs: [], mids: [], everyMs: 250, source: 'there' };
    expect(bothAccountsOf(config, {}, { ...VENUE, tape: later }, span, reference)).toMatch(
      /^there btc_usdt has prices from 1970-01-12.*use a recording of the tape's hours$/,
    );
    expect(bothAccountsOf(config, {}, VENUE, span, undefined)).toMatch(
      /^no rate of usdt is known; the first source of reference.sources must start with btc_usdt/,
    );
  });

  test('shares the target of a remote account between both exchanges, which cover the position limit', () => {
    const remote = (target?: string): Config => {
      const config = hedgingConfig();
      const elsewhere = { ...config.elsewhere!, kind: 'remote', venue: 'binance' } as unknown as Config['elsewhere'];
      return { ...config, elsewhere, inventory: target === undefined ? {} : { target } };
    };
    const both = (target?: string) => {
      const venue = {
        ...VENUE,
        tape: handMadeTape([
          [0, 'bid', 10_000, 1_000_000],
          [0, 'ask', 10_010, 1_000_000],
        ]),
      };
      const found = bothAccountsOf(remote(target), { btc: '0.2', mxn: '7' }, venue, { from: 0, to: 1 }, undefined);
      if (typeof found === 'string') throw new Error(found);
      return [found.balances, found.otherExchange.balances];
    };
    expect(both()).toEqual([
      { btc: '0.2', mxn: '7' },
      { btc: '0.2', mxn: '2000' },
    ]);
    expect(both('0.300000001')).toEqual([
      { btc: '0.150000001', mxn: '7' },
      { btc: '0.15', mxn: '2000' },
    ]);
  });
});

function stored(name: string, { rules, columns }: Tape): string {
  const path = join(dir, name);
  const writer = new TapeWriter({ dir: path, rules, source: 'by hand' });
  writer.append(columns);
  writer.close();
  return path;
}

describe('a comparison with --hedge-tape', () => {
  const file = (name: string, text: string): string => {
    const path = join(dir, name);
    writeFileSync(path, text);
    return path;
  };
  const {
    hedge: _hedge,
    elsewhere: _there,
    inventory: _target,
    ...alone
  } = JSON.parse(hedgingText()) as Record<string, Record<string, unknown>>;
  const configs = [
    file('hedged.yaml', hedgingText(USDT)),
    file('alone.yaml', JSON.stringify({ ...alone, strategy: { ...alone['strategy'], halfSpreadBps: 50 } })),
  ];
  const paths = [stored('here', quoted), stored('rate', rate)];
  const compared = (change: Partial<CompareOptions> = {}) =>
    compare({
      ...{
        configs,
        paths,
        tiers: ['config'],
        anyway: false,
        starts: 1,
      },
      ...{ models: ['expected'], riskPerHour: '10', calibratedShare: 1 / 3, seed: 1, threads: 1, version: 'test' },
      ...{ latencies: latenciesOf(LATENCY), latencyText: latencyText(LATENCY), progress: NO_PROGRESS, hedge: VENUE },
      ...change,
    });

  test('has the result of the backtest with hedges, and runs a bot without hedges there as before', async () => {
    const [comparison, without] = [await compared(), await compared({ hedge: null })];
    const report = await of(hedgingConfig(USDT), VENUE, new Map([['usdt_mxn', rate]]));
    const runs = comparison.tapes.find(({ book }) => book === 'btc_mxn')!.runs;
    const before = without.tapes.find(({ book }) => book === 'btc_mxn')!.runs;
    expect(runs.map(run => run.name)).toEqual(['hedged', 'alone']);
    expect(mainOf(runs[0]!.models)).toMatchObject({ pnl: report.models[0]!.pnl, hash: report.models[0]!.hash });
    expect(Number(mainOf(runs[0]!.models)!.pnl.hedging)).toBeLessThan(0);
    expect(runs[1]).toMatchObject({ models: before[1]!.models });
    expect(runs[0]!.remarks.join(' ')).toContain('orders do not change the recorded book');
    expect(before[0]!.notRun).toContain('no recording of btc_usdt covers the hours of the tape');
    expect(comparison.hedge).toEqual({ name: VENUE.name, feeBps: 7.5, latencyMs: 100 });
    expect(comparisonPage(comparison, pageParts())).toContain('there btc_usdt, with a taker fee of 7.5 bps');
    expect(without.hedge).toBe(undefined);
    expect(comparison.leftOut).toEqual([
      expect.objectContaining({ why: 'no configuration trades usdt_mxn, but its prices are read' }),
    ]);
    expect(describeComparison(comparison)).toContain(
      'hedges on there btc_usdt, with a taker fee of 7.5 bps and a latency of 100 ms each way',
    );
    expect(describeComparison(without)).not.toContain('hedges on');
  });

  test('does not run a bot whose hedges cannot be simulated, and refuses a recording that no bot can use', async () => {
    const late = {
      ...VENUE,
      tape: handMadeTape(
        [
          [1e9, 'bid', 9_999, 1_000_000],
          [1e9, 'ask', 10_001, 1_000_000],
        ],
        'btc_usdt',
      ),
    };
    await expect(compared({ hedge: late })).rejects.toThrow('--reference btc_usdt: by hand has prices from 1970-01-12');
    await expect(compared({ configs: [configs[1]!] })).rejects.toThrow(
      'no configuration has hedges on another exchange',
    );
    await expect(compared({ configs: [] })).rejects.toThrow('no configuration has hedges on another exchange');
    await expect(compared({ hedge: { ...VENUE, tape: quoted } })).rejects.toThrow(
      '--hedge-tape: hedged: expected the book btc_usdt (elsewhere.book)',
    );
  });
});
