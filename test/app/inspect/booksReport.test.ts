/** Profit of a bot with three books: by book and together, exact, over hours, a kill and a restart. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { botStatusText } from '../../../src/app/actions/botStatusText.ts';
import {
  booksReportJson,
  booksReportText,
  ledgerReports,
  profitsTogether,
} from '../../../src/app/inspect/booksReport.ts';
import { entryRows } from '../../../src/app/inspect/exportColumns.ts';
import { exportLedger, type LedgerExport } from '../../../src/app/inspect/exportLedger.ts';
import { adjust, ledger } from '../../../src/app/inspect/ledger.ts';
import { bookedTrade } from '../../../src/app/inspect/ledgerProfit.ts';
import type { ProfitReport } from '../../../src/app/inspect/profitReport.ts';
import { profitPage } from '../../../src/app/inspect/reportPage.ts';
import { pageParts } from '../../../src/wiring/outFiles.ts';
import type { PrintedProfit } from '../../../src/messages/shownProfit.ts';
import { counted, money, moneyOf, pairOf, textOfMoney, VirtualClock, type Money } from '../../../src/core/index.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { ledgerFileIn, type LedgerFile } from '../../../src/live/state/ledgerFile.ts';
import { doomed, restarted } from '../../live/crashes.ts';
import { Folders } from '../../live/states.ts';
import { worldOf, type World } from '../../live/world.ts';

const folders = new Folders();
const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));
afterAll(() => folders.clear());

const BOOKS = ['btc_mxn', 'eth_mxn', 'btc_usd'] as const;
const MINUTE = 60_000;
const UNIT = 10n ** 18n;

/** Profit of a book from its trades alone, at a mid price: the books begin at their targets, so all of it is traded. */
function profitByTrades({ entries }: LedgerFile, book: string, mid: string): Money {
  const [major, minor] = pairOf(book);
  const sums = { [major]: 0n, [minor]: 0n };
  for (const entry of entries)
    if (bookedTrade(entry)?.book === book)
      for (const { currency, amount } of entry.changes) if (currency in sums) sums[currency]! += amount;
  // Half ticks of the mid price and satoshis of the amounts: the product has no further digits.
  const product = sums[major]! * moneyOf(mid);
  expect(product % UNIT).toBe(0n);
  return money(sums[minor]! + product / UNIT);
}

type Json = {
  readonly profit: PrintedProfit;
  readonly others: readonly { readonly book: string; readonly profit: PrintedProfit }[];
  readonly together: Readonly<
    Record<
      string,
      {
        readonly books: readonly string[];
        readonly total: Readonly<Record<string, string>>;
        readonly profit: PrintedProfit;
      }
    >
  >;
};

/** Each surface asks for itself; all of them agree with each other, with the days, and with the trades of the ledger. */
async function agree(world: World, dir: string): Promise<void> {
  const clock = { ...realClock(), now: () => world.clock.now() };
  const reports = await ledgerReports(dir, {}, clock);
  expect(reports.map(({ book }) => book)).toEqual(BOOKS);
  const json = booksReportJson(reports) as Json;
  const profits = [json.profit, ...json.others.map(({ profit }) => profit)];
  const file = (await ledgerFileIn(dir, clock))!;
  const status = await botStatus(dir, clock);
  const [line = ''] = await ledger(dir, { entries: false, form: 'json' }, clock);
  const ofLedger = JSON.parse(line) as {
    readonly profit: PrintedProfit;
    readonly otherProfits: Json['others'];
    readonly together: Readonly<Record<string, PrintedProfit>>;
  };
  reports.forEach((report, i) => {
    const { book } = report;
    const profit = profits[i]!;
    expect(profit.run, book).not.toBeNull();
    expect([book, textOfMoney(report.total.net)]).toEqual([book, profit.total]);
    expect(report.total.net).toBe(report.days.reduce((sum, { net }) => sum + net, 0n));
    expect([book, textOfMoney(profitByTrades(file, book, profit.mid!))]).toEqual([book, profit.total]);
    const entries = file.entries.filter(entry => bookedTrade(entry)?.book === book);
    expect([book, report.total.fills]).toEqual([book, entries.length]);
    expect(profit.currency).toBe(pairOf(book)[1]);
    const [ofStatus, inLedger] =
      i === 0
        ? [status.profit, ofLedger.profit]
        : [status.otherProfits![i - 1]!.profit, ofLedger.otherProfits[i - 1]!.profit];
    expect([ofStatus, inLedger]).toEqual([profit, profit]);
  });
  expect([json.others, ofLedger.otherProfits, status.otherProfits!].map(all => all.map(({ book }) => book))).toEqual(
    [1, 2, 3].map(() => BOOKS.slice(1)),
  );
  const [btc, eth, usd] = profits.map(({ total }) => moneyOf(total));
  for (const together of [
    Object.fromEntries(Object.entries(json.together).map(([name, { profit }]) => [name, profit.total])),
    Object.fromEntries(Object.entries(json.together).map(([name, { total }]) => [name, total['net']])),
    Object.fromEntries(Object.entries(ofLedger.together).map(([name, { total }]) => [name, total])),
  ])
    expect(together).toEqual({ mxn: textOfMoney(money(btc! + eth!)), usd: textOfMoney(usd!) });
  const [mxn] = profitsTogether(reports);
  expect(mxn!.days.reduce((sum, { net }) => sum + net, 0n)).toBe(mxn!.total.net);
  expect(mxn!.books).toEqual(['btc_mxn', 'eth_mxn']);
}

