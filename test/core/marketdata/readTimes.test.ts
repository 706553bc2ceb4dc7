/** How old what is known is: by the newest read that began after the process last stood still. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReadTimes, type FreshSource } from '../../../src/core/marketdata/readTimes.ts';

const KINDS = ['book', 'openOrders', 'trades'] as const;

describe('what is known', () => {
  it('is as old as the newest read that began since the process last stood still, whatever order answers came in', () => {
    const read = fc.record({ what: fc.constantFrom<FreshSource>(...KINDS), tookMs: fc.nat(5_000) });
    const event = fc.record({ afterMs: fc.nat(2_000), read: fc.option(read, { nil: null }) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), events => {
        const fresh = new ReadTimes();
        const newest = { book: -Infinity, openOrders: -Infinity, trades: -Infinity };
        let [at, sleptAt] = [0, -Infinity];
        for (const { afterMs, read: answered } of events) {
          at += afterMs;
          if (answered === null) {
            sleptAt = at;
            fresh.slept(at);
            for (const what of KINDS) newest[what] = -Infinity;
          } else {
            const startedAt = at - answered.tookMs;
            fresh.read(answered.what, startedAt);
            if (startedAt >= sleptAt) newest[answered.what] = Math.max(newest[answered.what], startedAt);
          }
          expect(fresh.book).toBe(newest.book);
          expect(fresh.account).toBe(Math.min(newest.openOrders, newest.trades));
        }
      }),
    );
  });
});
