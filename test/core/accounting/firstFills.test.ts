/** First fills on an untried exchange: which of them count, and until when orders have the smallest size. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FirstFills } from '../../../src/core/accounting/firstFills.ts';

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