describe('a bot with three books', () => {
  test('has the profit of each book and their sums, exact on every surface, and the hours of each are stored', async () => {
    // The first run ends after the next UTC day has begun.
    const midnight = Date.UTC(2026, 0, 6);
    const world = worldOf(5, {}, 'desk', new VirtualClock(midnight - 6 * MINUTE));
    worlds.push(world);
    const first = await doomed(world, folders);
    await world.clock.advance(5 * MINUTE);
    await agree(world, world.stateDir);
    await world.clock.advance(3 * MINUTE);
    const dir = first.kill();
    const second = await restarted(world, dir);
    await world.clock.advance(3 * MINUTE);
    const { failure, summary } = await second.stop();
    expect([failure, summary.ledgerMatches]).toEqual([null, true]);
    await agree(world, dir);
    const file = (await ledgerFileIn(dir, realClock()))!;
    const hours = [file.hours, ...file.otherBooks!.map(other => other.hours)];
    expect(hours.map(({ length }) => length)).toEqual([hours[0]!.length, hours[0]!.length, hours[0]!.length]);
    expect(hours[0]!.length).toBeGreaterThan(0);
    expect(new Set(hours.map(of => textOfMoney(of.at(-1)!.profit.total))).size).toBe(3);

    const clock = { ...realClock(), now: () => world.clock.now() };
    const reports = await ledgerReports(dir, {}, clock);
    // Each day is valued by the hours of its own book.
    for (const [i, { book, days }] of reports.entries()) {
      const evening = hours[i]!.findLast(hour => hour.at! < midnight)!;
      expect([book, days.map(({ net }) => net)]).toEqual([
        book,
        [evening.profit.total, reports[i]!.total.net - evening.profit.total],
      ]);
    }
    const out = join(folders.copyOf(dir), 'out.csv');
    const exported = async (asked: LedgerExport): Promise<readonly string[]> => {
      const summary = await exportLedger(dir, asked, out, clock);
      const rows = readFileSync(out, 'utf8').trimEnd().split('\n').slice(1);
      expect(summary).toBe(`${out}: ${counted(rows.length, 'row')} of ${asked.rows}`);
      return rows;
    };
    for (const book of BOOKS) {
      const rows = await exported({ rows: 'fills', book });
      expect(rows.map(row => row.split(',')[3])).toEqual(rows.map(() => book));
      expect(rows).toHaveLength(file.entries.filter(entry => bookedTrade(entry)?.book === book).length);
    }
    const [from, to] = [1, 2].map(third => file.entries[Math.floor((file.entries.length * third) / 3)]!.at) as [number, number]; // prettier-ignore
    const within = file.entries.filter(({ at }) => at >= from && at <= to);
    expect(within.length).toBeGreaterThan(2);
    expect(await exported({ rows: 'ledger', from, to, book: 'eth_mxn' })).toHaveLength(
      within.flatMap(entryRows).length,
    );
    const trades = within.filter(entry => bookedTrade(entry) !== null);
    expect(await exported({ rows: 'fills', from, to })).toHaveLength(trades.length);

    const text = booksReportText(reports).join('\n');
    for (const book of BOOKS) expect(text).toMatch(new RegExp(`^${book}, .*, in ${pairOf(book)[1]}$`, 'm'));
    expect(text).toMatch(/^mxn \(btc_mxn, eth_mxn\): \d+ fills, volume /m);
    expect(text).toMatch(/^usd \(btc_usd\): /m);
    const status = botStatusText(await botStatus(dir, clock), dir);
    expect(status.match(/^ +profit +[+-]\S+ (mxn|usd) since the opening/gm)).toHaveLength(3);
    // The rows of each book follow its name, and all of them have the same rows.
    const rows = status.split('\n').flatMap(row => /^ {2}(\S.{10})(.*)$/.exec(row)?.slice(1, 3) ?? []);
    const names = rows.filter((_, i) => i % 2 === 0).map(name => name.trim());
    const values = rows.filter((_, i) => i % 2 === 1);
    const OF_BOOK = ['book', 'regime', 'quotes', 'market', 'inventory', 'limits', 'fills', 'profit'];
    expect(names).toEqual(['held by', ...BOOKS.flatMap(() => OF_BOOK), 'actions']);
    expect(values.filter((_, i) => names[i] === 'book')).toEqual(BOOKS);
    const currencies = values.filter((_, i) => names[i] === 'profit').map(value => value.split(' ')[1]);
    expect(currencies).toEqual(BOOKS.map(book => pairOf(book)[1]));
    const lines = await ledger(dir, { entries: false, form: 'text' }, clock);
    for (const book of BOOKS) expect(lines.filter(line => line.startsWith(`${book}: profit `))).toHaveLength(1);
    expect(lines.filter(line => line.startsWith('all books in '))).toHaveLength(2);
    const page = profitPage(reports, pageParts());
    for (const book of BOOKS.slice(1)) expect(page).toContain(`>${book}</h2>`);
    await first.running.stop();
    await adjust(dir, { currency: 'btc', amount: '0.5', reason: 'a gift', by: 'ann' }, clock);
    const [printed = ''] = await ledger(dir, { entries: false, form: 'json' }, clock);
    expect(JSON.parse(printed)).toMatchObject({ entries: file.entries.length, waiting: 1 });
  });

  test('keeps the profit of a book that it no longer quotes in its reports', async () => {
    const world = worldOf(5, {}, 'desk');
    worlds.push(world);
    const first = await doomed(world, folders);
    await world.clock.advance(3 * MINUTE);
    const ended = await first.running.stop();
    expect(ended.left).toEqual([]);
    const clock = { ...realClock(), now: () => world.clock.now() };
    const before = await ledgerReports(world.stateDir, {}, clock);
    const second = await restarted(world, world.stateDir, {
      config: { ...world.config, books: world.config.books!.slice(0, 2) },
    });
    await world.clock.advance(2 * MINUTE);
    await second.stop();
    const after = await ledgerReports(world.stateDir, {}, clock);
    expect(after.map(({ book }) => book)).toEqual(BOOKS);
    expect(after[2]!.total).toEqual(before[2]!.total);
    expect(after[2]!.profit!.booked.profit).toEqual(before[2]!.profit!.booked.profit);
  });
});

