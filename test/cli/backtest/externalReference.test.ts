import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { recordFlow } from '../../../backtest/index.ts';
import { backtest } from '../../../backtest/app/backtest/backtest.ts';
import { describeBacktest } from '../../../backtest/app/backtest/backtestText.ts';
import { referenceTapes } from '../../../backtest/commands/recordings.ts';
import { loadConfig, type Config } from '../../../src/config.ts';
import { midsOf, type Tape } from '../../../src/tape/index.ts';
import { NO_PROGRESS } from '../../app/noProgress.ts';

const SECONDS = 240;
const TAPE = recordFlow('btc_mxn', 5, SECONDS);
const USD_MXN = recordFlow('usd_mxn', 6, SECONDS);

const configOf = (file: string, ...changes: readonly [string, string][]): Config => {
  let text = readFileSync(new URL(`../../../config/${file}.yaml`, import.meta.url), 'utf8');
  for (const [what, by] of changes) {
    expect(text).toContain(what);
    text = text.replace(what, by);
  }
  const loaded = loadConfig(text, `${file}.yaml`);
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
};

/** Its reference is a feed of our own book. */
const PEG = configOf('peg', ['books: [btc_usd, usd_mxn]', 'feeds: [{ file: price }]']);
const MIXED = configOf('sandbox', [
  'strategy:',
  'reference: { feeds: [{ file: price }], everyMs: 2000 }\nfairValue:\n  weightedMid: {}\n  reference: { maxAgeMs: 5000 }\n  orderFlowImbalance: { bpsPerUnit: 1 }\nstrategy:',
]);

const constant = (ms: number) => ({ kind: 'constant', ms }) as const;
const run = (config: Config, reference: ReadonlyMap<string, Tape> = new Map(), tape = TAPE) =>
  backtest({
    config,
    configText: '',
    version: '0',
    tape,
    seed: 1,
    flowSeconds: 0,
    flowDrift: 0,
    models: ['expected'],
    reference,
    latencies: { orders: constant(25), cancels: constant(25), answers: constant(25), feed: constant(0) },
    latencyText: { latencyMs: '25', feedLatencyMs: '0' },
    threads: 1,
    files: null,
    progress: NO_PROGRESS,
  });

describe.each([
  ['a peg', PEG],
  ['a fair value with a reference', MIXED],
])('%s in a backtest', (_, config) => {
  test('quotes around the price of another recording, the same way twice', async () => {
    const reference = new Map([['btc_mxn', TAPE]]);
    const [first, second] = [await run(config, reference), await run(config, reference)];
    expect(first.models[0]!.uptime.bid).toBeGreaterThan(0.9);
    expect(first.hash).toBe(second.hash);
    expect(first.reference).toEqual([{ book: 'btc_mxn', source: TAPE.source }]);
    expect(first.noReference).toBeUndefined();
  });

  test('quotes nothing without one, and says what to give', async () => {
    const report = await run(config);
    expect(report.models[0]!.uptime.bid).toBe(0);
    expect(report.models[0]!.missing[0]!.reason).toContain('no reference was received yet');
    expect(describeBacktest(report)).toContain(
      'the bot quotes nothing, because the backtest has no reference price; pass --reference btc_mxn=DIR',
    );
  });

  test('withdraws while the other recording has a gap', async () => {
    const gap = { from: TAPE.columns.at[0]! + 60_000, to: TAPE.columns.at[0]! + 180_000, why: 'a test' };
    const report = await run(config, new Map([['btc_mxn', { ...TAPE, gaps: [gap] }]]));
    expect(report.models[0]!.uptime.bid).toBeGreaterThan(0.3);
    expect(report.models[0]!.uptime.bid).toBeLessThan(0.65);
    expect(report.models[0]!.missing[0]!.reason).toContain('the reference is stale');
  });
});

test('a report counts the time of a gap only up to the end of the recording', async () => {
  const to = TAPE.columns.at.at(-1)!;
  const gap = { from: to - 60_000, to: to + 3_600_000, why: 'a test' };
  const report = await run(configOf('sandbox'), new Map(), { ...TAPE, gaps: [gap] });
  expect(report.tape.gaps).toEqual([{ ...gap, to }]);
});

test('a recording without the reference of its configuration is the same with the switch and without: nobody reads it', async () => {
  const config = configOf('sandbox', ['strategy:', 'reference: { feeds: [{ file: price }] }\nstrategy:']);
  const [without, with_] = [await run(config), await run(config, new Map([['btc_mxn', TAPE]]))];
  expect(with_.models[0]!.fills).toBe(without.models[0]!.fills);
  expect(without.noReference).toBeUndefined();
});

