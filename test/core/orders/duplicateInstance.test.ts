/** Another process under our name is known by orders that keep coming: three reads within one minute, and nothing that is older. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DuplicateInstance } from '../../../src/core/orders/duplicateInstance.ts';

describe('orders of our name that nobody here placed', () => {
  it('are of somebody who lives from the third read of one minute that shows new ones, and then for good', () => {
    const reads = fc.array(
      fc.record({ afterMs: fc.integer({ min: 1, max: 45_000 }), orders: fc.integer({ min: 0, max: 2 }) }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(reads, told => {
        const rivals = new DuplicateInstance();
        const seen: number[] = [];
        let at = 1.7e12;
        let isSure = false;
        for (const { afterMs, orders } of told) {
          at += afterMs;
          if (orders > 0) seen.push(at);
          isSure ||= seen.filter(one => at - one < 60_000).length >= 3;
          expect(rivals.recordRead(orders, at)).toBe(isSure);
          expect(rivals.isSure).toBe(isSure);
        }
      }),
    );
  });

  it('are of nobody when the third read comes a whole minute after the first', () => {
    for (const [last, isSure] of [
      [59_999, true],
      [60_000, false],
    ] as const) {
      const rivals = new DuplicateInstance();
      expect([0, 30_000, last].map(ms => rivals.recordRead(1, 1.7e12 + ms))).toEqual([false, false, isSure]);
    }
  });

  it('keep quotes away for ten seconds when there were two or more, for one of them alone not at all', () => {
    for (const start of [0, 1.7e12]) {
      const one = new DuplicateInstance();
      one.recordRead(1, start);
      expect(one.mightBeRunning(start + 1)).toBe(false);
      const two = new DuplicateInstance();
      two.recordRead(2, start);
      expect([0, 9_999, 10_000].map(ms => two.mightBeRunning(start + ms))).toEqual([true, true, false]);
    }
  });
});
