/** Levels of a side from the steps of their prices. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amount, type Side } from '../../src/core/index.ts';
import { quoteLevelsOf } from '../../strategies/quoteLevels.ts';
import { runsOf } from '../many.ts';

test('no level is nearer to the market than one before it, and all amounts together are within the room', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<Side>('buy', 'sell'),
      fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 8 }),
      fc.integer({ min: 0, max: 90 }),
      (side, wanted, room) => {
        const prices = wanted.map(away => [{ name: 'fair value: mid', ticks: 1_000 + away }]);
        const levels = quoteLevelsOf(side, prices, amount(20), room);
        const outermost = side === 'buy' ? Math.min : Math.max;
        const expected = wanted.map((_, i) => 1_000 + outermost(...wanted.slice(0, i + 1)));
        const lots = wanted.map((_, i) => Math.min(20, room - 20 * i)).filter(of => of > 0);
        expect(levels.map(level => [level.price, level.amount])).toEqual(lots.map((of, i) => [expected[i], of]));
        for (const { price, why } of levels) expect(why.reduce((sum, { ticks }) => sum + ticks, 0)).toBe(price);
      },
    ),
    runsOf(2_000, 200),
  );
});
