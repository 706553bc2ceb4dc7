/** The console of a bot with three books: each page shows its own book, the desk shows all, and an action reaches the chosen book. */
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import { readBot } from '../../../src/app/actions/botReads.ts';
import { botStatus, type BotStatus } from '../../../src/app/actions/botStatus.ts';
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import { BesideRun } from '../../../src/app/console/besideRun.ts';
import { actionEvents, consoleActions } from '../../../src/app/console/consoleActions.ts';
import { consoleApi } from '../../../src/app/console/consoleApi.ts';
import { ConsoleReplayer } from '../../../src/app/console/consoleReplayer.ts';
import { botOfPast, consoleView } from '../../../src/app/console/consoleView.ts';
import { deskOf } from '../../../src/app/console/deskOf.ts';
import { KeptLongHistory } from '../../../src/app/console/keptLongHistory.ts';
import { LiveRun } from '../../../src/app/console/liveRun.ts';
import { bookedTrade } from '../../../src/app/inspect/ledgerProfit.ts';
import type { ActionRequest, ConsoleView, DeskView, LongHistory } from '../../../src/console/index.ts';
import { money, moneyOf, textOfMoney } from '../../../src/core/index.ts';
import { ledgerFileIn } from '../../../src/live/state/ledgerFile.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { doomed, restarted } from '../../live/crashes.ts';
import { Folders } from '../../live/states.ts';
import { started, worldOf, type Running, type World } from '../../live/world.ts';
import { textOf } from './pageText.ts';

const folders = new Folders();
const BOOKS = ['btc_mxn', 'eth_mxn', 'btc_usd'] as const;
const MINUTE = 60_000;
const nothing = (): void => undefined;
/** Limits of both base currencies, which an engine of one book has only in part. */
const LIMITED = { accountLimits: { currencies: { btc: '0.5', eth: '5' } } };

let world: World;
let dir: string;
let second: Running;
let live: LiveRun;
let status: BotStatus;
let desk: DeskView;
let views: ReadonlyMap<string, ConsoleView>;
/** Trades of the bot in each book, as the exchange has them. */
let traded: ReadonlyMap<string, readonly { readonly price: string; readonly major: string; readonly oid: string }[]>;

beforeAll(async () => {
  world = worldOf(5, LIMITED, 'desk');
  const first = await doomed(world, folders);
  await world.clock.advance(8 * MINUTE);
  dir = first.kill();
  await world.clock.advance(MINUTE);
  second = await restarted(world, dir);
  await world.clock.advance(8 * MINUTE);
  await first.running.stop();
  live = new LiveRun(dir, world.clock);
  live.start();
  while (live.catchingUp !== null || live.replay === null) await world.clock.advance(0);
  const outside = { bot: botOfPast('running'), runs: live.runs, catchingUp: null, budgets: null, note: null };
  const view = (book: string) =>
    consoleView(live.replay!, { ...outside, kind: 'live', events: [], ledger: null }, book)!;
  views = new Map(BOOKS.map(book => [book, view(book)]));
  status = await botStatus(dir, world.clock);
  desk = deskOf(live.replay, { ...outside, events: [] })!;
  traded = new Map(BOOKS.map(book => [book, world.other().get('GET', `/api/v3/user_trades?book=${book}&limit=100`)]));
}, 600_000);

afterAll(async () => {
  live.stop();
  await second.stop();
  world.end();
  folders.clear();
});

const actionsOf = () =>
  consoleActions(
    { stateDir: dir },
    world.clock,
    () => false,
    async ask => (await previewAction({ stateDir: dir }, ask, world.clock)).lines,
  );
const request = (change: Partial<ActionRequest>): ActionRequest => ({
  ...{ action: 'pause', reason: 'odd fills', by: 'Ana', minutes: null, costMax: null },
  ...change,
});
/** Open orders of the account by book, as the exchange has them. */
const openIn = (book: string): number =>
  world
    .other()
    .get<{ book: string }[]>('GET', '/api/v3/open_orders')
    .filter(order => order.book === book).length;

