/** The summary of a run says how many orders are unknown at its end, apart from those that were unknown and are resolved. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describe as textOf, summaryOf } from '../../src/messages/summary.ts';
import { amount, price, type Order, type Snapshot } from '../../src/core/index.ts';
import { ToyExchange, quoteAround } from '../core/toyExchange.ts';
import { plain } from '../core/market.ts';

const STATES: readonly Order['state'][] = ['open', 'canceling', 'unknown', 'closed-unsettled'];

const order = (state: Order['state'], i: number): Order => ({
  ...{ id: `demo-1-${i}`, side: 'buy', price: price(998), amount: amount(10), placedAt: 0, filled: amount(0) },
  ...{ state, ending: null, oid: null },
});

test('the orders of a summary: unknown are those of now, whatever was unknown before', () => {
  const toy = new ToyExchange({ strategy: quoteAround(2, 5) }).open().rounds(2);
  const before = toy.engine.book.snapshot(toy.now);
  const counts = fc.record({ buy: fc.nat(5), sell: fc.nat(5) });
  fc.assert(
    fc.property(counts, fc.array(fc.constantFrom(...STATES), { maxLength: 9 }), ({ buy, sell }, states) => {
      const snapshot: Snapshot = {
        ...before,
        orders: states.map(order),
        counts: { buy: { ...before.counts.buy, unknown: buy }, sell: { ...before.counts.sell, unknown: sell } },
      };
      const now = states.filter(state => state === 'unknown').length;
      const stop = { left: [], ledgerMatches: true } as never;
      const summary = summaryOf(plain, snapshot, stop, { seconds: 1, requests: 0, halted: null, faults: [null] });
      expect([summary.orders.unknown, summary.orders.unresolved ?? 0]).toEqual([buy + sell, now]);
      const [, told] = /rejected, (.*)$/m.exec(textOf(summary, 'puntas resume'))!;
      const found = /^(?:(\d+) unknown)?(?:, )?(?:(\d+) (?:(?:was|were) unknown, all )?resolved)?$/.exec(told!)!;
      expect([Number(found[1] ?? 0), Number(found[2] ?? 0)]).toEqual([now, Math.max(0, buy + sell - now)]);
    }),
  );
});
