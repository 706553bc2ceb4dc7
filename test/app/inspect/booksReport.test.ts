/** Profit of a bot with three books: by book and together, exact, over hours, a kill and a restart. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { botStatusText } from '../../../src/app/actions/botStatusText.ts';
import {
  booksReportJson,
  booksReportText,
  ledgerReports,
  profitsTogether,
} from '../../../src/app/inspect/booksReport.ts';
import { adjust, ledger } from '../../../src/app/inspect/ledger.ts';
import { bookedTrade } from '../../../src/app/inspect/ledgerProfit.ts';
import { profitPage } from '../../../src/app/inspect/reportPage.ts';
import { pageParts } from '../../../src/wiring/outFiles.ts';
import type { PrintedProfit } from '../../../src/messages/shownProfit.ts';
import { money, moneyOf, pairOf, textOfMoney, VirtualClock, type Money } from '../../../src/core/index.ts';
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
    // The first run ends after the next UTC hour has begun.
    const world = worldOf(5, {}, 'desk', new VirtualClock(Date.UTC(2026, 0, 5, 10, 54)));
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
    const [counted = ''] = await ledger(dir, { entries: false, form: 'json' }, clock);
    expect(JSON.parse(counted)).toMatchObject({ entries: file.entries.length, waiting: 1 });
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