const PARTS = ['volume', 'trading', 'fees', 'hedging', 'net'] as const;
const PROFIT = ['spread', 'inventory', 'fees', 'hedging', 'total'] as const;
type Sums = ProfitReport['total'];
const DAY_MS = 86_400_000;
const DAY_ONE = Date.UTC(2026, 10, 21);

/** Sums of which no two are equal but by chance, also those that a real report derives from each other. */
const anySums = fc
  .record({
    fills: fc.nat(1_000),
    sums: fc.array(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), { minLength: 5, maxLength: 5 }),
  })
  .map(({ fills, sums }): Sums => ({
    fills,
    ...(Object.fromEntries(PARTS.map((part, i) => [part, money(sums[i]!)])) as Omit<Sums, 'fills'>),
  }));
const anyProfit = fc
  .record({
    parts: fc.array(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), { minLength: 5, maxLength: 5 }),
    unknown: fc.constantFrom(null, null, null, 'a list is old'),
  })
  .map(({ parts, unknown }): ProfitReport['profit'] => ({
    ...{ run: null, unknown },
    booked: {
      ...{ since: DAY_ONE, at: DAY_ONE, twiceMid: null },
      profit: Object.fromEntries(PROFIT.map((part, i) => [part, money(parts[i]!)])) as never,
    },
  }));
const reportOf = (book: string, total: Sums, days: readonly (Sums & { readonly n: number })[], profit: unknown) => {
  const [major, minor] = pairOf(book);
  const none = { mark: null, marked: null, spread: null, inventoryGain: null, cut: null, booked: new Map() };
  return {
    ...{ book, major, minor, at: DAY_ONE, knownFrom: DAY_ONE, isFolded: false, leftOut: [], total, profit },
    days: days.map(({ n, ...sums }) => ({
      ...{ ...none, ...sums, from: DAY_ONE + n * DAY_MS, inventory: money(0n), cash: money(0n) },
    })),
  } as unknown as ProfitReport;
};
/** Books of a bot, the days of each in order; a book that was added later, or left, has other days. */
const anyReports = fc
  .uniqueArray(fc.constantFrom('btc_mxn', 'eth_mxn', 'btc_usd', 'eth_usd', 'sol_mxn'), { minLength: 2 })
  .chain(books =>
    fc.tuple(
      ...books.map(book =>
        fc
          .record({
            total: anySums,
            days: fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 4 }),
            sums: fc.array(anySums, { minLength: 4, maxLength: 4 }),
            profit: fc.oneof({ weight: 5, arbitrary: anyProfit }, fc.constant(null)),
          })
          .map(({ total, days, sums, profit }) =>
            reportOf(
              book,
              total,
              days.toSorted((a, b) => a - b).map((n, i) => ({ n, ...sums[i]! })),
              profit,
            ),
          ),
      ),
    ),
  );

