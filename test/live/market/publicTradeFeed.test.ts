/** Public trades by pages: each once, in order, however many came since the last read. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Exchange, PublicTrade } from '../../../src/core/index.ts';
import { PublicTradeFeed } from '../../../src/live/market/publicTradeFeed.ts';
import { btcMxn } from '../../core/market.ts';

const tradeOf = (tid: number): PublicTrade => ({
  book: 'btc_mxn',
  tid: String(tid),
  createdAt: tid * 1_000,
  price: `${1_000 + tid}.00`,
  amount: '0.1',
  makerSide: 'buy',
});

/** As the exchange does: newest first, or those beyond the marker, ascending. */
const exchangeWith = (trades: readonly PublicTrade[]): Pick<Exchange, 'trades'> => ({
  trades: async (_, { marker, sort, limit = 25 } = {}) => ({
    kind: 'done',
    value: (sort === 'asc'
      ? trades.filter(({ tid }) => Number(tid) > Number(marker ?? -1))
      : [...trades].reverse()
    ).slice(0, Math.min(100, limit)),
  }),
});

describe('the tail of public trades', () => {
  test('tells each trade since the last read once and in order, over as many pages as it takes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 350 }), { minLength: 1, maxLength: 4 }), async counts => {
        const trades = [tradeOf(1)];
        const told: number[] = [];
        const tail = new PublicTradeFeed({
          exchange: exchangeWith(trades),
          instrument: btcMxn,
          sink: { mark: () => 0, trade: (_taker, price) => void told.push(price / 100 - 1_000) },
          bornOf: () => null,
        });
        expect(await tail.read()).toBe(true);
        for (const count of counts) {
          for (let n = 0; n < count; n++) trades.push(tradeOf(trades.length + 1));
          expect(await tail.read()).toBe(true);
        }
        expect(told).toEqual(trades.slice(1).map(({ tid }) => Number(tid)));
      }),
      { numRuns: 30 },
    );
  });
});
