import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TickBook } from '../../../backtest/rows/tickBook.ts';

test.each([
  { places: 33, apart: 1 },
  { places: 5_000, apart: 160 },
])(
  'a tick book of $places places knows its best prices like a sorted list does, and lets a new level hide what it crosses',
  ({ places, apart }) => {
    const level = fc.record({
      bid: fc.boolean(),
      at: fc.integer({ min: 1, max: 30 }).map(n => n * apart),
      lots: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(level, { maxLength: 80 }), levels => {
        const book = new TickBook({ places });
        let isCrossed = false;
        for (const { bid, at, lots } of levels) {
          const before = bid ? book.bids[at] : book.asks[at];
          expect(bid ? book.setBid(at, lots) : book.setAsk(at, lots)).toBe(before);
          const bestBid = book.bids.findLastIndex(n => n > 0);
          const bestAsk = book.asks.findIndex(n => n > 0);
          isCrossed ||= bestBid >= 0 && bestAsk >= 0 && bestBid >= bestAsk;
          expect(book.bid).toBeLessThan(book.ask);
          if (isCrossed) continue;
          expect([book.bid, book.ask]).toEqual([Math.max(bestBid, 0), bestAsk < 0 ? places - 1 : bestAsk]);
        }
      }),
    );
  },
);
