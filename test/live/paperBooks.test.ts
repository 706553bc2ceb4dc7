import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { WireRequest } from '../../src/core/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { readPaperAccount } from '../../src/live/state/paperAccount.ts';
import { valueOfStored } from '../../src/sandbox/venue/storedText.ts';
import { paperWorld, type PaperWorld } from './paperWorld.ts';

const SECOND = 1_000;
const [FIRST, OTHER] = ['btc_mxn', 'eth_mxn'] as const;
const BALANCES = { btc: '0.05', eth: '1', mxn: '75000' };
const OF_OTHER = {
  strategy: { name: 'ladder', reference: 'mid', halfSpreadBps: 10.2, amount: '0.01', minEdgeBps: 0 },
  limits: {
    ...{ positionMax: '0.2', orderValueMax: '5000', ordersMax: 8, collarBps: 200 },
    ...{ drawdownMax: '2000', dayLossMax: '2000' },
  },
};
const BOOKS = { books: [{ symbol: FIRST }, { symbol: OTHER, ...OF_OTHER }] };
/** A followed exchange on which both books are traded. */
const FOLLOWED = {
  exchange: {
    market: { kind: 'flow', books: { [FIRST]: {}, [OTHER]: {} } },
    balances: { btc: '1', eth: '9', mxn: '1' },
  },
};

const worldOfTwo = (options: Parameters<typeof paperWorld>[0] = {}) =>
  paperWorld({
    ...{ followed: FOLLOWED, more: BOOKS },
    ...options,
    paper: { balances: BALANCES, ...options.paper },
  });

const oursIn = (world: PaperWorld, book: string) => world.ours().filter(order => order.book === book);
const isOf = (book: string, { target }: WireRequest): boolean => target.includes(`book=${book}`);
const nonZero = (sums: ReadonlyMap<string, bigint>) => [...sums].filter(([, sum]) => sum !== 0n);

