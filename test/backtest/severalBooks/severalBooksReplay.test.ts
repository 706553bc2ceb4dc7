import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FeedBook } from '../../../backtest/rows/feedBook.ts';
import type { MarketRows } from '../../../backtest/rows/rows.ts';
import { moneyOf } from '../../../src/core/index.ts';
import { runSideBySide, type ReplayReport } from '../../../backtest/index.ts';
import type { ReplayAccount } from '../../../backtest/replay/replayAccount.ts';
import { runSeveralBooksJob } from '../../../backtest/app/severalBooks/severalBooksRun.ts';
import { openRows, replayOf, type Latencies } from '../../../backtest/app/backtest/backtestModel.ts';
import { runsOf } from '../../many.ts';
import {
  severalBooksConfig,
  severalBooksJob,
  severalBooksTapes,
  LATENCIES,
  runOf,
  type WantedBooks,
} from './severalBooksWorld.ts';

const BTC = { amount: '0.004', positionMax: '0.05' };
const ETH = { amount: '0.1', positionMax: '2' };
const RICH = { btc: '2', eth: '40', mxn: '4000000', usd: '200000' };

/** A report without what names or counts the whole account: ids of orders in the hash, requests, balances and capital. */
function bookOnly({ hash: _, requests: __, holdings: ___, capital: _____, series, ...rest }: ReplayReport) {
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

const latencyOf = (ms: number): Latencies => ({
  ...LATENCIES,
  orders: { kind: 'constant', ms },
  cancels: { kind: 'constant', ms },
  answers: { kind: 'constant', ms },
});

/** Fees that fall with every few fills, linearly in the volume. */
const MANY_TIERS = {
  tiers: Array.from({ length: 400 }, (_, i) => ({
    volume: String((i + 1) * 5_000),
    maker: (0.004 - i * 0.00001).toFixed(8),
    taker: '0.006',
  })),
  volume30d: '0',
};

describe('a replay of several books', () => {
  test('of one book is the replay of one book, to the digit', async () => {
    const config = severalBooksConfig({ books: { btc_mxn: BTC }, balances: RICH });
    const [tape] = severalBooksTapes(['btc_mxn'], 3, 120);
    const job = severalBooksJob(config, [tape!]);
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
        const tapes = severalBooksTapes(['btc_mxn', 'eth_usd'], seed, 120);
        const books = { btc_mxn: BTC, eth_usd: ETH };
        const config = severalBooksConfig({ books, balances: RICH });
        const job = severalBooksJob(config, tapes, { latencies: how, seed });
        const together = runOf(job);
        // The exchange locks an account out that sends more than 300 requests per minute, however many books send them.
        fc.pre(together.every(({ requests }) => requests.lockedOut === 0));
        const alone = Object.entries(books).map(([book, wanted], i) => {
          const one = severalBooksConfig({ books: { [book]: wanted }, balances: RICH });
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
        const tapes = severalBooksTapes(['btc_mxn', 'eth_mxn'], seed, 120);
        const poor: WantedBooks = {
          books: { btc_mxn: BTC, eth_mxn: ETH },
          balances: { btc: '0.006', eth: '0.15', mxn: '14000' },
        };
        const config = severalBooksConfig(poor);
        let now = -Infinity;
        const reports = runSeveralBooksJob(
          severalBooksJob(config, tapes, { latencies: how, seed }),
          undefined,
          account => {
            expect(account.now).toBeGreaterThanOrEqual(now);
            now = account.now;
            bound += assertReservedOnce(account, ['btc', 'eth', 'mxn']);
          },
        ).reports;
        fills += reports.reduce((sum, report) => sum + report.fills, 0);
        // The account ends with its opening balances plus the gains of each book.
        reports.forEach(({ inventory, holdings }, i) => {
          const major = ['btc', 'eth'][i]!;
          expect(moneyOf(holdings[major]!)).toBe(moneyOf(poor.balances[major]!) + moneyOf(inventory));
        });
      }),
      runsOf(60, 4),
    );
    expect(bound).toBeGreaterThan(100);
    expect(fills).toBeGreaterThan(10);
  });

  test('at one time, the events of an earlier book come first', () => {
    const config = severalBooksConfig({ books: { btc_mxn: BTC, eth_mxn: ETH }, balances: RICH });
    const job = severalBooksJob(config, severalBooksTapes(['btc_mxn', 'eth_mxn'], 5, 30));
    let first: readonly (string | undefined)[] = [];
    runSeveralBooksJob(job, undefined, ({ engine: { books } }) => {
      if (first.length === 0 && books.every(({ unfinished }) => unfinished.length > 0))
        first = books.map(({ unfinished }) => unfinished[0]?.id);
    });
    // Both books decide for the first time at the same time, so the first orders are of the first book.
    expect(first).toEqual(['desk-1-1', 'desk-1-5']);
  });

  test('shares one request budget: a book that requotes often leaves placements to a quiet one', () => {
    const books = { btc_mxn: { ...BTC, toleranceBps: 0.01 }, eth_mxn: ETH };
    const tapes = severalBooksTapes(['btc_mxn', 'eth_mxn'], 7, 300);
    const run = (privatePerMinute: number) => {
      const config = severalBooksConfig({ books, balances: RICH, privatePerMinute });
      return runOf(severalBooksJob(config, tapes));
    };
    const [busy, quiet] = run(70);
    const [busyAlone, quietAlone] = run(1_000);
    for (const { requests } of [busy!, quiet!]) expect(requests.mostPerMinute).toBeLessThanOrEqual(70);
    expect(busyAlone!.orders.placed).toBeGreaterThan(2 * quietAlone!.orders.placed);
    expect(busy!.orders.placed).toBeLessThan(1.5 * quiet!.orders.placed);
  });

  test('no market is read past a request that arrives at an exchange', () => {
    let [fills, halts] = [0, 0];
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.constantFrom(0, 1, 25, 500),
        fc.constantFrom('3', '30'),
        (seed, ms, lossMax) => {
          const config = severalBooksConfig({
            books: { btc_mxn: { ...BTC, lossMax }, eth_mxn: { ...ETH, lossMax }, eth_usd: { ...ETH, lossMax } },
            balances: RICH,
            halfSpreadBps: 3,
            decideEveryMs: 5_000,
          });
          const job = severalBooksJob(config, severalBooksTapes(['btc_mxn', 'eth_mxn', 'eth_usd'], seed, 40), {
            latencies: latencyOf(ms),
          });
          const books = job.books.map(book => ({ ...book, fees: MANY_TIERS }));
          // Fills of one book change the fees of the others.
          const { reports } = runSeveralBooksJob({ ...job, books }, undefined, (_, aheadMs) => expect(aheadMs).toBe(0));
          fills += reports.reduce((sum, report) => sum + report.fills, 0);
          halts += reports.filter(({ haltedBecause }) => haltedBecause !== null).length;
        },
      ),
      // In these examples a halt cancels orders earlier than anything that was due.
      {
        ...runsOf(200, 9),
        examples: [
          [6, 25, '3'],
          [8, 0, '3'],
          [25, 1, '3'],
        ],
      },
    );
    // The examples alone have both.
    expect(fills).toBeGreaterThan(0);
    expect(halts).toBeGreaterThan(0);
  });

  test('charges by the volume of all books in a quote currency', () => {
    const books = { btc_mxn: BTC, eth_mxn: ETH };
    const config = severalBooksConfig({ books, balances: RICH, halfSpreadBps: 3 });
    const job = severalBooksJob(config, severalBooksTapes(['btc_mxn', 'eth_mxn'], 4, 120));
    const together = runOf({ ...job, books: job.books.map(book => ({ ...book, fees: MANY_TIERS })) });
    const volumes = together.map(({ volume }) => Number(volume.minor));
    together.forEach(({ pnl }, i) => {
      const [own, other] = [volumes[i]!, volumes[1 - i]!];
      const rate = -Number(pnl.fees) / own;
      // The rate falls linearly, so the mean rate is that of half of the volume that counts.
      expect(rate).toBeLessThan(0.004 - 0.00001 * ((own + other / 2) / 2 / 5_000));
    });
    expect(Math.min(...volumes)).toBeGreaterThan(5_000);
  });

  test('a book decides on the newest prices of the others, if they matter to it', () => {
    const names = ['btc_mxn', 'eth_mxn', 'eth_usd'];
    const config = severalBooksConfig({
      books: { btc_mxn: BTC, eth_mxn: ETH, eth_usd: ETH },
      balances: RICH,
      more: 'jointInventory: { currency: mxn }\n',
    });
    const job = severalBooksJob(config, severalBooksTapes(names, 9, 60));
    const feeds = job.books.map(({ rows }) => new FeedBook(openRows(rows, job) as MarketRows));
    let [compared, equal] = [0, 0];
    runSeveralBooksJob(job, undefined, ({ now, engine: { books } }) => {
      if (now >= job.to || !books.some(({ decidesAt }) => decidesAt === now + 500)) return;
      books.forEach((book, i) => {
        feeds[i]!.hear(now);
        const bid = BigInt(feeds[i]!.book.best('buy')) * job.books[i]!.instrument.tickMoney;
        compared++;
        if (book.quotedPrices(now)?.bid === bid) equal++;
      });
    });
    expect(compared).toBeGreaterThan(300);
    // Levels that the bot's orders have consumed are hidden.
    expect(equal / compared).toBeGreaterThan(0.95);
  });

  test('a loss of one book halts all', () => {
    const config = severalBooksConfig({
      books: { btc_mxn: BTC, eth_mxn: { ...ETH, lossMax: '5' } },
      balances: RICH,
      halfSpreadBps: 1,
    });
    const reports = runOf(severalBooksJob(config, severalBooksTapes(['btc_mxn', 'eth_mxn'], 2, 300)));
    expect(reports[1]!.haltedBecause).toMatch(/^eth_mxn: drawdown: profit fell/);
    expect(reports[0]!.haltedBecause).toBe(reports[1]!.haltedBecause);
    expect(reports.map(({ left }) => left)).toEqual([0, 0]);
  });
});

/** Returns whether funds bind: orders of both books reserve most of a currency. */
function assertReservedOnce({ engine }: ReplayAccount, currencies: readonly string[]): number {
  let bound = 0;
  for (const currency of currencies) {
    let reserved = 0n;
    for (const book of engine.books) reserved += book.lockedSince(Infinity).get(currency) ?? 0n;
    const total = engine.account.total(currency) as bigint;
    if (reserved > total) throw new Error(`${reserved} of ${total} ${currency} are reserved`);
    if (reserved * 10n > total * 8n) bound++;
  }
  return bound;
}