describe('the page of a book', () => {
  test.each(BOOKS)('has the long history of %s alone, and names the books that it leaves out', async book => {
    const beside = new BesideRun({ ...world.config, state: { dir } }, world.clock);
    await beside.readLedger();
    const long = new KeptLongHistory(live, beside, () => []);
    const shown = JSON.parse(long.text(book)!) as LongHistory;
    const own = traded.get(book)!;
    const fills = shown.opening.points.reduce((sum, point) => sum + (point[8] ?? 0) + (point[10] ?? 0), 0);
    expect(fills).toBe(own.length);
    const others = BOOKS.filter(other => other !== book);
    expect(shown.missing).toContainEqual(expect.stringMatching(new RegExp(`${book}, without ${others.join(', ')}\\.`)));
    expect(JSON.parse(long.text(undefined)!)).toEqual(JSON.parse(long.text(BOOKS[0])!));
    expect(long.text('ltc_mxn')).toBeNull();
  });

  test.each(BOOKS)('has the fills of %s and of no other, over a kill and a restart', book => {
    const shown = views.get(book)!;
    const own = traded.get(book)!;
    expect(own.length).toBeGreaterThan(0);
    const amountOf = ({ price, amount }: { price: string; amount: string }) =>
      `${textOfMoney(moneyOf(amount))} at ${textOfMoney(moneyOf(price))}`;
    const known = own.map(({ price, major }) => amountOf({ price, amount: major.replace('-', '') }));
    expect(shown.fills.last.map(amountOf).toSorted()).toEqual(known.slice(0, shown.fills.last.length).toSorted());
    expect(shown.fills.count).toBe(own.length);
    expect([shown.book, shown.books]).toEqual([book, BOOKS]);
  });

  test('has the figures of puntas status for this book', () => {
    const { run, otherBooks = [], profit, otherProfits = [] } = status;
    const profits = [profit, ...otherProfits.map(each => each.profit)];
    [run!, ...otherBooks].forEach((each, i) => {
      const shown = views.get(each.book)!;
      expect([shown.position, shown.decision.regime.regime]).toEqual([each.inventory.fromTarget, each.regime.regime]);
      expect(shown.profit).toMatchObject({ total: profits[i]!.total, currency: profits[i]!.currency });
      expect(shown.orders.length).toBeGreaterThanOrEqual(each.bids!.length + each.asks!.length);
    });
    expect(new Set(BOOKS.map(book => views.get(book)!.profit!.total)).size).toBe(3);
  });

  test('has its own chart, and the past of its own book', async () => {
    const replayer = new ConsoleReplayer(
      { config: { ...world.config, state: { dir } }, bot: { stateDir: dir } },
      world.clock,
    );
    const at = live.runs.at(-1)!.from + 4 * MINUTE;
    for (const book of BOOKS) {
      const text = await replayer.past(
        { at, runs: live.runs, logins: [], book },
        new AbortController().signal,
        () => undefined,
      );
      const { view, history } = JSON.parse(text) as { view: ConsoleView; history: { fills: number[][] } };
      expect([view.book, view.kind]).toEqual([book, 'past']);
      expect(view.fills.count).toBeLessThanOrEqual(views.get(book)!.fills.count!);
      expect(history.fills).toHaveLength(view.fills.count!);
      const whole = live.replay!.now!.books.find(each => each.book.symbol === book)!.history.shown.fills;
      expect(whole.slice(0, history.fills.length)).toEqual(history.fills);
    }
    replayer.close();
  });

  test('has the profit by hour of its own trades, whichever page is asked for first', async () => {
    const ledger = (await ledgerFileIn(dir, realClock()))!;
    const outside = { bot: botOfPast('running'), runs: live.runs, catchingUp: null, budgets: null, note: null };
    for (const book of BOOKS) {
      const view = consoleView(live.replay!, { ...outside, kind: 'live', events: [], ledger }, book)!;
      const booked = ledger.entries.filter(entry => bookedTrade(entry)?.book === book).length;
      expect(view.hours.reduce((sum, { fills }) => sum + fills, 0)).toBe(booked);
      expect(booked).toBeGreaterThan(0);
    }
  });

  test('does not exist for a book that the bot does not quote', () => {
    const outside = { bot: botOfPast('running'), runs: live.runs, catchingUp: null, budgets: null, note: null };
    expect(consoleView(live.replay!, { ...outside, kind: 'live', events: [], ledger: null }, 'xrp_mxn')).toBeNull();
  });
});

