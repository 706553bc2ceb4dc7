import { describe, expect, test } from 'vitest';
import type { Tape } from '../../../src/tape/index.ts';
import {
  backtestSeveralBooks,
  type SeveralBooksOptions,
} from '../../../backtest/app/severalBooks/severalBooksBacktest.ts';
import { tapesOfBooks } from '../../../backtest/app/severalBooks/tapesOfBooks.ts';
import { describeSeveralBooks } from '../../../backtest/app/severalBooks/severalBooksText.ts';
import { evenShares } from '../../../backtest/app/severalBooks/evenShares.ts';
import { severalBooksConfig, severalBooksTapes, LATENCIES } from './severalBooksWorld.ts';

const BOOKS = {
  btc_mxn: { amount: '0.004', positionMax: '0.05' },
  eth_mxn: { amount: '0.1', positionMax: '2' },
};
const RICH = { btc: '2', usd: '100000', mxn: '4000000' };
const BALANCES = { btc: '2', eth: '40', mxn: '4000000' };
const config = severalBooksConfig({ books: BOOKS, balances: BALANCES });
const [btc, eth, usd] = severalBooksTapes(['btc_mxn', 'eth_mxn', 'eth_usd'], 1, 60) as [Tape, Tape, Tape];

const later = (tape: Tape, ms: number): Tape => ({
  ...tape,
  columns: { ...tape.columns, at: tape.columns.at.map(at => at + ms), local: tape.columns.local.map(at => at + ms) },
});

const options = (change: Partial<SeveralBooksOptions> = {}): SeveralBooksOptions => ({
  config,
  configText: 'books: []',
  version: '0.0.0',
  tapes: [eth, btc],
  seed: 1,
  flowSeconds: 60,
  models: ['pessimistic', 'expected'],
  latencies: LATENCIES,
  latencyText: { latencyMs: '25', feedLatencyMs: '0' },
  time: {},
  alone: false,
  files: null,
  progress: { begin: () => undefined, at: () => undefined, end: () => undefined },
  ...change,
});

describe('the recordings of a backtest of several books', () => {
  test.each([
    [
      'of a book that the configuration does not have',
      [btc, eth, usd],
      /quotes btc_mxn, eth_mxn, but this .* of eth_usd/,
    ],
    ['of one book twice', [btc, eth, btc], /expected one recording of btc_mxn, found .* and /],
    ['of not every book', [btc], /found no recording of eth_mxn; add --tape/],
    ['without a common time', [btc, later(eth, 3_600_000)], /no common time: btc_mxn from .*; eth_mxn from /],
  ])('are refused in one line: %s', (_, tapes, message) => {
    expect(() => tapesOfBooks(config, tapes)).toThrow(message);
    expect(() => tapesOfBooks(config, tapes)).toThrow(/^[^\n]*$/);
  });

  test('come in any order', () => {
    expect(tapesOfBooks(config, [eth, btc])).toEqual([btc, eth]);
  });
});

describe('the reference price of a book', () => {
  const pegged = (source: string, from: string) =>
    severalBooksConfig({
      books: {
        btc_mxn: {
          ...BOOKS.btc_mxn,
          more: [
            `reference: { sources: [{ name: there, books: [${source}], from: ${from} }], sourcesMin: 1 }`,
            'fairValue: { withinBps: 200, mid: {}, reference: { weight: 1 } }',
          ],
        },
        btc_usd: { amount: '0.004', positionMax: '0.05' },
        usd_mxn: { amount: '100', positionMax: '2000' },
      },
      balances: RICH,
    });
  const tapes = severalBooksTapes(['btc_mxn', 'btc_usd', 'usd_mxn'], 1, 60);
  const reported = async (source: string, from: string) =>
    (await backtestSeveralBooks(options({ config: pegged(source, from), tapes, models: ['expected'] }))).books[0]!;

  test('comes from the recordings of the other books', async () => {
    const { reference, noReference, models } = await reported('btc_usd, usd_mxn', 'exchange');
    expect([reference?.map(({ book }) => book), noReference]).toEqual([['btc_usd', 'usd_mxn'], undefined]);
    expect(models[0]!.orders.placed).toBeGreaterThan(0);
  });

  test.each(['btc_mxn', 'btc_usd, usd_mxn'])(
    'of another exchange is not that of this one with the same books, %s',
    async source => {
      const { reference, noReference, models } = await reported(source, '{ ccxt: kraken }');
      expect([reference, models[0]!.orders.placed]).toEqual([undefined, 0]);
      expect(noReference).toMatch(/has no reference price; backtest this book alone, with --reference btc_/);
    },
  );
});