describe('the reports of all books', () => {
  test('add up by quote currency, each figure and each day by itself, and a profit only of known ones', () => {
    fc.assert(
      fc.property(anyReports, reports => {
        const currencies: string[] = [];
        for (const { minor } of reports) if (!currencies.includes(minor)) currencies.push(minor);
        const found = profitsTogether(reports);
        expect(found.map(({ currency }) => currency)).toEqual(currencies);
        const json = booksReportJson(reports) as { readonly together: Record<string, object> };
        for (const { currency, books, total, days, profit } of found) {
          const own = reports.filter(({ minor }) => minor === currency);
          expect(books).toEqual(own.map(({ book }) => book));
          const expected: (Sums & { from: number })[] = [];
          for (let from = DAY_ONE; from < DAY_ONE + 10 * DAY_MS; from += DAY_MS) {
            const those = own.flatMap(report => report.days).filter(day => day.from === from);
            if (those.length === 0) continue;
            const sums = { from, fills: 0 } as unknown as Record<string, unknown>;
            for (const part of PARTS) sums[part] = those.reduce((sum, day) => sum + day[part], 0n);
            sums['fills'] = those.reduce((sum, { fills }) => sum + fills, 0);
            expected.push(sums as never);
          }
          expect(days).toEqual(expected);
          for (const part of PARTS)
            expect([part, total[part]]).toEqual([part, own.reduce((sum, report) => sum + report.total[part], 0n)]);
          expect(total.fills).toBe(own.reduce((sum, report) => sum + report.total.fills, 0));
          const isKnown = own.every(report => report.profit !== null && report.profit.unknown === null);
          const of = (part: (typeof PROFIT)[number]) =>
            own.reduce((sum, report) => sum + report.profit!.booked.profit[part], 0n);
          expect(profit).toEqual(isKnown ? Object.fromEntries(PROFIT.map(part => [part, of(part)])) : null);
          const texts = (sums: Sums) => ({
            fills: sums.fills,
            ...Object.fromEntries(PARTS.map(part => [part, textOfMoney(sums[part])])),
          });
          expect(json.together[currency]).toEqual({
            ...{ books, total: texts(total) },
            days: expected.map(day => ({ day: new Date(day.from).toISOString().slice(0, 10), ...texts(day) })),
            profit: profit && Object.fromEntries(PROFIT.map(part => [part, textOfMoney(profit[part])])),
          });
        }
      }),
      { numRuns: 60 },
    );
  });

  test('end with the sums as sentences, under the days of the book that has most', () => {
    const sums = (fills: number, ...parts: readonly string[]): Sums => ({
      fills,
      ...(Object.fromEntries(PARTS.map((part, i) => [part, moneyOf(parts[i]!)])) as Omit<Sums, 'fills'>),
    });
    const day = (n: number) => ({ n, ...sums(1, '1', '1', '1', '1', '1') });
    const none = money(0n);
    const profit = (total: string) => ({
      ...{ run: null, unknown: null },
      booked: {
        ...{ since: null, at: null, twiceMid: null },
        profit: { spread: none, inventory: none, fees: none, hedging: none, total: moneyOf(total) },
      },
    });
    const reports = [
      reportOf('btc_mxn', sums(2, '200', '20', '-2', '0', '18'), [day(1)], profit('7')),
      reportOf('eth_mxn', sums(3, '300', '30', '-3', '0.4', '27.4'), [day(0), day(1), day(2)], profit('0.5')),
      reportOf('btc_usd', sums(1, '90', '9', '-0.5', '0', '8.5'), [day(2)], null),
    ];
    const text = booksReportText(reports);
    expect(text.slice(text.lastIndexOf('All books, 2026-11-21 to 2026-11-23, by quote currency')).join('\n'))
      .toBe(`All books, 2026-11-21 to 2026-11-23, by quote currency

mxn (btc_mxn, eth_mxn): 5 fills, volume 500.00, trading 50.00, fees -5.00,
hedging 0.40, net 45.40; profit since the opening +7.50.

usd (btc_usd): 1 fill, volume 90.00000000, trading 9.00000000, fees -0.50000000,
net 8.50000000; the profit since the opening is unknown.`);
  });
});
