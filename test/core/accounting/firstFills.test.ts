/** First fills on an untried exchange: which of them count, and until when orders have the smallest size. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FirstFills, smallestSizes } from '../../../src/core/accounting/firstFills.ts';

test('a fill counts when the first comparison after it agrees, and never after one that differs, over restarts', () => {
  const step = fc.constantFrom('fill', 'fill', 'agrees', 'differs', 'restart');
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (steps, until) => {
      let fills = new FirstFills();
      fills.restore(until, undefined);
      let [counted, waiting] = [0, 0];
      for (const of of steps) {
        if (of === 'fill') {
          fills.filled();
          waiting++;
        } else if (of === 'restart') {
          const { state } = fills;
          fills = new FirstFills();
          fills.restore(until, state);
        } else {
          fills.compared(of === 'agrees');
          [counted, waiting] = [counted + (of === 'agrees' ? waiting : 0), 0];
        }
        expect(fills.state).toEqual({ reconciled: counted, waiting });
        expect(fills.isSmallest).toBe(counted < until);
      }
    }),
  );
});

test('on any other exchange nothing is counted, and a count of earlier runs is kept', () => {
  for (const state of [undefined, { reconciled: 3, waiting: 1 }]) {
    const fills = new FirstFills();
    fills.restore(0, state);
    expect([fills.isSmallest, fills.state]).toEqual([false, state]);
  }
  const none = new FirstFills();
  none.filled();
  none.compared(true);
  expect([none.isSmallest, none.state]).toEqual([false, undefined]);
});

test('orders with the smallest size are named with their count, per exchange, and no others', () => {
  const counts = fc.record({ reconciled: fc.nat(30), until: fc.nat(30), waiting: fc.nat(3) });
  fc.assert(
    fc.property(counts, fc.option(fc.record({ reconciled: fc.nat(30), until: fc.nat(30) })), (own, hedges) => {
      const fills = new FirstFills();
      fills.restore(own.until, own);
      const there = hedges && { place: 'there', ...hedges };
      expect(smallestSizes(fills, there)).toEqual([
        ...(own.reconciled < own.until
          ? [`orders have the smallest size: ${own.reconciled} of ${own.until} fills have reconciled`]
          : []),
        ...(there
          ? [`hedges at there have the smallest size: ${there.reconciled} of ${there.until} have reconciled`]
          : []),
      ]);
    }),
  );
});
