/** The peg with a usual basis: the unit of the reference has no effect. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { between } from '../draws.ts';
import { runsOf } from '../many.ts';
import { EXAMPLES, MID, strategyOf, viewOf } from './examples.ts';

test('quotes the same prices whatever the usual ratio of the reference to the book is', () => {
  const moves = fc.array(fc.integer({ min: -60, max: 60 }), { minLength: 1, maxLength: 12, size: 'medium' });
  let quoted = 0;
  fc.assert(
    fc.property(moves, between(0.2, 5), between(0.1, 1), (ticks, factor, weight) => {
      const parameters = { ...EXAMPLES.peg, basisMemory: '10m', maxDivergenceBps: 100, weight };
      const [one, other] = [strategyOf('peg', parameters), strategyOf('peg', parameters)];
      ticks.forEach((away, n) => {
        const at = 1_000_000 + n * 1_000;
        const pricesAt = (of: number, strategy: typeof one): readonly number[] => {
          const { bids, asks } = strategy.quote(viewOf({ at, reference: { at, price: (MID + 50 + away) * of } }));
          return [...bids, ...asks].map(({ price }) => price);
        };
        const [a, b] = [pricesAt(1, one), pricesAt(factor, other)];
        expect(b).toHaveLength(a.length);
        b.forEach((price, i) => expect(price).toBeCloseTo(a[i]!, 4));
        if (a.length > 0) quoted++;
      });
    }),
    runsOf(1_000, 60),
  );
  expect(quoted).toBeGreaterThan(50);
});
