import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import { presenceCertificate } from '../../../src/app/compliance/presence.ts';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { money, moneyOf, textOfMoney } from '../../../src/core/index.ts';
import { lineOf, type RecordedEvent } from '../../../src/live/recording/recording.ts';
import { readRecording, recordingName, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { runsOf } from '../../many.ts';
import { doomed, failedStart, restarted } from '../crashes.ts';
import { Folders } from '../states.ts';
import { advanceUntil, started, worldOf, type Running, type World } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const MINUTE = 60_000;
const BOOKS = ['btc_mxn', 'eth_mxn', 'btc_usd'];

/** Replays all runs of a state directory as `puntas replay` does; a run that ended before it read all rules has nothing. */
function replayedRuns(dir: string): { readonly isSame: boolean; readonly commands: number } {
  const lines: string[] = [];
  const isSame = replay(dir, 'all', line => lines.push(line));
  const commands = lines.reduce((sum, line) => sum + Number(/(\d+) commands/.exec(line)?.[1] ?? 0), 0);
  return { isSame, commands };
}

/** Books in which the account has open orders, by the exchange. */
function quotedBooks(world: World): readonly string[] {
  const open = world.other().get<{ book: string }[]>('GET', '/api/v3/open_orders');
  return [...new Set(open.map(({ book }) => book))].toSorted();
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

/** Events in all recordings of a state directory, in order. */
const eventsIn = (dir: string): readonly RecordedEvent[] =>
  recordingsIn(dir).flatMap(({ run }) =>
    [...(readRecording(dir, run)?.lines ?? [])].flatMap(text => {
      const line = lineOf(text);
      return line.kind === 'input' ? [line.event] : [];
    }),
  );

const placements = ({ arrived }: Running): number =>
  arrived.filter(({ method, target }) => method === 'POST' && target === '/api/v3/orders').length;

const RULES_REJECTION = { success: false, error: { code: '0405', message: 'Incorrect price' } };

describe('one bot with three books', () => {
  test('quotes each, books every fill to the last digit, leaves no order, and its recording replays', async () => {
    const world = worldOf(5, {}, 'desk');
    const running = await started(world);
    await world.clock.advance(20_000);
    expect(quotedBooks(world)).toEqual(BOOKS.toSorted());
    await world.clock.advance(20 * MINUTE);
    const { summary, left, failure } = await running.stop();
    expect([left, failure, summary.ledgerMatches]).toEqual([[], null, true]);
    expect(quotedBooks(world)).toEqual([]);
    const { isSame, commands } = replayedRuns(world.stateDir);
    expect(isSame).toBe(true);
    expect(commands).toBeGreaterThan(100);
    world.end();
  });

  test('shares the public budget if it does not allow every poll: no minute has more requests, and every book is quoted', async () => {
    const timing = { bookPollMs: 1_250, staleAfterMs: 15_000 };
    const world = worldOf(5, { timing }, 'desk');
    const reads: { readonly book: string | null; readonly at: number }[] = [];
    const onArrival = ({ target }: { readonly target: string }): void => {
      const book = /^\/api\/v3\/order_book\/?\?(?:.*&)?book=([a-z_]+)/.exec(target)?.[1] ?? null;
      if (/^\/api\/v3\/(?:order_book|trades|available_books|ticker)/.test(target))
        reads.push({ book, at: world.clock.elapsed() });
    };
    const running = await started(world, { onArrival });
    await world.clock.advance(MINUTE);
    const began = world.clock.elapsed();
    for (let second = 0; second < 600; second++) {
      await world.clock.advance(1_000);
      if (second % 10 === 0) expect(quotedBooks(world), `second ${second}`).toEqual(BOOKS.toSorted());
    }
    const public54 = 54;
    reads.forEach(({ at }, n) =>
      expect(at - (reads[n - public54]?.at ?? -Infinity)).toBeGreaterThanOrEqual(MINUTE - 1_000),
    );
    const counts = BOOKS.map(symbol => reads.filter(({ book, at }) => book === symbol && at >= began).length);
    // Ten minutes of 42 reads, which the request of a minute may shift by one.
    const all = counts.reduce((sum, count) => sum + count, 0);
    expect(all).toBeGreaterThan(10 * 40);
    expect(all).toBeLessThanOrEqual(10 * 42 + 1);
    // No book is read later than after 14 s.
    for (const count of counts) expect(count).toBeGreaterThan(600 / 15);
    const { summary, left, failure } = await running.stop();
    expect([left, failure, summary.ledgerMatches]).toEqual([[], null, true]);
    expect(replayedRuns(world.stateDir).isSame).toBe(true);
    world.end();
  });

  test('goes on after a kill at any request: no order is left, each fill is in its book once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 400 }), fc.boolean(), fc.nat(1_000), async (n, arrives, seed) => {
        const world = worldOf(seed, {}, 'desk');
        let requests = 0;
        let isQuoting = false;
        const first = await doomed(world, folders, () =>
          isQuoting && ++requests === n ? (arrives ? 'arrives' : 'not sent') : null,
        );
        isQuoting = true;
        for (let minute = 0; first.left() === null && minute < 10; minute++) await world.clock.advance(MINUTE);
        const dir = first.left() ?? first.kill();
        const second = await restarted(world, dir);
        await world.clock.advance(3 * MINUTE);
        expect(quotedBooks(world)).toEqual(BOOKS.toSorted());
        const { summary, left, failure } = await second.stop();
        expect([left, failure, summary.ledgerMatches]).toEqual([[], null, true]);
        expect(quotedBooks(world)).toEqual([]);
        expect(replayedRuns(dir).isSame).toBe(true);
        const { run, otherBooks = [] } = await botStatus(dir, world.clock);
        expect([run!, ...otherBooks].map(({ book }) => book)).toEqual(BOOKS);
        expect(otherBooks[1]!.recorded.inventory, 'fills of its own orders').toBe(boughtIn(world, 'btc_usd'));
        await first.running.stop();
        world.end();
      }),
      runsOf(20, 2),
    );
  });

  test('settles the orders in books that it no longer has, and quotes the others meanwhile', async () => {
    const world = worldOf(8, {}, 'desk');
    const first = await doomed(world, folders);
    await world.clock.advance(MINUTE);
    const dir = first.kill();
    expect(quotedBooks(world)).toEqual(BOOKS.toSorted());
    const { books: _, ...config } = world.config;
    const next = await restarted(world, dir, { config });
    const told = (text: string): number => next.log.findIndex(line => line.text.includes(text));
    expect(told('orders of an earlier run in btc_usd, eth_mxn may be open')).toBeGreaterThanOrEqual(0);
    await world.clock.advance(MINUTE);
    expect(told('no order of an earlier run is left there')).toBeGreaterThanOrEqual(0);
    expect(placements(next)).toBeGreaterThan(0);
    for (const { method, target, body } of next.arrived)
      if (method === 'POST' && target === '/api/v3/orders') expect(String(body)).toContain('btc_mxn');
    await world.clock.advance(MINUTE);
    expect(quotedBooks(world)).toEqual(['btc_mxn']);
    expect((await next.stop()).summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0 });
    expect(replayedRuns(dir).isSame).toBe(true);
    await first.running.stop();
    const all = await restarted(world, dir);
    await world.clock.advance(MINUTE);
    expect((await all.stop()).summary.ledgerMatches).toBe(true);
    world.end();
  });

  test('cancels the orders in all its books before it refuses a start whose removed books are not recorded', async () => {
    const world = worldOf(8, {}, 'desk');
    const first = await doomed(world, folders);
    await world.clock.advance(MINUTE);
    const dir = first.kill();
    for (const { run } of recordingsIn(dir)) rmSync(join(dir, recordingName(run)));
    const { books: _, ...config } = world.config;
    const error = await failedStart(world, dir, { config });
    expect(String(error)).toMatch(
      /is in (eth_mxn|btc_usd), which this bot does not quote; start the bot once with \1 in books, .*; canceled \d+ orders of the last run; two reads of the open orders show none left/,
    );
    expect(quotedBooks(world)).toEqual([]);
    await first.running.stop();
    world.end();
  });

  test('halts all books when one halts, and no order is placed from then on, also after a restart', async () => {
    const world = worldOf(5, {}, 'desk');
    const [btc, eth, usd] = world.config.books!;
    const books = [btc!, { ...eth!, limits: { ...eth!.limits!, drawdownMax: '0.01' } }, usd!];
    const config = { ...world.config, books };
    const running = await started(world, { config });
    const haltedAt = (): number => running.log.findIndex(({ text }) => /halted/i.test(text));
    await advanceUntil(world.clock, 1_000, () => haltedAt() >= 0);
    await world.clock.advance(10_000);
    expect(quotedBooks(world)).toEqual([]);
    const before = placements(running);
    await world.clock.advance(MINUTE);
    expect(placements(running)).toBe(before);
    const { summary, left } = await running.stop();
    expect([left, summary.ledgerMatches]).toEqual([[], true]);
    expect(summary.halted).toMatch(/drawdown/);
    const next = await restarted(world, world.stateDir, { config });
    await world.clock.advance(MINUTE);
    expect(placements(next)).toBe(0);
    await next.stop();
    world.end();
  });

  test('takes more books and fewer from one start to the next, and keeps the state of those that it does not have', async () => {
    const world = worldOf(7, {}, 'desk');
    const { books, ...first } = world.config;
    for (const [config, quoted, missing] of [
      [first, ['btc_mxn'], null],
      [world.config, BOOKS, null],
      [{ ...first, books: books!.slice(0, 2) }, ['btc_mxn', 'eth_mxn'], 'btc_usd'],
      [first, ['btc_mxn'], 'eth_mxn, btc_usd'],
      [world.config, BOOKS, null],
    ] as const) {
      const running = await restarted(world, world.stateDir, { config });
      await world.clock.advance(3 * MINUTE);
      expect(quotedBooks(world)).toEqual(quoted.toSorted());
      const { summary, left, failure } = await running.stop();
      expect([left, failure, summary.ledgerMatches]).toEqual([[], null, true]);
      const absent = running.log.filter(({ text }) => text.includes('books that this bot does not quote'));
      expect(absent.map(({ text }) => /quote: ([a-z_, ]+);/.exec(text)?.[1])).toEqual(
        missing === null ? [] : [missing],
      );
    }
    expect(replayedRuns(world.stateDir).isSame).toBe(true);
    world.end();
  });

  test('has a preview of a pause that counts the orders of all books, and has a certificate of presence only for a book by name', async () => {
    const world = worldOf(5, {}, 'desk');
    const running = await started(world);
    await world.clock.advance(MINUTE);
    const bot = { stateDir: world.stateDir, configFile: undefined };
    const ask = { action: 'pause', id: 'one', via: 'command', reason: 'a test', by: 'ann' } as const;
    const { lines } = await previewAction(bot, ask, world.clock);
    const open = world.other().get<unknown[]>('GET', '/api/v3/open_orders').length;
    const [, canceled, live] = /(\d+) of (\d+) live orders would be canceled/.exec(lines.join('\n')) ?? [];
    expect([Number(canceled), Number(live)]).toEqual([open, open]);
    expect(lines.join('\n')).toContain('quotes of btc_mxn, one of 3 books:');
    expect(() =>
      presenceCertificate({ dir: world.stateDir, terms: { spreadMaxBps: null, sizeMin: null }, version: 'test' }),
    ).toThrow(/run \d+ has 3 books \(btc_mxn, eth_mxn, btc_usd\); choose one with --book/);
    await running.stop();
    world.end();
  });

  test('reads the last trade of each book from that book', async () => {
    const world = worldOf(5, {}, 'desk');
    const running = await started(world);
    await world.clock.advance(MINUTE);
    const orders = [...world.box.exchange.venue.accounts.get(world.box.account.id)!.active.values()];
    const trades = eventsIn(world.stateDir).filter(event => event.kind === 'public trade');
    for (const book of BOOKS) {
      const quoted = orders.find(({ instrument }) => instrument.symbol === book)!;
      const own = trades.filter(({ symbol }) => symbol === book);
      expect(own.length, book).toBeGreaterThan(0);
      for (const { price } of own) expect(Number(price) / Number(quoted.price), book).toBeCloseTo(1, 0);
    }
    await running.stop();
    world.end();
  });

  test('places in the other books while the rules of one are in doubt and cannot be read', async () => {
    const world = worldOf(5, {}, 'desk');
    let isInDoubt = false;
    const placedIn = new Map<string, number>();
    const running = await started(world, {
      fate: ({ method, target, body }) => {
        if (!isInDoubt) return 'arrives';
        if (target.includes('available_books')) return 'lost';
        if (method !== 'POST' || target !== '/api/v3/orders') return 'arrives';
        const { book } = JSON.parse(String(body)) as { book: string };
        placedIn.set(book, (placedIn.get(book) ?? 0) + 1);
        if (book !== 'eth_mxn') return 'arrives';
        return { instead: { status: 400, headers: {}, body: JSON.stringify(RULES_REJECTION) } };
      },
    });
    await world.clock.advance(MINUTE);
    isInDoubt = true;
    await world.clock.advance(5 * MINUTE);
    const before = new Map(placedIn);
    expect(before.get('eth_mxn')).toBeGreaterThan(0);
    await world.clock.advance(10 * MINUTE);
    expect(placedIn.get('eth_mxn')).toBe(before.get('eth_mxn'));
    expect(placedIn.get('btc_mxn')).toBeGreaterThan(before.get('btc_mxn') ?? 0);
    isInDoubt = false;
    await running.stop();
    world.end();
  });
});