describe('the desk', () => {
  test('has the figures of every page, each fill in its book, and sums that are exact', () => {
    expect(desk.books.map(({ book }) => book)).toEqual(BOOKS);
    for (const row of desk.books) {
      const view = views.get(row.book)!;
      expect(row).toMatchObject({
        ...{ position: view.position, profit: view.profit!.total, fills: view.fills.count },
        ...{ regime: view.decision.regime.regime, market: view.decision.market, uptime: view.uptime },
      });
      const best = (side: 'bid' | 'ask') => view.orders.filter(order => order.side === side).map(({ price }) => price);
      expect(best('bid').map(Number)).toContain(Number(row.bid));
      expect(Math.max(...best('bid').map(Number))).toBe(Number(row.bid));
      expect(Math.min(...best('ask').map(Number))).toBe(Number(row.ask));
    }
    // Each figure of a row is that of its page, where two figures of one type are never equal in all books.
    for (const row of desk.books) {
      const { major, minor, strategy, profit, limits, orders, decision } = views.get(row.book)!;
      expect(row).toMatchObject({ base: major, quote: minor, strategy, runProfit: profit!.run!.total });
      expect(row.limit).toEqual(limits.toSorted((a, b) => b.share - a.share)[0]);
      expect(row.positionMax).toBe(limits.find(({ limit }) => limit === 'positionMax')!.max);
      const live = orders.filter(({ state }) => state === 'open' || state === 'partially filled');
      const count = (side: string) => live.filter(order => order.side === side).length;
      expect(row.orders).toEqual({ bid: count('bid'), ask: count('ask') });
      const [bid, ask] = [decision.market.bid, decision.market.ask].map(Number) as [number, number];
      expect(Number(row.mid)).toBeCloseTo((bid + ask) / 2, 6);
      expect(row.spreadBps!).toBeCloseTo(((ask - bid) / Number(row.mid)) * 10_000, 6);
      expect(row.quotedBps!).toBeCloseTo(((Number(row.ask) - Number(row.bid)) / Number(row.mid)) * 10_000, 6);
    }
    for (const shown of [desk.fills, desk.events])
      expect(shown.map(({ at }) => at)).toEqual(shown.map(({ at }) => at).toSorted((a, b) => b - a));
    expect(desk.fills).toHaveLength(
      Math.min(
        20,
        desk.books.reduce((all, { fills }) => all + Math.min(10, fills!), 0),
      ),
    );
    for (const fill of desk.fills) {
      const { book, ...rest } = fill;
      expect(views.get(book)!.fills.last).toContainEqual(rest);
    }
    expect(new Set(desk.fills.map(({ book }) => book)).size).toBeGreaterThan(1);
    const sum = (texts: readonly (string | null)[]) =>
      textOfMoney(money(texts.reduce((all, text) => all + moneyOf(text!), 0n)));
    const own = (of: string) => desk.books.filter(({ base }) => base === of).map(({ position }) => position);
    const currency = (name: string) => desk.currencies.find(each => each.currency === name)!;
    expect(currency('btc')).toMatchObject({ fromTarget: sum(own('btc')), books: ['btc_mxn', 'btc_usd'] });
    expect(currency('mxn')).toMatchObject({ fromTarget: null, books: [] });
    const { run } = status;
    for (const { currency: name, held } of desk.currencies) expect(held).toBe(run!.holdings![name]);
    expect(desk.profits.map(each => each.currency)).toEqual(['mxn', 'usd']);
    for (const { currency: quote, total, run: ofRun, books } of desk.profits) {
      const rows = desk.books.filter(row => row.quote === quote);
      expect([total, ofRun, books]).toEqual([
        ...[sum(rows.map(({ profit }) => profit)), sum(rows.map(({ runProfit }) => runProfit))],
        rows.length,
      ]);
    }
  });

  test('is shown with each figure, its book and its currency, and with unknown figures as such', async () => {
    Object.assign(globalThis, { preact: createRequire(import.meta.url)('preact') as object });
    const page = await import('../../../src/console/page/deskPanel.ts');
    const text = (node: unknown) => textOf(node).replaceAll(/\s+/g, ' ').trim();
    const table = text(page.deskTable(desk));
    for (const { book, bid, ask } of desk.books)
      for (const each of [book.replace('_', ' / ').toUpperCase(), bid!, ask!]) expect(table).toContain(each);
    expect(text(page.deskProfits(desk))).toMatch(/^mxn, 2 books[-+]?[\d,.]+, .* usd, 1 book/);
    expect(text(page.deskHead(desk, true))).toContain('3 books');
    const [first, ...others] = desk.books;
    const unknown: DeskView = {
      ...desk,
      books: [
        {
          ...first!,
          ...{ position: null, profit: null, runProfit: null, fills: null, bid: null, unknown: 'a trade is unread' },
          halts: [{ book: 'btc_mxn', what: 'halted', reason: 'the reason', at: 1, by: 'Ana', until: null }],
        },
        ...others,
      ],
      profits: [{ currency: 'mxn', books: 2, total: null, run: null }],
      currencies: [{ currency: 'btc', held: null, fromTarget: null, books: ['btc_mxn', 'btc_usd'] }],
    };
    expect(text(page.deskWarnings(unknown))).toMatch(
      /^halted btc_mxn by Ana at .*: the reason unknown figures of btc_mxn: a trade is unread$/,
    );
    expect(text(page.deskProfits(unknown))).toBe('mxn, 2 booksunknown');
    expect(text(page.deskCurrencies(unknown))).toMatch(/btc – unknown 2$/);
    expect(text(page.deskTable(unknown))).not.toMatch(/NaN|undefined|null|Infinity/);
    expect(page.bookLinks(undefined, null)).toBeNull();
    expect(text(page.bookLinks(BOOKS, 'eth_mxn'))).toBe('all booksBTC / MXNETH / MXNBTC / USD');
  });
});

