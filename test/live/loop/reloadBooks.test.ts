import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { money, moneyOf, textOfMoney, type WireReply, type WireRequest } from '../../../src/core/index.ts';
import { recordingsIn } from '../../../src/live/recording/recordings.ts';
import { RequestBox } from '../../../src/live/mailbox/mailbox.ts';
import { bookLatchIn } from '../../../src/live/safety/bookLatch.ts';
import { runsOf } from '../../many.ts';
import { doomed, restarted } from '../crashes.ts';
import type { Fate } from '../inProcess.ts';
import { Folders } from '../states.ts';
import { advanceUntil, type RunChanges, type World } from '../world.ts';
import { ReloadedBot } from './reloadedBot.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const ALL = ['btc_mxn', 'eth_mxn', 'btc_usd'];

type Tree = Record<string, unknown>;
type Entry = { symbol: string } & Record<string, Record<string, unknown>>;

/** The desk with these of its books, in this order; one book is written with the key `book`. */
function deskOf(text: string, symbols: readonly string[]): string {
  const { books, book: _, ...file } = parse(text) as Tree & { books: Entry[] };
  const entries = symbols.map(symbol => books.find(each => each.symbol === symbol)!);
  if (entries.length > 1) return stringify({ ...file, books: entries });
  const [{ symbol, ...sections }] = entries as [Entry];
  const { jointInventory: _joint, ...alone } = file;
  return stringify({ ...alone, ...sections, book: symbol });
}

/** A desk whose books can be changed. */
class Desk {
  readonly bot: ReloadedBot;
  readonly whole: string;

  constructor(seed: number) {
    this.bot = new ReloadedBot(seed, 'desk');
    this.whole = this.bot.text;
  }

  has(symbols: readonly string[]): void {
    this.bot.text = deskOf(this.whole, symbols);
  }

  /** Books in which the account has open orders, by the exchange. */
  quoted(): readonly string[] {
    const open = this.bot.world.other().get<{ book: string }[]>('GET', '/api/v3/open_orders');
    return [...new Set(open.map(({ book }) => book))].toSorted();
  }
}

async function deskWith(symbols: readonly string[], seed = 5, changes: RunChanges = {}): Promise<Desk> {
  const desk = new Desk(seed);
  desk.has(symbols);
  await desk.bot.start(changes);
  await advanceUntil(desk.bot.world.clock, SECOND, () => desk.quoted().length === symbols.length);
  return desk;
}

/** Base currency that the account's trades in a book have bought less what they sold, and its fees, as text. */
function boughtIn(world: World, book: string): string {
  const target = `/api/v3/user_trades?book=${book}&limit=100`;
  const trades = world.other().get<Record<'major' | 'fees_amount' | 'fees_currency', string>[]>('GET', target);
  const sum = trades.reduce((all, { major, fees_amount: fee, fees_currency: currency }) => {
    const charged = currency === book.split('_')[0] ? moneyOf(fee) : 0n;
    return all + moneyOf(major) - charged;
  }, 0n);
  return textOfMoney(money(sum));
}

/** Number of the account's trades in a book. */
const fillsIn = (world: World, book: string): number =>
  world.other().get<unknown[]>('GET', `/api/v3/user_trades?book=${book}&limit=100`).length;

/** Answer of the exchange to a request for its books, without one of them. */
function withoutBook(world: World, left: string): WireReply {
  const books = world.other().get<{ book: string }[]>('GET', '/api/v3/available_books');
  const payload = books.filter(({ book }) => book !== left);
  return { status: 200, headers: {}, body: JSON.stringify({ success: true, payload }) };
}

