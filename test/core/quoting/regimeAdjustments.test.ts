/** What a regime makes of a quote: only what closes inventory, and never more of it than there is. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amount, price, type Level, type Order, type Quote, type Side } from '../../../src/core/index.ts';
import { reduceOnlyQuote, reducedPlan } from '../../../src/core/quoting/regimeAdjustments.ts';

const lots = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 6 });
const position = fc.integer({ min: -120, max: 120 });
const levelsOf = (amounts: readonly number[], away: number): Level[] =>
  amounts.map((lot, i) => ({ price: 1_000 + away * (i + 1), amount: amount(lot), why: [] }));
const sumOf = (of: readonly { readonly amount: number }[]): number => of.reduce((sum, one) => sum + one.amount, 0);

describe('a quote that may only reduce', () => {
  it('has all its levels together close no more than there is, and as much of it as was wanted, best levels first', () => {
    fc.assert(
      fc.property(lots, lots, position, (bought, sold, held) => {
        const quote: Quote = { bids: levelsOf(bought, -1), asks: levelsOf(sold, 1) };
        const { bids, asks } = reduceOnlyQuote(quote, held);
        expect(sumOf(bids)).toBe(Math.min(sumOf(quote.bids), Math.max(0, -held)));
        expect(sumOf(asks)).toBe(Math.min(sumOf(quote.asks), Math.max(0, held)));
        expect(bids.map(level => level.price)).toEqual(quote.bids.slice(0, bids.length).map(level => level.price));
        for (const { amount: shown, amounts } of [...bids, ...asks])
          if (amounts) expect(amounts.reduce((sum, step) => sum + step.lots, 0)).toBe(shown);
      }),
    );
  });

  it('keeps of the orders that are there no more than there is to close, all of them together', () => {
    const orders = fc.array(fc.record({ lot: fc.integer({ min: 1, max: 50 }), filled: fc.nat(49) }), { maxLength: 6 });
    fc.assert(
      fc.property(
        orders,
        fc.constantFrom<Side>('buy', 'sell'),
        fc.integer({ min: -110, max: 110 }),
        (there, side, percent) => {
          // Mostly less than all of them would close, on the side on which they would.
          const all = there.reduce((sum, { lot, filled }) => sum + lot - Math.min(filled, lot - 1), 0);
          const held = Math.round((all * percent) / 100);
          const keep = there.map(({ lot, filled }, i) => {
            const order = {
              id: `o${i}`,
              side,
              price: price(1_000 + i),
              amount: lot,
              filled: Math.min(filled, lot - 1),
            };
            const whole = { ...order, state: 'open', finalFilled: null } as unknown as Order;
            return { order: whole, level: { side, index: i, price: whole.price, amount: whole.amount, why: [] } };
          });
          const plan = reducedPlan(
            { place: [], cancel: [], keep, wait: [] },
            side,
            held,
            keep.map(({ order }) => order),
          );
          const left = plan.keep.reduce((sum, { order }) => sum + order.amount - order.filled, 0);
          expect(left).toBeLessThanOrEqual(Math.max(0, side === 'buy' ? -held : held));
          expect(plan.keep.length + plan.cancel.length).toBe(keep.length);
        },
      ),
    );
  });
});