describe('trading several books on paper', () => {
  test('quotes and fills each book from one account, continues after kills, and ends with a ledger that equals the balances', async () => {
    const world = await worldOfTwo({ seed: 3 });
    await world.clock.advance(60 * SECOND);
    expect([oursIn(world, FIRST).length > 0, oursIn(world, OTHER).length > 0]).toEqual([true, true]);
    for (const awayMs of [100, 5_000]) {
      const live = world.ours().map(({ oid }) => oid);
      await world.kill(awayMs);
      const kept = new Set(
        world.paper.exchange
          .truth()
          .accounts.get(world.paper.account.id)!
          .live.map(({ oid }) => oid),
      );
      const known = live.filter(oid => world.paper.exchange.venue.find(oid) !== undefined);
      expect(known).toEqual(live);
      expect(kept.size).toBeGreaterThan(0);
      await world.clock.advance(40 * SECOND);
    }
    const filled = [FIRST, OTHER].map(book => world.paper.counts(book).filledLots);
    expect(filled.every(lots => lots > 0)).toBe(true);
    expect(nonZero(world.paper.exchange.truth().imbalance)).toEqual([]);
    const { summary, left } = await world.end();
    expect([summary.ledgerMatches, left, world.broken]).toEqual([true, [], []]);
  });

  test('a book whose market is gone is not quoted, and the other is', async () => {
    let isGone = false;
    const world = await worldOfTwo({
      ...{ seed: 2, stream: false },
      fate: request => (isGone && isOf(OTHER, request) ? 'lost' : 'arrives'),
    });
    await world.clock.advance(30 * SECOND);
    expect(oursIn(world, OTHER).length).toBeGreaterThan(0);
    isGone = true;
    await world.clock.advance(45 * SECOND);
    expect(oursIn(world, OTHER)).toEqual([]);
    expect(oursIn(world, FIRST).length).toBeGreaterThan(0);
    isGone = false;
    await world.clock.advance(45 * SECOND);
    expect(oursIn(world, OTHER).length).toBeGreaterThan(0);
    expect((await world.end()).summary.ledgerMatches).toBe(true);
  });

  test('reads both books within the public budget of the followed exchange', async () => {
    const timing = { bookPollMs: 1_500, staleAfterMs: 15_000 };
    const world = await worldOfTwo({ seed: 2, stream: false, more: { ...BOOKS, timing } });
    await world.clock.advance(60 * SECOND);
    const before = world.asked.length;
    await world.clock.advance(60 * SECOND);
    const asked = world.asked.slice(before);
    // A tenth of the budget is left for other reads.
    const { publicPerMinute } = world.config.exchange.budgets;
    expect(asked.length).toBeLessThanOrEqual(0.9 * publicPerMinute + 2);
    const reads = [FIRST, OTHER].map(book => asked.filter(request => isOf(book, request)).length);
    expect(Math.min(...reads)).toBeGreaterThan(15);
    expect(Math.max(...reads) - Math.min(...reads)).toBeLessThan(4);
    await world.end();
  });

  test('takes a book that is added at a start, with the opening balance of its currency, and ends the orders of one that is removed', async () => {
    const world = await paperWorld({ seed: 4, followed: FOLLOWED });
    await world.clock.advance(20 * SECOND);
    await world.restart(1_000, undefined, { more: BOOKS, paper: { balances: BALANCES } });
    expect(world.said()).toContain('added to the paper account for its new books: 1 eth');
    await world.clock.advance(20 * SECOND);
    expect(oursIn(world, OTHER).length).toBeGreaterThan(0);
    const orders = oursIn(world, OTHER).map(({ oid }) => oid);
    await world.kill(1_000, { paper: { balances: BALANCES } });
    expect(orders.map(oid => world.paper.exchange.venue.find(oid)?.status)).toEqual(orders.map(() => 'cancelled'));
    await world.clock.advance(30 * SECOND);
    expect([oursIn(world, FIRST).length > 0, oursIn(world, OTHER)]).toEqual([true, []]);
    expect(
      world
        .said()
        .some(
          text =>
            text.includes(`${OTHER}; no order of an earlier run is left there`) ||
            text.includes(`resumed without ${OTHER}`),
        ),
    ).toBe(true);
    const { summary, left } = await world.end(true);
    expect([summary.ledgerMatches, left, world.broken]).toEqual([true, [], []]);
    const rows = await readPaperAccount(world.stateDir, realClock());
    expect(valueOfStored(rows.find(({ key }) => key === 'identity')!.text)).toMatchObject({ books: [FIRST, OTHER] });
    rmSync(world.stateDir, { recursive: true });
  });

  test('keeps its books at a reload, says why, and takes other changes', async () => {
    const isSaid = (world: PaperWorld, text: RegExp) => world.said().some(line => text.test(line));
    const fewer = await worldOfTwo({ seed: 5, reloaded: { paper: { balances: BALANCES } } });
    await fewer.clock.advance(20 * SECOND);
    fewer.hangUp();
    await fewer.clock.advance(20 * SECOND);
    expect(
      isSaid(fewer, /books: expected btc_mxn, eth_mxn, found btc_mxn; paper trading changes its books only at a start/),
    ).toBe(true);
    expect(oursIn(fewer, OTHER).length).toBeGreaterThan(0);
    expect((await fewer.end()).summary.ledgerMatches).toBe(true);
    const more = { ...BOOKS, halts: { fillsPer10Min: 90 } };
    const other = await worldOfTwo({ seed: 5, reloaded: { more, paper: { balances: BALANCES } } });
    await other.clock.advance(20 * SECOND);
    other.hangUp();
    await other.clock.advance(20 * SECOND);
    expect(isSaid(other, /applied: run \d+ resumed with the new configuration/)).toBe(true);
    expect((await other.end()).summary.ledgerMatches).toBe(true);
  });

  test.each([
    [
      'without the balance of a currency',
      { balances: { btc: '1', mxn: '1' } },
      /paper\.balances: expected opening balances of eth/,
    ],
    [
      'with fills fitted on one book',
      { fills: 'fitted', fittedFile: '/nowhere' },
      /paper\.fills: expected pessimistic, expected or optimistic with several books/,
    ],
  ])('does not start %s', async (_name, paper, reason) => {
    await expect(worldOfTwo({ paper })).rejects.toThrow(reason);
  });
});