describe('a book that the exchange no longer lists', () => {
  test.each(['btc_mxn', 'eth_mxn'])(
    'keeps the other books from no cancel, reload or new recording, and is quoted again when listed: %s',
    async symbol => {
      let isDelisted = false;
      const desk = new Desk(9);
      const { bot } = desk;
      const { stateDir, clock } = bot.world;
      // A recording of three minutes.
      bot.change({ journal: { rollHours: 0.05 } });
      await bot.start({
        fate: ({ target }) =>
          isDelisted && target.includes('available_books') ? { instead: withoutBook(bot.world, symbol) } : 'arrives',
      });
      await advanceUntil(clock, SECOND, () => desk.quoted().length === ALL.length);
      isDelisted = true;
      await clock.advance(5 * MINUTE);
      const others = ALL.filter(each => each !== symbol).toSorted();
      const areQuoted = (symbols: readonly string[]) =>
        advanceUntil(clock, SECOND, () => desk.quoted().join() === symbols.join());
      for (const text of [`no longer lists ${symbol}`, `${symbol}: not quoting: book is not traded any more`])
        expect(bot.running.log.filter(line => line.text.includes(text)).length, text).toBeGreaterThan(0);
      const placed = () =>
        bot.running.arrived.filter(({ method, body }) => method === 'POST' && String(body).includes(symbol)).length;
      const placedBefore = placed();
      const before = recordingsIn(stateDir).at(-1)!.run;
      await clock.advance(4 * MINUTE);
      expect(recordingsIn(stateDir).at(-1)!.run).toBeGreaterThan(before);
      await areQuoted(others);

      const box = new RequestBox(stateDir, 'cancel', 'cancelAnswer');
      box.put({ id: 'c-1', at: clock.now(), by: 'ann', reason: 'a test' });
      await advanceUntil(clock, SECOND, () => box.answered()?.id === 'c-1');
      expect(box.answered()).toMatchObject({ end: 'gone' });
      await areQuoted(others);
      bot.change({ log: { level: 'debug' }, limits: { ordersMax: 9 } });
      const answer = await bot.ask();
      expect(answer.end, answer.lines.join('; ')).toBe('taken');
      expect(answer.lines).toContain('  then: none, book is not traded any more');
      await areQuoted(others);
      expect(placed()).toBe(placedBefore);
      isDelisted = false;
      await areQuoted(ALL.toSorted());
      await bot.end();
    },
  );
});

describe('a book whose changed rules allow no next run', () => {
  test.each([
    ['only its tick has changed', ['eth_mxn'], ['btc_mxn'], 'could not start, so the current run continues'],
    ['every tick has changed', ['eth_mxn', 'btc_mxn'], [], 'cannot start yet'],
  ] as const)(
    'leaves the others what they had, and a reload without it is applied: %s',
    async (_, changed, quoted, says) => {
      const desk = await deskWith(['btc_mxn', 'eth_mxn']);
      const { clock, box } = desk.bot.world;
      const { venue } = box.exchange;
      for (const book of changed) {
        const tickSize = `${2 * Number(venue.books.get(book)!.rules.tickSize)}`;
        venue.changeBook(book, { tickSize }, book === 'eth_mxn' ? { maker: '0.006', taker: '0.0078' } : undefined);
        await clock.advance(6 * MINUTE);
      }
      expect(desk.bot.running.log.filter(({ text }) => text.includes(says)).length).toBeGreaterThan(0);
      for (let s = 0; s < 20; s++) {
        expect(desk.quoted()).toEqual(quoted);
        await clock.advance(SECOND);
      }
      desk.has(['btc_mxn']);
      const answer = await desk.bot.ask();
      expect(answer.end, answer.lines.join('; ')).toBe('taken');
      await advanceUntil(clock, SECOND, () => desk.quoted().join() === 'btc_mxn');
      await desk.bot.end();
    },
  );
});

