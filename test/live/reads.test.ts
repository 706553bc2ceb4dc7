import { describe, expect, it } from 'vitest';
import type { Exchange, OwnTrade, Page } from '../../src/core/index.ts';
import { isFailed, Reads } from '../../src/live/reads.ts';

const tradeOf = (tid: number, oid: string): OwnTrade => ({
  ...{ book: 'btc_mxn', tid: String(tid), oid, createdAt: 0, side: 'buy', price: '100', major: '1', minor: '100' },
  ...{ feeAmount: '0', feeCurrency: 'btc', maker: true },
});

/** Answers pages of own trades as the exchange does: those beyond the marker, ascending. */
const exchangeWith = (trades: readonly OwnTrade[]) =>
  ({
    userTrades: async ({ marker, limit }: Page) => ({
      kind: 'done',
      value: trades.filter(({ tid }) => Number(tid) > Number(marker ?? -1)).slice(0, limit),
    }),
  }) as Partial<Exchange> as Exchange;

describe('reading own trades', () => {
  it('goes on from a restart with what the ledger has, so that a second crash before the first read forgets nothing', () => {
    const reads = new Reads(exchangeWith([]), 'btc_mxn', '5', () => 0, 20_000, ['7', '9']);
    expect(reads.taken).toEqual({ marker: '5', tids: ['7', '9'] });
    expect(reads.newest).toBe('9');
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
