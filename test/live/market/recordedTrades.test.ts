/** Complete trades in the inputs of a run with several books: each book has its own, in any order of the events. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amount, price, type EngineEvent } from '../../../src/core/index.ts';
import { recordedTrades, TradesOfRun } from '../../../src/live/market/recordedTrades.ts';

const BOOKS = ['btc_mxn', 'eth_mxn'] as const;
const START = 1_000_000;

const history = (symbol: string): EngineEvent => ({
  ...{ kind: 'history', symbol, at: START, source: 'the exchange', since: START - 60_000, last: '100' },
  trades: [],
});

const tradeOf = (symbol: string, tid: number): EngineEvent => ({
  ...{ kind: 'public trade', symbol, at: START + tid, tid: String(tid), side: 'buy' },
  ...{ price: price(tid), amount: amount(1) },
});

test('a book has exactly its own trades since its history, also between those of another book', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...BOOKS), { maxLength: 30 }), order => {
      const trades = order.map((symbol, i) => ({ symbol, tid: 101 + i }));
      for (const book of BOOKS) {
        const seen = new TradesOfRun(-Infinity, book);
        for (const event of [...BOOKS.map(history), ...trades.map(({ symbol, tid }) => tradeOf(symbol, tid))])
          seen.see(event);
        const own = trades.filter(({ symbol }) => symbol === book).map(({ tid }) => tid);
        expect(seen.complete?.trades.map(({ price: at }) => at)).toEqual(own);
        expect(seen.complete?.last).toBe(BigInt(own.at(-1) ?? 100));
      }
    }),
  );
});

test('before the first start, when there is no state directory, there are no trades, and that is no error', () => {
  const instrument = { symbol: BOOKS[0], tick: '0.01', lot: '0.00000001' };
  expect(recordedTrades('/nowhere/state', { instrument, since: 0, run: 1 })).toBeNull();
});