describe('a reload of a bot with several books', () => {
  test('adds a book, which is quoted from then on, and tells the quotes of this book', async () => {
    const desk = await deskWith(['btc_mxn', 'eth_mxn']);
    desk.has(ALL);
    const shown = await desk.bot.ask(true);
    expect(shown.end).toBe('shown');
    expect(shown.lines[0]).toBe('books.btc_usd: added; it is quoted from its stored state, if there is one');
    expect(shown.lines[1]).toBe('btc_usd:');
    expect(shown.lines.filter(line => /^ {2}(ask|bid) \d {2}- +\S+ at \d/.test(line))).toHaveLength(4);
    expect(shown.lines).not.toContain('eth_mxn:');
    const answer = await desk.bot.ask();
    expect(answer.end, answer.lines.join('; ')).toBe('taken');
    await desk.bot.world.clock.advance(20 * SECOND);
    expect(desk.quoted()).toEqual(ALL.toSorted());
    const notes = readFileSync(join(desk.bot.world.stateDir, 'reloads.jsonl'), 'utf8').trim().split('\n');
    expect(notes.map(line => JSON.parse(line) as object)).toMatchObject([
      { end: 'taken', changes: [{ key: 'books.btc_usd', from: null, takesEffect: 'reload' }], profit: null },
    ]);
    expect(desk.bot.running.log.filter(({ text }) => text.includes('cannot read the reload request'))).toEqual([]);
    const { summary } = await desk.bot.end();
    expect([summary, ...(summary.others ?? [])].map(({ book }) => book)).toEqual(ALL);
  });

  test('removes a book: its orders are gone, and the others go on', async () => {
    const desk = await deskWith(ALL);
    desk.has(['btc_mxn', 'btc_usd']);
    const answer = await desk.bot.ask();
    expect(answer.end, answer.lines.join('; ')).toBe('taken');
    expect(answer.lines[0]).toBe('books.eth_mxn: removed; its orders are canceled and verified, and its state is kept');
    expect(desk.quoted()).not.toContain('eth_mxn');
    await desk.bot.world.clock.advance(MINUTE);
    expect(desk.quoted()).toEqual(['btc_mxn', 'btc_usd']);
    await desk.bot.end();
  });

  test('changes a section of one book, and names the book', async () => {
    const desk = await deskWith(ALL);
    const { books, ...file } = parse(desk.whole) as Tree & { books: Entry[] };
    books[1]!['strategy']!['halfSpreadBps'] = 40;
    desk.bot.text = stringify({ ...file, books });
    const answer = await desk.bot.ask();
    expect(answer.end, answer.lines.join('; ')).toBe('taken');
    expect(answer.lines.slice(0, 2)).toEqual(['books.eth_mxn.strategy.halfSpreadBps: 16 -> 40', 'eth_mxn:']);
    await desk.bot.world.clock.advance(20 * SECOND);
    expect(desk.quoted()).toEqual(ALL.toSorted());
    await desk.bot.end();
  });

  test('goes from one book to several and back', async () => {
    const desk = await deskWith(['btc_mxn']);
    for (const symbols of [ALL, ['btc_mxn'], ['btc_mxn', 'eth_mxn'], ['btc_mxn']]) {
      desk.has(symbols);
      const answer = await desk.bot.ask();
      expect(answer.end, answer.lines.join('; ')).toBe('taken');
      await desk.bot.world.clock.advance(MINUTE);
      expect(desk.quoted()).toEqual(symbols.toSorted());
    }
    await desk.bot.end();
  });

  test.each([
    ['another first book', ['eth_mxn', 'btc_mxn'], /^book: "btc_mxn" -> "eth_mxn": the state directory is bound/],
    ['a book that is not traded', ['btc_mxn', 'eth_mxn', 'btc_usd'], /^book btc_usd is not traded at this exchange/],
  ] as const)('with %s is refused by name, and nothing moves', async (_, symbols, told) => {
    let isDelisted = false;
    const desk = await deskWith(['btc_mxn', 'eth_mxn'], 5, {
      fate: ({ target }) =>
        isDelisted && target.includes('available_books')
          ? { instead: withoutBook(desk.bot.world, 'btc_usd') }
          : 'arrives',
    });
    isDelisted = true;
    desk.has(symbols);
    const answer = await desk.bot.ask();
    expect(answer.end).toBe('kept');
    expect(
      answer.lines.find(line => told.test(line)),
      answer.lines.join('; '),
    ).toBeDefined();
    await desk.bot.world.clock.advance(10 * SECOND);
    expect(desk.quoted()).toEqual(['btc_mxn', 'eth_mxn']);
    await desk.bot.end();
  });

  test('that would halt an added or changed book is refused with the name of the book', async () => {
    const desk = await deskWith(['btc_mxn', 'eth_mxn']);
    const { length: runs } = recordingsIn(desk.bot.world.stateDir);
    const { books, ...file } = parse(desk.whole) as Tree & { books: Entry[] };
    for (const i of [1, 2]) {
      const changed = structuredClone(books).slice(0, 3 - (2 - i));
      changed[i]!['strategy'] = { ...(changed[i]!['strategy'] ?? (file['strategy'] as object)), amount: '0.00000001' };
      desk.bot.text = stringify({ ...file, books: changed });
      const answer = await desk.bot.ask();
      expect(answer.end).toBe('kept');
      expect(answer.lines[0]).toMatch(
        new RegExp(`^${changed[i]!.symbol}: the bot would (halt immediately|not quote): `),
      );
      expect(answer.lines).toHaveLength(2);
    }
    expect(recordingsIn(desk.bot.world.stateDir)).toHaveLength(runs);
    expect(desk.quoted()).toEqual(['btc_mxn', 'eth_mxn']);
    await desk.bot.end();
  });

  test('removes a book that the exchange no longer lists', async () => {
    let isDelisted = false;
    const desk = await deskWith(ALL, 9, {
      fate: ({ target }) =>
        isDelisted && target.includes('available_books')
          ? { instead: withoutBook(desk.bot.world, 'eth_mxn') }
          : 'arrives',
    });
    isDelisted = true;
    await desk.bot.world.clock.advance(5 * MINUTE);
    desk.has(['btc_mxn', 'btc_usd']);
    const answer = await desk.bot.ask();
    expect(answer.end, answer.lines.join('; ')).toBe('taken');
    await desk.bot.world.clock.advance(20 * SECOND);
    expect(desk.quoted()).toEqual(['btc_mxn', 'btc_usd']);
    await desk.bot.end();
  });

  test('waits while an order of a removed book is unknown, and is refused by name after two minutes', async () => {
    let fate = (_: WireRequest): Fate => 'arrives';
    const desk = await deskWith(ALL, 7, { fate: request => fate(request) });
    const { world } = desk.bot;
    const placesEth = ({ method, target, body }: WireRequest) =>
      method === 'POST' && target === '/api/v3/orders' && String(body).includes('eth_mxn');
    // Orders of this book arrive, but neither their answers nor any list or look-up of orders.
    let pausedAt = Infinity;
    let placedLater = 0;
    fate = request => {
      if (placesEth(request) && world.clock.elapsed() > pausedAt) placedLater++;
      return placesEth(request) ? 'unanswered' : /orders/.test(request.target) ? 'lost' : 'arrives';
    };
    for (const order of [...world.box.exchange.venue.accounts.get(world.box.account.id)!.active.values()])
      if (order.instrument.symbol === 'eth_mxn') world.box.exchange.venue.cancel(order);
    await world.clock.advance(20 * SECOND);
    desk.has(['btc_mxn', 'btc_usd']);
    // The bot has read the request, and requests in flight have arrived.
    pausedAt = world.clock.elapsed() + 5 * SECOND;
    const answer = await desk.bot.ask();
    expect([answer.end, placedLater]).toEqual(['kept', 0]);
    expect(answer.lines.join('; ')).toMatch(/eth_mxn: the outcome of an order stayed unknown for 120 s/);
    fate = () => 'arrives';
    await world.clock.advance(MINUTE);
    expect(desk.quoted()).toEqual(ALL.toSorted());
    expect((await desk.bot.ask()).end).toBe('taken');
    expect(desk.quoted()).not.toContain('eth_mxn');
    await desk.bot.end();
  });

  test('keeps the pause and the halt of a book over its removal and return', async () => {
    const desk = await deskWith(ALL);
    const { stateDir, clock } = desk.bot.world;
    bookLatchIn(stateDir, 'eth_mxn').setPause({ reason: 'wait', at: clock.now(), by: 'ann', until: null } as never);
    bookLatchIn(stateDir, 'btc_usd').set({ reason: 'enough', at: clock.now(), by: 'person' });
    await clock.advance(20 * SECOND);
    expect(desk.quoted()).toEqual(['btc_mxn']);
    for (const symbols of [['btc_mxn'], ALL]) {
      desk.has(symbols);
      const answer = await desk.bot.ask();
      expect(answer.end, answer.lines.join('; ')).toBe('taken');
      await clock.advance(MINUTE);
      expect(desk.quoted()).toEqual(['btc_mxn']);
    }
    await desk.bot.running.stop();
    desk.bot.world.end();
  });

  test('continues the inventory and profit of a book that returns', async () => {
    const desk = await deskWith(ALL, 7);
    const { stateDir, clock } = desk.bot.world;
    await clock.advance(5 * MINUTE);
    expect(boughtIn(desk.bot.world, 'eth_mxn')).not.toBe('0');
    desk.has(['btc_mxn']);
    expect((await desk.bot.ask()).end).toBe('taken');
    const then = boughtIn(desk.bot.world, 'eth_mxn');
    await clock.advance(5 * MINUTE);
    expect(boughtIn(desk.bot.world, 'eth_mxn')).toBe(then);
    desk.has(ALL);
    expect((await desk.bot.ask()).end).toBe('taken');
    await clock.advance(5 * MINUTE);
    const bought = boughtIn(desk.bot.world, 'eth_mxn');
    expect(bought).not.toBe(then);
    const { summary } = await desk.bot.running.stop();
    const { otherBooks = [] } = await botStatus(stateDir, clock);
    expect(otherBooks[0]!.recorded.inventory).toBe(boughtIn(desk.bot.world, 'eth_mxn'));
    expect(summary.others![0]!.fills).toBe(fillsIn(desk.bot.world, 'eth_mxn'));
    // The profit of all books is counted since the same opening of the ledger.
    expect(summary.others![0]!.profit!.since).toBe(summary.profit!.since);
    expect(summary.ledgerMatches).toBe(true);
    desk.bot.world.end();
  });

  test('that is killed at any request leaves no order, and books each fill once', async () => {
    const sets = [['btc_mxn'], ['btc_mxn', 'eth_mxn'], ['btc_mxn', 'btc_usd'], ALL];
    const anySet = fc.constantFrom(...sets);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 120 }),
        fc.boolean(),
        anySet,
        anySet,
        fc.nat(1_000),
        async (n, arrives, from, to, seed) => {
          const desk = new Desk(seed);
          const { world } = desk.bot;
          desk.has(from);
          let requests = 0;
          let isReloading = false;
          const { config } = desk.bot.read();
          const read = () => desk.bot.read();
          const source = { file: 'my.yaml', given: config, read, inspect: read };
          const fatal = () => (isReloading && ++requests === n ? (arrives ? 'arrives' : 'not sent') : null);
          const first = await doomed(world, folders, fatal, { config, source });
          await world.clock.advance(MINUTE);
          desk.has(to);
          isReloading = true;
          first.running.hangUp();
          for (let i = 0; first.left() === null && i < 60; i++) await world.clock.advance(SECOND);
          const dir = first.left() ?? first.kill();
          const second = await restarted(world, dir, { config: desk.bot.read().config });
          await world.clock.advance(3 * MINUTE);
          expect(desk.quoted(), second.log.map(({ text }) => text).join('\n')).toEqual(to.toSorted());
          const { summary, left, failure } = await second.stop();
          expect([left, failure, summary.ledgerMatches]).toEqual([[], null, true]);
          expect(desk.quoted()).toEqual([]);
          desk.has(ALL);
          const third = await restarted(world, dir, { config: desk.bot.read().config });
          await world.clock.advance(MINUTE);
          expect((await third.stop()).summary.ledgerMatches).toBe(true);
          const { run, otherBooks = [] } = await botStatus(dir, world.clock);
          const [btcMxn, eth, btcUsd] = [run!, ...otherBooks].map(({ recorded }) => moneyOf(recorded.inventory));
          expect(eth).toBe(moneyOf(boughtIn(world, 'eth_mxn')));
          // The first book with btc takes over the inventory of a removed book with btc.
          expect(btcMxn! + btcUsd!).toBe(moneyOf(boughtIn(world, 'btc_mxn')) + moneyOf(boughtIn(world, 'btc_usd')));
          expect(replay(dir, 'all', () => undefined)).toBe(true);
          await first.running.stop();
          world.end();
        },
      ),
      runsOf(30, 2),
    );
  });
});
