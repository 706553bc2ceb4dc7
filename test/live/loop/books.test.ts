import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { replay } from '../../../src/app/inspect/stateCommands.ts';
import { money, moneyOf, textOfMoney } from '../../../src/core/index.ts';
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

const placements = ({ arrived }: Running): number =>
  arrived.filter(({ method, target }) => method === 'POST' && target === '/api/v3/orders').length;

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

  test('cancels the orders in all its books before it refuses a start with fewer books', async () => {
    const world = worldOf(8, {}, 'desk');
    const first = await doomed(world, folders);
    await world.clock.advance(MINUTE);
    const dir = first.kill();
    expect(quotedBooks(world)).toEqual(BOOKS.toSorted());
    const { books: _, ...config } = world.config;
    const error = await failedStart(world, dir, { config });
    expect(String(error)).toMatch(
      /is in (eth_mxn|btc_usd), which this bot does not quote; start the bot once with \1 in books, .*; canceled \d+ orders of the last run; two reads of the open orders show none left/,
    );
    expect(quotedBooks(world)).toEqual([]);
    const next = await restarted(world, dir);
    await world.clock.advance(MINUTE);
    expect((await next.stop()).summary.ledgerMatches).toBe(true);
    await first.running.stop();
    const alone = await restarted(world, dir, { config });
    await world.clock.advance(MINUTE);
    expect((await alone.stop()).summary.ledgerMatches).toBe(true);
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
});
