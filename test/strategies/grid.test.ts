/** The grid's lines: those within its bounds, and no other, wherever the market is. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silenceReason, type Quote } from '../../src/core/index.ts';
import { runsOf } from '../many.ts';
import { COIN, MID, strategyOf, viewOf } from './examples.ts';

/** One tick is 10 of the quote currency. The market may be below, within or above the bounds, which each may be absent. */
const bound = fc.option(fc.integer({ min: -400, max: 400 }), { nil: undefined });

test('a grid with bounds shows what it shows without them, less every line outside, on both sides and also where markouts move it, and says where nothing is left', () => {
  let [left, none] = [0, 0];
  fc.assert(
    fc.property(
      bound,
      bound,
      fc.integer({ min: 20, max: 200 }),
      fc.integer({ min: 1, max: 5 }),
      fc.record({ buy: fc.integer({ min: 0, max: 300 }), sell: fc.integer({ min: 0, max: 300 }) }),
      (one, two, bps, levels, widenBps) => {
        const priceAt = (away: number) => MID * (1 + away / 10_000);
        const [low, high] = one !== undefined && two !== undefined && one > two ? [two, one] : [one, two];
        if (low !== undefined && low === high) return;
        const parameters = { spacingBps: bps, levels, amount: '0.001', minEdgeBps: 0 };
        const bounds = {
          ...(low === undefined ? {} : { lowPrice: String(priceAt(low) * 10) }),
          ...(high === undefined ? {} : { highPrice: String(priceAt(high) * 10) }),
        };
        const quote = (more: object): Quote =>
          strategyOf('grid', { ...parameters, ...more }).quote(viewOf({ positionMax: COIN as never, widenBps }));
        const [free, bounded] = [quote({}), quote(bounds)];
        const isWithin = ({ price }: { readonly price: number }) =>
          price >= (low === undefined ? 0 : priceAt(low)) && price <= (high === undefined ? Infinity : priceAt(high));
        for (const [side, no] of [
          ['bids', 'noBid'],
          ['asks', 'noAsk'],
        ] as const) {
          expect(free[side]).toHaveLength(levels);
          const within = free[side].filter(isWithin);
          expect(bounded[side]).toEqual(within);
          if (within.length === 0) none++;
          else left++;
          const reason = bounded[no];
          expect(reason === undefined ? null : silenceReason(reason)).toBe(
            within.length === 0 ? 'outside its price range' : null,
          );
        }
      },
    ),
    runsOf(2_000, 100),
  );
  expect(Math.min(left, none)).toBeGreaterThan(10);
});
