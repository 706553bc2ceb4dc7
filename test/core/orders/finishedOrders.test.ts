import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FinishedOrders } from '../../../src/core/orders/finishedOrders.ts';

type Ended = { readonly id: string; endNumber: number };

/** The same without any care for time or memory. */
class Plain {
  ended: string[] = [];
  add(id: string, most: number): string | null {
    this.ended = [...this.ended.filter(one => one !== id), id];
    return this.ended.length > most ? this.ended.shift()! : null;
  }
  reopen(id: string): void {
    this.ended = this.ended.filter(one => one !== id);
  }
}

describe('orders that are over', () => {
  test('are forgotten in the turn of their last end, however often they were reopened', () => {
    const step = fc.record({ id: fc.integer({ min: 0, max: 7 }), times: fc.integer({ min: 1, max: 700 }) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 30 }), (most, steps) => {
        const [finished, plain] = [new FinishedOrders<Ended>(most), new Plain()];
        const orders = Array.from({ length: 8 }, (_, i): Ended => ({ id: `o-${i}`, endNumber: 0 }));
        for (const { id, times } of steps)
          for (let i = 0; i < times; i++) {
            const order = orders[id]!;
            finished.reopen(order.id);
            plain.reopen(order.id);
            const forgotten = finished.add(order)?.id ?? null;
            if (forgotten !== plain.add(order.id, most)) throw new Error(`forgot ${forgotten}, after ${order.id}`);
          }
        expect(orders.filter(({ id }) => finished.has(id)).map(({ id }) => id)).toEqual(plain.ended.toSorted());
      }),
      { numRuns: 60 },
    );
  });
});