test('the page of a book names this book for actions also before its first view', async () => {
  vi.stubGlobal('preact', createRequire(import.meta.url)('preact'));
  const { State } = await import('../../../src/console/page/state.ts');
  const state = (book: string | null) => new State(nothing, nothing, () => 0, book);
  expect([state('eth_mxn').books, state(null).books]).toEqual([['eth_mxn'], undefined]);
  const seen = state('btc_usd');
  [seen.live] = [views.get('btc_usd')!];
  expect(seen.books).toEqual(BOOKS);
  const one = state('btc_usd');
  const { books: _, ...alone } = views.get('btc_usd')!;
  one.live = alone;
  expect(one.books).toBeUndefined();
  vi.unstubAllGlobals();
});

describe('an action', () => {
  test('on one book reaches this book only; on all books it reaches all', async () => {
    const prepared = await actionsOf().prepare(request({ book: 'eth_mxn' }), () => undefined);
    expect(prepared.lines.join('\n')).toContain('quotes of eth_mxn, one of 3 books:');
    expect(await prepared.execute()).toMatchObject({ end: 'done' });
    await world.clock.advance(10_000);
    expect(BOOKS.map(book => openIn(book) > 0)).toEqual([true, false, true]);
    expect(actionsIn(dir).at(-1)).toMatchObject({ action: 'pause', book: 'eth_mxn', via: 'console', end: 'done' });
    // The preview of a resume makes an engine of one book, beside limits of other currencies.
    const resume = await actionsOf().prepare(request({ action: 'resume', book: 'eth_mxn' }), () => undefined);
    expect(resume.lines.join('\n')).toMatch(/bid 1 +- +0\.1/);
    const beside = new BesideRun({ ...world.config, state: { dir } }, world.clock, actionEvents(dir));
    expect(beside.bot(null, 'eth_mxn').halts).toMatchObject([{ what: 'paused', book: 'eth_mxn' }]);
    expect(beside.bot(null, 'btc_mxn').halts).toEqual([]);
    expect(
      beside
        .events('btc_mxn')
        .map(({ text }) => text)
        .join(),
    ).not.toContain('eth_mxn');
    expect(beside.events('eth_mxn').map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/^pause eth_mxn in the console: odd fills$/),
    );
    expect(await resume.execute()).toMatchObject({ end: 'done' });
    await world.clock.advance(30_000);
    expect(BOOKS.map(book => openIn(book) > 0)).toEqual([true, true, true]);
    const all = await actionsOf().prepare(request({}), () => undefined);
    await all.execute();
    await world.clock.advance(10_000);
    expect(BOOKS.map(openIn)).toEqual([0, 0, 0]);
    await (await actionsOf().prepare(request({ action: 'resume' }), () => undefined)).execute();
    await world.clock.advance(30_000);
    expect(BOOKS.map(book => openIn(book) > 0)).toEqual([true, true, true]);
  });

  test('that cannot be on one book, or names none of the bot, is refused by name', async () => {
    const { prepare } = actionsOf();
    const asked = (change: Partial<ActionRequest>) => prepare(request(change), () => undefined);
    await expect(asked({ action: 'cancel', book: 'eth_mxn' })).rejects.toThrow(/^cancel: applies to the whole bot/);
    await expect(asked({ action: 'reload', book: 'eth_mxn' })).rejects.toThrow(/^reload: applies to the whole bot/);
    await expect(asked({ book: 'xrp_mxn' })).rejects.toThrow(
      /expected a book of this bot \(btc_mxn, eth_mxn, btc_usd\)/,
    );
  });

  test('of the API is another request if only the book differs, also after a restart', async () => {
    const work = {
      read: async () => '',
      preview: async () => [],
      proposalPreview: async () => [],
      summary: () => null,
      events: () => [],
    };
    const api = () => consoleApi({ stateDir: dir }, world.clock, true, work).act!;
    const act = api();
    const reduce = request({ action: 'reduce', book: 'btc_usd' });
    expect(await act(reduce, 'desk-0001')).toMatchObject({ end: 'done', isRepeated: false });
    for (const again of [act, api()]) {
      expect(await again({ ...reduce, book: 'btc_mxn' }, 'desk-0001')).toBe('other request');
      expect(await again(request({ action: 'reduce' }), 'desk-0001')).toBe('other request');
      expect(await again(reduce, 'desk-0001')).toMatchObject({ isRepeated: true });
    }
    await act(request({ action: 'resume', book: 'btc_usd' }), 'desk-0002');
  });
});

