import { describe, expect, it } from 'vitest';
import type { Exchange, OwnTrade, Page } from '../../../src/core/index.ts';
import { Reads } from '../../../src/live/account/reads.ts';
import { isFailed } from '../../../src/live/failedRequest.ts';
import { btcMxn } from '../../core/market.ts';

const tradeOf = (tid: number, oid: string): OwnTrade => ({
  ...{ book: 'btc_mxn', tid: String(tid), oid, createdAt: 0, side: 'buy', price: '100', major: '1', minor: '100' },
  ...{ feeAmount: '0', feeCurrency: 'btc', maker: true },
});

/** Answers pages of own trades as the exchange does: those beyond the marker, ascending. */
const exchangeWith = (trades: readonly OwnTrade[]) =>
  ({
    limits: { ordersPage: 500, tradesPage: 100, depth: 50 },
    userTrades: async ({ marker, limit }: Page) => ({
      kind: 'done',
      value: trades.filter(({ tid }) => Number(tid) > Number(marker ?? -1)).slice(0, limit),
    }),
  }) as Partial<Exchange> as Exchange;

describe('a read', () => {
  /** Every answer takes 700 ms. */
  const slow = () => {
    let now = 1_000;
    const after = <T>(value: T) => {
      now += 700;
      return Promise.resolve({ kind: 'done', value } as const);
    };
    const exchange = {
      limits: { ordersPage: 500, tradesPage: 100, depth: 50 },
      openOrders: () => after([]),
      userTrades: () => after([]),
      balances: () => after(['btc', 'mxn'].map(currency => ({ currency, total: '1', locked: '0', available: '1' }))),
      orderBook: () => after({ book: 'btc_mxn', sequence: 1n, updatedAt: 0, bids: [], asks: [] }),
    } as Partial<Exchange> as Exchange;
    return new Reads(exchange, 'btc_mxn', '0', () => now);
  };

  it.each(['openOrders', 'trades', 'balances', 'book'] as const)(
    'of %s says when its request left, not when its answer came: only what was true then is proven',
    async what => {
      const reads = slow();
      const event = await (what === 'book' ? reads.book(btcMxn) : reads[what]());
      expect(event).toMatchObject({ startedAt: 1_000, at: 1_700 });
      if (what === 'balances') expect(reads.balancesAt).toBe(1_000);
    },
  );

  it.each([
    [499, true],
    [500, false],
  ])('of %i open orders is whole: %s', async (count, complete) => {
    const order = { book: 'btc_mxn', oid: 'x', side: 'buy', type: 'limit', status: 'open', createdAt: 0 } as const;
    const row = { ...order, price: '1', originalAmount: '1', unfilledAmount: '1' };
    const openOrders: Exchange['openOrders'] = async ({ limit }) => ({
      kind: 'done',
      value: Array.from({ length: Math.min(count, limit ?? 500) }, () => row),
    });
    const reads = new Reads(
      { limits: { ordersPage: 500, tradesPage: 100, depth: 50 }, openOrders } as Partial<Exchange> as Exchange,
      'btc_mxn',
      '0',
      () => 0,
    );
    expect(await reads.openOrders()).toMatchObject({ complete });
  });
});

describe('reading own trades', () => {
  it('goes on from a restart with what the ledger has, so that a second crash before the first read forgets nothing', () => {
    const reads = new Reads(exchangeWith([]), 'btc_mxn', '5', () => 0, 20_000, ['7', '9']);
    expect(reads.taken).toEqual({ marker: '5', tids: ['7', '9'] });
    expect(reads.newest).toBe('9');
  });

  it('comes through a history that is longer than one read takes', async () => {
    const trades = Array.from({ length: 6_000 }, (_, n) => tradeOf(n + 1, 'a'));
    let now = 0;
    const reads = new Reads(exchangeWith(trades), 'btc_mxn', '0', () => now, 20_000);
    const taken = new Set<string>();
    let isWhole = false;
    for (let read = 0; read < 20 && !isWhole; read++, now += 10_000) {
      const event = await reads.trades();
      if (isFailed(event)) throw new Error('the read failed');
      for (const { tid } of event.trades) taken.add(tid);
      reads.take(event);
      isWhole = event.complete;
    }
    expect([isWhole, taken.size]).toEqual([true, 6_000]);
  });

  it('moves its mark in a history that it could not read to the end no further than it has read again', async () => {
    const trades = Array.from({ length: 300 }, (_, n) => tradeOf(2 * n + 2, 'a'));
    let now = 0;
    let pages = 99;
    const inner = exchangeWith(trades);
    const userTrades: Exchange['userTrades'] = async page =>
      pages-- > 0 ? inner.userTrades(page) : { kind: 'unknown', reason: 'reset' };
    const reads = new Reads({ ...inner, userTrades }, 'btc_mxn', '0', () => now, 20_000);
    const next = async () => {
      const event = await reads.trades();
      if (isFailed(event)) throw new Error('the read failed');
      reads.take(event);
      return event;
    };
    expect((await next()).trades.length).toBeGreaterThan(299);
    // The record of an old trade comes late, behind the pages that this read gets.
    now = 30_000;
    trades.splice(250, 0, tradeOf(501, 'late'));
    pages = 1;
    expect((await next()).complete).toBe(false);
    pages = 99;
    expect((await next()).trades.some(({ oid }) => oid === 'late')).toBe(true);
  });

  it('looks again for a late record that was written while a slow read had passed its place', async () => {
    const trades = [tradeOf(10, 'a')];
    let now = 0;
    let during = () => undefined as unknown;
    const inner = exchangeWith(trades);
    const userTrades: Exchange['userTrades'] = async page => {
      const answer = await inner.userTrades(page);
      during();
      return answer;
    };
    const reads = new Reads({ ...inner, userTrades }, 'btc_mxn', '0', () => now, 20_000);
    const next = async () => {
      const event = await reads.trades();
      if (isFailed(event)) throw new Error('the read failed');
      reads.take(event);
      return event.trades.map(({ tid }) => tid);
    };
    await next();
    // Trade 5 is older than trade 10, and its record comes 19 s later, while the answer without it is on its way back.
    now = 19_000;
    during = () => {
      now = 22_000;
      trades.unshift(tradeOf(5, 'a'));
    };
    await next();
    during = () => undefined;
    expect(await next()).toContain('5');
  });

  it('finds both records of each trade of the account with itself, wherever a page ends', async () => {
    const trades = Array.from({ length: 90 }, (_, n) => [tradeOf(n + 1, `a${n}`), tradeOf(n + 1, `b${n}`)]).flat();
    const reads = new Reads(exchangeWith([tradeOf(0, 'x'), ...trades]), 'btc_mxn', undefined, () => 0);
    const event = await reads.trades();
    if (isFailed(event)) throw new Error('the read failed');
    expect(new Set(event.trades.map(({ oid }) => oid)).size).toBe(181);
    expect(event.complete).toBe(true);
  });
});
