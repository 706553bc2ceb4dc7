import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runSideBySide, type ReplayReport } from '../../../backtest/index.ts';
import type { ReplayAccount } from '../../../backtest/replay/replayAccount.ts';
import { runDeskJob } from '../../../backtest/app/desk/deskRun.ts';
import { replayOf } from '../../../backtest/app/backtest/backtestModel.ts';
import { runsOf } from '../../many.ts';
import { deskConfig, deskJob, deskTapes, LATENCIES, runOf, type WantedDesk } from './deskWorld.ts';

const BTC = { amount: '0.004', positionMax: '0.05' };
const ETH = { amount: '0.1', positionMax: '2' };
const RICH = { btc: '2', eth: '40', mxn: '4000000', usd: '200000' };

/** A report without what names or counts the whole account: ids of orders in the hash, requests and balances. */
function bookOnly({ hash: _, requests: __, holdings: ___, series, ...rest }: ReplayReport) {
  const { requests: ____, ...columns } = series.columns;
  return { ...rest, series: { ...series, columns } };
}

const latencies = fc
  .record({ there: fc.constantFrom(0, 1, 25, 500), back: fc.constantFrom(0, 3, 25, 400), feed: fc.constantFrom(0, 40) })
  .map(({ there, back, feed }) => ({
    ...LATENCIES,
    orders: { kind: 'constant', ms: there } as const,
    answers: { kind: 'constant', ms: back } as const,
    feed: { kind: 'constant', ms: feed } as const,
  }));

describe('a replay of several books', () => {
  test('of one book is the replay of one book, to the digit', async () => {
    const config = deskConfig({ books: { btc_mxn: BTC }, balances: RICH });
    const [tape] = deskTapes(['btc_mxn'], 3, 120);
    const job = deskJob(config, [tape!]);
    const [source] = job.books;
    const rows = source!.rows.kind === 'memory' ? source!.rows.rows : null;
    const options = replayOf({ ...job, ...source!, config }, rows!);
    const [alone] = await runSideBySide(rows!, [{ ...options, balances: job.balances, from: job.from, to: job.to }]);
    const [report] = runOf(job);
    expect(report!.fills).toBeGreaterThan(3);
    expect(report!.hash).toBe(alone!.hash);
  });

  test('without a common currency is a replay of each, to the digit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), latencies, (seed, how) => {
        const tapes = deskTapes(['btc_mxn', 'eth_usd'], seed, 120);
        const books = { btc_mxn: BTC, eth_usd: ETH };
        const config = deskConfig({ books, balances: RICH });
        const job = deskJob(config, tapes, { latencies: how, seed });
        const together = runOf(job);
        // The exchange locks an account out that sends more than 300 requests per minute, however many books send them.
        fc.pre(together.every(({ requests }) => requests.lockedOut === 0));
        const alone = Object.entries(books).map(([book, wanted], i) => {
          const one = deskConfig({ books: { [book]: wanted }, balances: RICH });
          const [report] = runOf({ ...job, config: one, books: [job.books[i]!] });
          return report!;
        });
        expect(together.map(bookOnly)).toEqual(alone.map(bookOnly));
        expect(together.every(({ decisions }) => decisions > 100)).toBe(true);
      }),
      runsOf(60, 4),
    );
  });

  test('reserves each unit of a currency once, never turns time back, and books each fill in its book', () => {
    let [bound, fills] = [0, 0];
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), latencies, (seed, how) => {
        const tapes = deskTapes(['btc_mxn', 'eth_mxn'], seed, 120);
        const poor: WantedDesk = {
          books: { btc_mxn: BTC, eth_mxn: ETH },
          balances: { btc: '0.006', eth: '0.15', mxn: '14000' },
        };
        const config = deskConfig(poor);
        let now = -Infinity;
        const reports = runDeskJob(deskJob(config, tapes, { latencies: how, seed }), undefined, account => {
          expect(account.now).toBeGreaterThanOrEqual(now);
          now = account.now;
          bound += assertReservedOnce(account, ['btc', 'eth', 'mxn']);
        }).reports;
        fills += reports.reduce((sum, report) => sum + report.fills, 0);
        // Each report has the position of its own fills; together they are what the account gained.
        expect(reports.map(({ holdings }) => holdings['mxn'])).toEqual(Array(2).fill(reports[0]!.holdings['mxn']));
      }),
      runsOf(60, 4),
    );
    expect(bound).toBeGreaterThan(100);
    expect(fills).toBeGreaterThan(10);
  });

  test('at one time, the events of an earlier book come first', () => {
    const config = deskConfig({ books: { btc_mxn: BTC, eth_mxn: ETH }, balances: RICH });
    const job = deskJob(config, deskTapes(['btc_mxn', 'eth_mxn'], 5, 30));
    let first: readonly (string | undefined)[] = [];
    runDeskJob(job, undefined, ({ engine: { books } }) => {
      if (first.length === 0 && books.every(({ unfinished }) => unfinished.length > 0))
        first = books.map(({ unfinished }) => unfinished[0]?.id);
    });
    // Both books decide for the first time at the same time, so the first orders are of the first book.
    expect(first).toEqual(['desk-1-1', 'desk-1-5']);
  });

  test('shares one request budget: all books quote, and no minute has more requests than the limit', () => {
    const books = { btc_mxn: BTC, eth_mxn: ETH };
    const config = deskConfig({ books, balances: RICH, privatePerMinute: 70 });
    const reports = runOf(deskJob(config, deskTapes(['btc_mxn', 'eth_mxn'], 7, 300)));
    for (const { requests, orders } of reports) {
      expect(orders.placed).toBeGreaterThan(5);
      expect(requests.mostPerMinute).toBeLessThanOrEqual(70);
    }
    const rich = runOf(deskJob(deskConfig({ books, balances: RICH }), deskTapes(['btc_mxn', 'eth_mxn'], 7, 300)));
    expect(reports[0]!.orders.placed + reports[1]!.orders.placed).toBeLessThan(
      rich[0]!.orders.placed + rich[1]!.orders.placed,
    );
  });

  test('a loss of one book halts all', () => {
    const config = deskConfig({
      books: { btc_mxn: BTC, eth_mxn: { ...ETH, lossMax: '5' } },
      balances: RICH,
      halfSpreadBps: 1,
    });
    const reports = runOf(deskJob(config, deskTapes(['btc_mxn', 'eth_mxn'], 2, 300)));
    expect(reports[1]!.haltedBecause).toMatch(/^drawdown/);
    expect(reports[0]!.haltedBecause).toBe(reports[1]!.haltedBecause);
    expect(reports.map(({ left }) => left)).toEqual([0, 0]);
  });
});

/** Returns whether funds bind: orders of both books reserve most of a currency. */
function assertReservedOnce({ engine }: ReplayAccount, currencies: readonly string[]): number {
  let bound = 0;
  for (const currency of currencies) {
    let reserved = 0n;
    for (const { locked } of engine.books) reserved += locked.get(currency) ?? 0n;
    const total = engine.account.total(currency) as bigint;
    if (reserved > total) throw new Error(`${reserved} of ${total} ${currency} are reserved`);
    if (reserved * 10n > total * 8n) bound++;
  }
  return bound;
}
