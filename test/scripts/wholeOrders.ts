/** The fill rule of the golden run: no honest one. */
import { optimistic, type FillRule, type QueueModel } from '../../src/fills/index.ts';

/** An order fills whole or not at all, and each of ours sees every execution in full: the rule of the golden run, and no honest one. */
export function wholeOrders(queue: QueueModel): FillRule {
  const bound = optimistic();
  return {
    name: 'whole orders',
    traded(orders, sign, place, lots, fill) {
      for (const order of orders) {
        if (order.place * sign > place * sign) return;
        if (order.place === place) {
          queue.traded(order, lots);
          if (!(Math.round(-order.front) > 0)) continue;
          order.front = 0;
        }
        const { left } = order;
        if (left === 0) continue;
        order.left = 0;
        fill(order, left);
      }
    },
    crossed: (...args) => bound.crossed(...args),
  };
}
