import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MESSAGE, MessageRing } from '../../../backtest/exchange/messageRing.ts';
import { OwnOrder } from '../../../backtest/exchange/ownOrders.ts';
import { runsOf } from '../../many.ts';

describe('messages on their way', () => {
  test('arrive in the order in which they were sent, none before an earlier one, however many there are', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 300 }), delays => {
        const ring = new MessageRing();
        const order = new OwnOrder();
        delays.forEach((delay, i) => ring.push(i + delay, MESSAGE.filled, order, i, i, 0));
        expect(order.messages).toBe(delays.length);
        let before = -Infinity;
        for (let i = 0; i < delays.length; i++) {
          expect(ring.lots).toBe(i);
          expect(ring.headAt).toBeGreaterThanOrEqual(Math.max(before, i + delays[i]!));
          before = ring.headAt;
          ring.shift();
        }
        expect([ring.headAt, ring.count, order.messages]).toEqual([Infinity, 0, 0]);
        expect(() => ring.shift()).toThrow(/no message/);
      }),
    );
  });

  test('are what a plain list has, each with all its own numbers, however many come and go before more are on their way than ever', () => {
    const turn = fc.record({ sent: fc.integer({ min: 0, max: 200 }), taken: fc.integer({ min: 0, max: 200 }) });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 6 }), turns => {
        const ring = new MessageRing();
        const kinds = Object.values(MESSAGE);
        const orders = Array.from({ length: 3 }, () => new OwnOrder());
        const list: { at: number; order: OwnOrder; numbers: readonly number[] }[] = [];
        let [made, latest] = [0, 0];
        for (const { sent, taken } of turns) {
          for (let i = 0; i < sent; i++) {
            const n = ++made;
            const order = orders[n % orders.length]!;
            const kind = kinds[n % kinds.length]!;
            const at = (n * 7) % 1_000;
            latest = Math.max(latest, at);
            ring.push(at, kind, order, n, n + 0.25, n + 0.5, n + 0.75);
            list.push({ at: latest, order, numbers: [kind, n, n + 0.25, n + 0.5, n + 0.75] });
          }
          for (let i = 0; i <= taken && list.length > 0; i++) {
            const { at, order, numbers } = list[0]!;
            expect([ring.kind, ring.lots, ring.sent, ring.mid, ring.place]).toEqual(numbers);
            expect(ring.order).toBe(order);
            expect([ring.headAt, ring.count]).toEqual([at, list.length]);
            if (i === taken) break;
            ring.shift();
            list.shift();
          }
          expect([ring.headAt, ring.count]).toEqual([list[0]?.at ?? Infinity, list.length]);
          for (const order of orders) expect(order.messages).toBe(list.filter(one => one.order === order).length);
        }
      }),
      runsOf(100, 30),
    );
  });
});
