import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RequestBudget } from '../../../backtest/exchange/requestBudget.ts';

describe('the request budget', () => {
  test('never lets more than its number pass in any minute, and lets them pass again after it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 200 }), waits => {
        const budget = new RequestBudget(5);
        const passed: number[] = [];
        let at = 0;
        for (const wait of waits) {
          at += wait;
          const recent = passed.filter(time => at - time < 60_000).length;
          expect(budget.take(at, 1)).toBe(recent < 5);
          if (recent < 5) passed.push(at);
        }
      }),
    );
  });
});
