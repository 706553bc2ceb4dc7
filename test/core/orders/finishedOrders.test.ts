import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FinishedOrders } from '../../../src/core/orders/finishedOrders.ts';

type Ended = { readonly id: string; endNumber: number };

/** The same without any care for time: the last ends, oldest first; `null` where the order was reopened. */
class Plain {
  ends: (string | null)[] = [];
  reopen(id: string): void {
    this.ends = this.ends.map(one => (one === id ? null : one));
  }
  add(id: string, most: number): string | null {
    this.ends.push(id);
    return this.ends.length > most ? this.ends.shift()! : null;
  }
}

describe('orders that are over', () => {
  test('are forgotten in the turn of their last end, unless they live again', () => {
    const step = fc.record({ id: fc.integer({ min: 0, max: 7 }), ends: fc.boolean() });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), (most, steps) => {
        const [finished, plain] = [new FinishedOrders<Ended>(most), new Plain()];
        const orders = Array.from({ length: 8 }, (_, i): Ended => ({ id: `o-${i}`, endNumber: 0 }));
        for (const { id, ends } of steps) {
          const order = orders[id]!;
          finished.reopen(order.id);
          plain.reopen(order.id);
          if (ends) expect(finished.add(order)?.id ?? null).toBe(plain.add(order.id, most));
          const kept = orders.filter(one => finished.get(one.id) === one).map(one => one.id);
          expect(kept).toEqual(plain.ends.filter(one => one !== null).toSorted());
        }
      }),
    );
  });
});