describe('sources of the reference price in a backtest', () => {
  const config = configOf('sandbox', [
    'strategy:',
    `reference:
  sources:
    - { name: far, books: [{ book: btc_usdt, as: btc_usd }, usd_mxn], amount: '0.1', staleAfterMs: 20000 }
    - { name: other, books: [btc_usd, usd_mxn], staleAfterMs: 20000 }
  sourcesMin: 2
  everyMs: 8000
timing: { bookPollMs: 4000 }
fairValue: { withinBps: 100, reference: {} }
strategy:`,
  ]);
  const near = configOf('sandbox', [
    'strategy:',
    `reference: { sources: [{ name: far, books: [btc_mxn], from: feed }], feeds: [{ file: price }], basis: {} }
fairValue: { withinBps: 100, reference: { leave: { costMaxBps: 60 } } }
strategy:`,
  ]);

  test('the recording is the first source, with its basis, the same way twice', async () => {
    const reference = new Map([['btc_mxn', TAPE]]);
    const [first, second] = [await run(near, reference), await run(near, reference)];
    // The basis takes its first minute.
    expect(first.models[0]!.uptime.bid).toBeGreaterThan(0.5);
    expect(first.models[0]!.uptime.bid).toBeLessThan(0.9);
    expect(first.hash).toBe(second.hash);
    expect(first.models[0]!.missing[0]!.reason).toContain('no live price');
  });

  test('without recordings nothing is quoted, and the report says what to give', async () => {
    const report = await run(config);
    expect(report.models[0]!.uptime.bid).toBe(0);
    expect(describeBacktest(report)).toContain('pass --reference btc_usdt=DIR --reference usd_mxn=DIR');
  });
});

describe('routes of hedges over a third currency', () => {
  const routes = configOf('hedged', ['costMaxBps:', 'routes: { via: [usd] }\n  costMaxBps:']);
  const BTC_USD = recordFlow('btc_usd', 7, SECONDS);

  test('whose books were not all recorded are no way out, and said so in one line', async () => {
    const done = 'no hedges through usd, because recordings of btc_usd and usd_mxn are missing';
    for (const given of [[], [['usd_mxn', USD_MXN] as const]]) {
      const report = await run(routes, new Map(given));
      expect(report.tape.dirt).toContainEqual({ what: 'no recordings of btc_usd and usd_mxn', count: 1, done });
      expect(
        describeBacktest(report)
          .split('\n')
          .filter(line => line.includes('usd')),
      ).toEqual([`  ${done}`]);
      expect(report.reference).toBeUndefined();
    }
    expect((await run(configOf('hedged'))).tape.dirt).toEqual(TAPE.flaws);
  });

  test('are weighed where both were, and a configuration with a reference too keeps its own words', async () => {
    const both = new Map([
      ['btc_usd', BTC_USD],
      ['usd_mxn', USD_MXN],
    ]);
    const report = await run(routes, both);
    expect(report.tape.dirt).toEqual(TAPE.flaws);
    expect(report.noRoutes).toBeUndefined();
    expect(report.reference?.map(({ book }) => book)).toEqual(['btc_usd', 'usd_mxn']);
    await expect(run(routes, new Map([['eth_mxn', TAPE]]))).rejects.toThrow(
      '--reference eth_mxn: the configuration does not use this book; hedge.routes can use btc_usd, usd_btc, usd_mxn, mxn_usd',
    );
  });
});

describe('a recording that cannot stand in is refused in one line:', () => {
  const later: Tape = { ...TAPE, columns: { ...TAPE.columns, at: TAPE.columns.at.map(at => at + 1e9) } };
  test.each<[string, Config, ReadonlyMap<string, Tape>, string | RegExp]>([
    [
      'of another book',
      PEG,
      new Map([['usd_mxn', USD_MXN]]),
      '--reference usd_mxn: the configuration does not use this book; the reference price uses btc_mxn',
    ],
    [
      'of one of two books',
      configOf('peg'),
      new Map([['usd_mxn', USD_MXN]]),
      '--reference: no recording of btc_usd; pass --reference btc_usd=DIR --reference usd_mxn=DIR',
    ],
    [
      'for a configuration without one',
      configOf('sandbox'),
      new Map([['usd_mxn', USD_MXN]]),
      '--reference: the configuration has no reference price and no hedge route through a book',
    ],
    ['of another time', PEG, new Map([['btc_mxn', later]]), /^--reference btc_mxn: .*, but the tape covers/],
  ])('%s', async (_, config, reference, line) => {
    await expect(run(config, reference)).rejects.toThrow(line);
  });

  test('what is no BOOK=DIR', async () => {
    await expect(referenceTapes(['tapes/usd'])).rejects.toThrow(
      '--reference: expected BOOK=DIR, like btc_usd=tapes/btc_usd, found "tapes/usd"',
    );
  });
});

test('the middles of a recording are in its currency, change by change', () => {
  const { at, mid: middle, to, book } = midsOf(USD_MXN);
  expect([book, to]).toEqual(['usd_mxn', USD_MXN.columns.at[USD_MXN.columns.length - 1]]);
  expect(at.length).toBeGreaterThan(10);
  for (let i = 1; i < at.length; i++) {
    expect(at[i]).toBeGreaterThanOrEqual(at[i - 1]!);
    expect(middle[i]).not.toBe(middle[i - 1]);
    expect(middle[i]! > 10 && middle[i]! < 30).toBe(true);
  }
});