test('reads of the API answer for one book as if it were the only one', async () => {
  const read = async <T>(ask: Parameters<typeof readBot>[1]): Promise<T> =>
    JSON.parse(await readBot({ stateDir: dir }, ask, realClock())) as T;
  type Status = { run: { book: string }; profit: { currency: string }; otherBooks?: unknown; otherProfits?: unknown };
  for (const book of BOOKS) {
    const status = await read<Status>({ what: 'status', as: 'json', book });
    expect([status.run.book, status.profit.currency]).toEqual([book, book.split('_')[1]]);
    expect([status.otherBooks, status.otherProfits]).toEqual([undefined, undefined]);
    const explained = await read<{ book: string }>({ what: 'explain', as: 'json', at: null, book });
    expect(explained.book).toBe(book);
    const fills = await read<{ book: string }[]>({ what: 'fills', as: 'json', max: 1_000, book });
    expect(fills.length).toBeGreaterThanOrEqual(traded.get(book)!.length);
    expect(new Set(fills.map(each => each.book))).toEqual(new Set([book]));
    const report = await read<{ book: string; others?: unknown }>({ what: 'report', as: 'json', days: {}, book });
    expect([report.book, report.others]).toEqual([book, undefined]);
  }
  const all = await read<Status>({ what: 'status', as: 'json' });
  expect([all.run.book, all.otherBooks]).toMatchObject(['btc_mxn', [{ book: 'eth_mxn' }, { book: 'btc_usd' }]]);
  for (const what of ['status', 'explain', 'report'] as const)
    await expect(
      readBot({ stateDir: dir }, { what, as: 'json', at: null, days: {}, book: 'xrp_mxn' } as never, realClock()),
    ).rejects.toThrow(/expected a book of (?:this bot|run \d+) \(btc_mxn, eth_mxn, btc_usd\)/);
});

test('a run with one book is not changed by its symbol', async () => {
  const one = worldOf(7);
  const running = await started(one);
  await one.clock.advance(2 * MINUTE);
  const seen = new LiveRun(one.stateDir, one.clock);
  seen.start();
  while (seen.catchingUp !== null || seen.replay === null) await one.clock.advance(0);
  const outside = { bot: botOfPast('running'), runs: seen.runs, catchingUp: null, budgets: null, note: null };
  const view = (book?: string) =>
    consoleView(seen.replay!, { ...outside, kind: 'live', events: [], ledger: null }, book);
  expect(view('btc_mxn')).toEqual(view());
  expect(view()).not.toHaveProperty('books');
  seen.stop();
  await running.stop();
  one.end();
});
