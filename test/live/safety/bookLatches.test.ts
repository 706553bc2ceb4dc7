/** Latches of single books beside those of the whole bot: what the engine has after each look, for any order of commands. */
import fc from 'fast-check';
import fs, { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { holdersOf } from '../../../src/app/inspect/botLife.ts';
import { resume } from '../../../src/app/actions/reduceAndResume.ts';
import { Engine, moneyOf, OrderBook, VirtualClock, type EngineEvent } from '../../../src/core/index.ts';
import { bookLatchIn, booksWithLatches, bookStopsIn } from '../../../src/live/safety/bookLatch.ts';
import { latchIn, retryingLatch, type Halt, type Latch } from '../../../src/live/safety/latch.ts';
import { LatchWatch } from '../../../src/live/safety/latchWatch.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { runsOf } from '../../many.ts';
import { memoryLog } from '../../memoryLog.ts';
import { PATIENCE, quoteAround } from '../../core/toyExchange.ts';
import { plain } from '../../core/market.ts';

const BOOKS = ['btc_mxn', 'eth_mxn', 'btc_usd'] as const;
const AT = 1_767_225_700_000;
const dir = mkdtempSync(join(tmpdir(), 'puntas-books-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
beforeEach(() => rmSync(dir, { recursive: true, force: true }));

type Where = (typeof BOOKS)[number] | null;
const said = (reason: string): Halt => ({ reason, at: AT, by: 'person', who: 'ann' });
const latchOf = (book: Where) => (book === null ? latchIn(dir) : bookLatchIn(dir, book));

/** Inventory of a book that has a target, in lots beyond it: each tick that its price falls loses as much. */
const INVENTORY = 50;
const [SOFT_LIMIT, HARD_LIMIT] = [50, 1_000];
const NEVER = 1_000_000;
const halts = {
  ...{ drawdownMax: moneyOf(`${HARD_LIMIT}`), dayLossMax: moneyOf('1000000000') },
  ...{ fillsPer10Min: NEVER, refusalsPerMinute: NEVER, unknownsPerMinute: NEVER, messagesPerMinute: NEVER },
};
const regimes = { leaveShare: 0.8, calmMs: 0, wide: null, reduceOnly: { drawdown: moneyOf(`${SOFT_LIMIT}`) } };
/** Books that can lose: the others have no inventory. */
const LOSING = ['btc_mxn', 'eth_mxn'] as const;

/** A run's engine and its watch over the latches, as a process has them. */
function botWith(account: Latch = latchIn(dir), symbols: readonly string[] = BOOKS) {
  const events: EngineEvent[] = [];
  const engine = new Engine(
    {
      ...{ instance: 'mm', run: 1, timing: PATIENCE },
      onNews: (news, symbol) => {
        if (news.kind !== 'halted' || bookLatchIn(dir, symbol ?? '').read()?.reason === news.reason) return;
        account.set({ reason: news.reason, at: AT, by: 'bot' });
      },
    },
    symbols.map(symbol => {
      const [major = '', minor = ''] = symbol.split('_');
      const instrument = { ...plain, symbol, major, minor };
      const target = (LOSING as readonly string[]).includes(symbol) ? (100 as never) : null;
      return { instrument, strategy: quoteAround(2), limits: null, tolerance: null as never, target, halts, regimes };
    }),
  );
  const step = (event: EngineEvent) => {
    events.push(event);
    engine.step(event);
  };
  const prices = new Map(symbols.map(symbol => [symbol, 500_000]));
  /** Shows the market of a book `ticks` lower. */
  const fall = (symbol: string, ticks: number) => {
    const mid = prices.get(symbol)! - ticks;
    prices.set(symbol, mid);
    const book = new OrderBook();
    book.set('buy', (mid - 1) as never, 1_000 as never);
    book.set('sell', (mid + 1) as never, 1_000 as never);
    step({ kind: 'book', symbol, at: AT, startedAt: null, book });
    step({ kind: 'timer', at: AT });
  };
  const total = `${100 + INVENTORY}`;
  const balances = ['btc', 'eth', 'mxn', 'usd'].map(currency => ({ currency, total, locked: '0', available: total }));
  step({ kind: 'balances', at: AT, startedAt: AT, quiet: true, balances });
  for (const symbol of symbols) fall(symbol, 0);
  events.length = 0;
  const { log } = memoryLog();
  const run = { clock: new VirtualClock(), log, time: () => AT, step };
  const watch = new LatchWatch(run, engine, account, symbol => retryingLatch(bookLatchIn(dir, symbol), log));
  watch.begin();
  watch.look(false);
  return { engine, events, step, watch, fall };
}

/** States of each book by the engine: halted, reduce-only, and the reason of its pause. */
const statesOf = ({ books }: Engine) =>
  books.map(book => ({
    book: book.symbol,
    halted: book.haltedBecause !== null,
    reduces: book.reducingBecause !== null,
    paused: book.pausedBecause,
  }));

/** The same by the files, and by the books that a reload is to remove. */
const latched = (leaving: readonly string[] = []) =>
  BOOKS.map(book => {
    const [whole, own] = [latchIn(dir), bookLatchIn(dir, book)];
    const paused = (whole.readPause() ?? own.readPause())?.reason ?? null;
    return {
      book,
      halted: (whole.read() ?? own.read()) !== null,
      reduces: (whole.readReduce() ?? own.readReduce()) !== null,
      paused: leaving.includes(book) ? 'the configuration no longer has this book' : paused,
    };
  });

const where = fc.constantFrom(null, ...BOOKS);
const op = fc.record({
  what: fc.constantFrom(
    ...['halt', 'pause', 'reduce', 'resume', 'losses', 'a loss that halts', 'restart', 'places'],
    ...['a fall', 'a fall and a resume', 'a crash', 'leaves or stays', 'nearly leaves'],
  ),
  book: where,
});

describe('stops of single books and of the whole bot', () => {
  test('are in the engine after every look, each in its books alone, and a restart changes none', () => {
    fc.assert(
      fc.property(fc.array(op, { maxLength: 14 }), ops => {
        rmSync(dir, { recursive: true, force: true });
        latchIn(dir).set(said('the first'));
        resume({ stateDir: dir }, 'the first', AT, 'ann');
        let bot = botWith();
        let leaving: readonly string[] = [];
        let n = 0;
        for (const { what, book } of ops) {
          const reason = `${what} ${++n}`;
          const before = bot.events.length;
          const others = statesOf(bot.engine).filter(each => each.book !== book);
          const symbol = book ?? 'eth_mxn';
          if (what === 'halt') latchOf(book).set(said(reason));
          if (what === 'pause') latchOf(book).setPause({ ...said(reason), until: null });
          if (what === 'reduce') latchOf(book).setReduce(said(reason));
          if (what === 'losses') bot.step({ kind: 'reduce', symbol, at: AT, reason });
          if (what === 'a loss that halts') bot.step({ kind: 'halt', symbol, at: AT, reason });
          if (what === 'places') bot.watch.beforePlacing(new Set([symbol]));
          if (what === 'restart') [bot, leaving] = [botWith(), []];
          if (what === 'leaves or stays')
            leaving = leaving.includes(symbol) ? leaving.filter(each => each !== symbol) : [...leaving, symbol];
          if (what === 'nearly leaves') bot.watch.leave([...BOOKS]);
          bot.watch.leave(leaving);
          const losing = book === 'eth_mxn' ? book : 'btc_mxn';
          if (what === 'a fall' || what === 'a fall and a resume') bot.fall(losing, SOFT_LIMIT / INVENTORY);
          if (what === 'a crash') bot.fall(losing, HARD_LIMIT / INVENTORY + 1);
          const isPaused = latchOf(book).readPause() !== null;
          const account = [latchIn(dir).read(), latchIn(dir).readReduce()];
          if (what === 'resume' || what === 'a fall and a resume')
            try {
              resume({ stateDir: dir, ...(book === null ? {} : { book }) }, 'the test', AT, 'ann');
            } catch (error) {
              expect(error).toBeInstanceOf(UsageError);
            }
          bot.watch.look(false);
          bot.watch.look(false);
          expect({ what, book, states: statesOf(bot.engine) }).toEqual({ what, book, states: latched(leaving) });
          // A loss is one of the account, whatever had stopped its book before; no resume of a book hides it.
          if (what === 'a fall' || (what === 'a fall and a resume' && book !== null))
            expect(latchIn(dir).readReduce(), what).not.toBeNull();
          if (what === 'a crash') expect(statesOf(bot.engine).every(({ halted }) => halted)).toBe(true);
          if (what === 'resume' && book !== null)
            expect([latchIn(dir).read(), latchIn(dir).readReduce()]).toEqual(account);
          // A stop that a resume ends is not latched again.
          if (what === 'resume' && !isPaused)
            expect([latchOf(book).read(), latchOf(book).readReduce()]).toEqual([null, null]);
          // A command on one book sends no event to another, so that none of its losses is forgotten.
          if (book !== null && ['halt', 'pause', 'reduce', 'resume'].includes(what)) {
            expect(statesOf(bot.engine).filter(each => each.book !== book)).toEqual(others);
            for (const event of bot.events.slice(before)) expect(event).toMatchObject({ symbol: book });
          }
          const told = bot.events.length;
          bot.watch.look(false);
          expect(bot.events.slice(told), 'each is said once').toEqual([]);
        }
        expect(statesOf(botWith().engine), 'after a kill').toEqual(latched());
      }),
      {
        ...runsOf(300, 60),
        examples: [
          [
            [
              { what: 'pause', book: null },
              { what: 'nearly leaves', book: null },
            ],
          ],
        ],
      },
    );
  });

  test('of a book hold for a bot that quotes it alone, and those of a book that it lacks hold nothing', () => {
    bookLatchIn(dir, 'btc_mxn').set(said('odd prices'));
    bookLatchIn(dir, 'eth_mxn').setPause({ ...said('odd too'), until: null });
    expect(statesOf(botWith(latchIn(dir), ['btc_mxn']).engine)).toEqual([
      { book: 'btc_mxn', halted: true, reduces: false, paused: null },
    ]);
    expect(statesOf(botWith(latchIn(dir), ['btc_usd']).engine)).toEqual([
      { book: 'btc_usd', halted: false, reduces: false, paused: null },
    ]);
    expect(booksWithLatches(dir)).toEqual(['btc_mxn', 'eth_mxn']);
    expect(existsSync(join(dir, 'HALTED'))).toBe(false);
  });

  test.each(['halt', 'reduce'] as const)(
    'hide no loss that came just before their resume: after a %s of one book, the account is reduce-only',
    what => {
      const { engine, watch, fall } = botWith();
      if (what === 'halt') latchOf('eth_mxn').set(said('odd prices'));
      else latchOf('eth_mxn').setReduce(said('odd prices'));
      watch.look(false);
      fall('eth_mxn', 1);
      resume({ stateDir: dir, book: 'eth_mxn' }, 'they are fine', AT, 'ann');
      watch.look(false);
      expect(latchIn(dir).readReduce()).toMatchObject({
        by: 'bot',
        reason: expect.stringMatching(/^eth_mxn: drawdown: /) as string,
      });
      expect(statesOf(engine)).toEqual(BOOKS.map(book => ({ book, halted: false, reduces: true, paused: null })));
    },
  );

  test('block the orders of their book from the moment at which they are set, before the engine knows', () => {
    const { engine, watch } = botWith();
    bookLatchIn(dir, 'eth_mxn').setReduce(said('smaller'));
    expect(BOOKS.filter(book => watch.isNewlyReducing(book))).toEqual(['eth_mxn']);
    watch.beforePlacing(new Set(['btc_mxn']));
    expect(statesOf(engine).map(({ reduces }) => reduces)).toEqual([false, false, false]);
    watch.beforePlacing(new Set(['eth_mxn']));
    expect(statesOf(engine).map(({ reduces }) => reduces)).toEqual([false, true, false]);
    expect(BOOKS.filter(book => watch.isNewlyReducing(book))).toEqual([]);
  });

  test('that a book found by itself reach the others before orders are sent, also if the disk takes nothing', () => {
    const full = (of: Halt): void => {
      throw new Error(`no space for ${of.reason}`);
    };
    const disk = { ...latchIn(dir), set: full, setReduce: full };
    const { log, lines } = memoryLog();
    const { engine, step, watch } = botWith(retryingLatch(disk, log));
    latchOf('btc_usd').set(said('odd prices'));
    watch.look(false);
    expect(watch.haltedAlone).toEqual(['btc_usd']);
    latchOf('btc_usd').lift('they are fine', AT, 'ann');
    watch.look(false);
    expect(watch.haltedAlone).toEqual([]);
    latchOf('eth_mxn').set(said('odd prices'));
    watch.look(false);
    step({ kind: 'reduce', symbol: 'btc_usd', at: AT, reason: 'losses' });
    watch.beforePlacing(new Set(['btc_mxn']));
    expect(statesOf(engine).map(({ reduces }) => reduces)).toEqual([true, true, true]);
    expect(watch.haltedAlone).toEqual(['eth_mxn']);
    step({ kind: 'halt', symbol: 'btc_usd', at: AT, reason: 'more losses' });
    expect(watch.haltedAlone, 'the halt of the account is on no disk').toEqual([]);
    watch.beforePlacing(new Set(['btc_mxn']));
    expect(statesOf(engine).map(({ halted }) => halted)).toEqual([true, true, true]);
    expect(lines.some(({ text }) => text.includes('halt could not be written'))).toBe(true);
    expect([watch.haltedAlone, latchIn(dir).read()]).toEqual([[], null]);
    disk.setReduce = of => latchIn(dir).setReduce(of);
    disk.set = of => latchIn(dir).set(of);
    watch.look(false);
    expect([latchIn(dir).read()?.reason, latchIn(dir).readReduce()?.reason]).toEqual(['more losses', 'losses']);
  });

  test('are ended with their book in the log of ended stops, and a damaged file halts only its book', () => {
    bookLatchIn(dir, 'eth_mxn').set(said('odd prices'));
    resume({ stateDir: dir, book: 'eth_mxn' }, 'they are fine', AT, 'ann');
    expect(JSON.parse(readFileSync(join(dir, 'resumed.jsonl'), 'utf8'))).toMatchObject({
      ...{ book: 'eth_mxn', who: 'ann', reason: 'they are fine' },
      lifted: { reason: 'odd prices' },
    });
    writeFileSync(join(dir, 'books', 'eth_mxn', 'HALTED'), 'nonsense');
    expect(statesOf(botWith().engine).map(({ halted }) => halted)).toEqual([false, true, false]);
    rmSync(join(dir, 'books', 'eth_mxn'), { recursive: true });
    writeFileSync(join(dir, 'books', 'eth_mxn'), 'a file where a folder is expected');
    expect(statesOf(botWith().engine).map(({ halted }) => halted)).toEqual([false, true, false]);
  });

  test('that cannot be read halt every book, are shown as a halt, and are not resumed', () => {
    bookLatchIn(dir, 'eth_mxn').set(said('odd prices'));
    rmSync(join(dir, 'books'), { recursive: true });
    writeFileSync(join(dir, 'books'), 'a file where a folder is expected');
    const { watch, engine } = botWith();
    expect(statesOf(engine).map(({ halted }) => halted)).toEqual([true, true, true]);
    watch.look(false);
    const reason = `the stops of single books cannot be read: ${join(dir, 'books')} is not a folder`;
    expect(holdersOf(dir, AT)).toMatchObject([{ what: 'halt', by: 'bot', reason }]);
    for (const which of [{}, { book: 'eth_mxn' }])
      expect(() => resume({ stateDir: dir, ...which }, 'they are fine', AT, 'ann')).toThrow(reason);
    expect([booksWithLatches(dir), bookStopsIn(dir)]).toEqual([[], []]);
  });

  test('are on disk when they are set: the file, its folder, and each folder up to the state directory', () => {
    const { openSync, fsyncSync, mkdirSync } = fs;
    const [paths, done] = [new Map<number, string>(), [] as string[]];
    const hooked: Partial<typeof fs> = {
      openSync: (path, ...rest) => {
        const fd = openSync(path, ...rest);
        paths.set(fd, String(path));
        return fd;
      },
      fsyncSync: fd => {
        fsyncSync(fd);
        done.push(`sync ${relative(dirname(dir), paths.get(fd)!)}`);
      },
      mkdirSync: ((path: string, ...rest: never[]) => {
        done.push(`make ${relative(dirname(dir), path)}`);
        return mkdirSync(path, ...rest);
      }) as typeof fs.mkdirSync,
    };
    fs.mkdirSync(dir, { mode: 0o700 });
    Object.assign(fs, hooked);
    syncBuiltinESMExports();
    try {
      const latch = bookLatchIn(dir, 'eth_mxn');
      const name = basename(dir);
      const pause = { ...said('a pause'), until: null };
      for (const [set, file] of [
        [() => latch.set(said('a halt')), 'HALTED'],
        [() => latch.setReduce(said('less')), 'REDUCE'],
        [() => latch.setPause(pause), 'PAUSED'],
      ] as const) {
        done.length = 0;
        set();
        const made = file === 'HALTED' ? [`make ${name}/books`, `make ${name}/books/eth_mxn`] : [];
        const synced = [`sync ${name}/books`, `sync ${name}`, 'sync '];
        expect(done.slice(0, made.length + 3)).toEqual([...made, ...synced]);
        expect(done.some(step => step.startsWith(`sync ${name}/books/eth_mxn/${file}`))).toBe(true);
        expect(done.at(-1)).toBe(`sync ${name}/books/eth_mxn`);
      }
      done.length = 0;
      latch.lift('they are fine', AT, 'ann');
      expect(done.at(-1)).toBe(`sync ${name}/books/eth_mxn`);
    } finally {
      Object.assign(fs, { openSync, fsyncSync, mkdirSync });
      syncBuiltinESMExports();
    }
  });

  test('are refused for a name that is no symbol, so that no other folder is written', () => {
    for (const name of ['..', '../x_y', 'btc', 'BTC_MXN', 'btc_mxn/..', ''])
      expect(() => bookLatchIn(dir, name)).toThrow(RangeError);
  });
});
