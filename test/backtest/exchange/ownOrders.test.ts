import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_ASK, NO_BID, OrderPool, OwnSide } from '../../../backtest/exchange/ownOrders.ts';
import { BUY, SELL } from '../../../backtest/rows/rows.ts';

describe('our resting orders', () => {
  test.each([BUY, SELL] as const)(
    'are met best price first and oldest first, whatever came and went (side %i)',
    side => {
      const step = fc.record({ add: fc.boolean(), place: fc.integer({ min: 1, max: 9 }), which: fc.nat() });
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), steps => {
          const resting = new Uint32Array(10);
          const own = new OwnSide(side, resting);
          const pool = new OrderPool();
          for (const { add, place, which } of steps) {
            if (add) own.add(pool.take(side, place, 1));
            else if (own.orders.length > 0) {
              const gone = own.orders[which % own.orders.length]!;
              own.remove(gone);
              pool.release(gone);
            }
            const sign = side === BUY ? -1 : 1;
            const wanted = [...own.orders].sort((a, b) => sign * (a.place - b.place) || a.id - b.id);
            expect(own.orders).toEqual(wanted);
            expect(own.best).toBe(wanted[0]?.place ?? (side === BUY ? NO_BID : NO_ASK));
            for (let at = 0; at < 10; at++) expect(resting[at]).toBe(wanted.filter(order => order.place === at).length);
          }
        }),
      );
    },
  );

  test('are not used again while something names them', () => {
    const pool = new OrderPool();
    const order = pool.take(BUY, 1, 1);
    order.messages = 1;
    expect(() => pool.release(order)).toThrow(/in use/);
  });
});