describe('a backtest of several books', () => {
  test('reports each book, and all together by quote currency', async () => {
    const report = await backtestSeveralBooks(options({ alone: true }));
    expect(report.books.map(({ book }) => book)).toEqual(['btc_mxn', 'eth_mxn']);
    const [, expected] = report.together;
    expect(expected!.together.map(({ minor, books }) => [minor, books])).toEqual([['mxn', ['btc_mxn', 'eth_mxn']]]);
    const sum = report.books.reduce((total, { models }) => total + Number(models[1]!.pnl.total), 0);
    expect(Number(expected!.together[0]!.pnl.total)).toBeCloseTo(sum, 9);
    expect(expected!.alone).toHaveLength(1);
    expect(describeSeveralBooks(report)).toContain('each book alone');
    expect(await backtestSeveralBooks(options())).toMatchObject({ hash: report.hash });
  });

  test('trades only in the chosen time', async () => {
    const from = btc.columns.at[0]!;
    const report = await backtestSeveralBooks(options({ time: { since: from + 20_000, until: from + 40_000 } }));
    expect(Date.parse(report.to) - Date.parse(report.from)).toBe(20_000);
    await expect(backtestSeveralBooks(options({ time: { since: from + 3_600_000 } }))).rejects.toThrow(
      `exclude the common time of the recordings; choose times from ${new Date(from).toISOString()}`,
    );
  });
});

test('the gaps of a report are inside the traded time', async () => {
  const from = btc.columns.at[0]!;
  const [since, until] = [from + 20_000, from + 40_000];
  const gaps = [
    { from, to: from + 10_000, why: 'before' },
    { from: from + 15_000, to: from + 25_000, why: 'over the start' },
    { from: from + 35_000, to: from + 45_000, why: 'over the end' },
  ];
  const report = await backtestSeveralBooks(
    options({ tapes: [{ ...btc, gaps }, eth], models: ['expected'], time: { since, until } }),
  );
  expect(report.books[0]!.tape.gaps).toEqual([
    { from: since, to: since + 5_000, why: 'over the start' },
    { from: until - 5_000, to: until, why: 'over the end' },
  ]);
});

test('even shares of an account add up to no more than the account', () => {
  const shares = evenShares(config, BALANCES);
  expect(shares.map(({ balances }) => balances)).toEqual([
    { btc: '2', mxn: '2000000' },
    { eth: '40', mxn: '2000000' },
  ]);
  // Each book makes 60 of its 1,000 requests for reads of the account, without the others.
  expect(shares.map(({ privatePerMinute }) => privatePerMinute)).toEqual([530, 530]);
});

test('a target and the balance of its currency are divided by one number', () => {
  const of = severalBooksConfig({
    books: { btc_mxn: BOOKS.btc_mxn, eth_btc: { amount: '0.1', positionMax: '2' } },
    balances: BALANCES,
  });
  const [btcMxn] = evenShares(
    { ...of, books: of.books!.map((book, i) => (i === 0 ? { ...book, inventory: { target: '1' } } : book)) },
    BALANCES,
  );
  expect([btcMxn!.balances['btc'], btcMxn!.config.inventory.target]).toEqual(['1', '0.5']);
});
