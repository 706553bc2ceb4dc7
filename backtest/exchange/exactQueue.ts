/** Exact queue positions and fills for tapes with single orders. */
import { exactOrders, type FillRule, type QueueModel } from '../../src/fills/index.ts';
import type { MarketRows } from '../rows/rows.ts';

/**
 * Returns a queue model for tapes with single orders. The earlier orders at a price are known, so no queue position is
 * estimated. Used with `exactFills`.
 */
export function exact(rows: MarketRows): QueueModel {
  const orders = rows.orders;
  if (orders === null) throw new RangeError('exact queue positions need a tape of single orders');
  return {
    name: 'exact',
    joined: (order, displayed) => {
      order.front = displayed;
      order.traded = 0;
    },
    joinedUnseen: (order, guess) => {
      order.front = guess;
      order.traded = 0;
    },
    traded: () => undefined,
    changed(order, _before, after, row) {
      const left = orders.executed[row] === 0 && orders.gone[row]! > 0 && orders.born[row]! < order.joined;
      if (left) order.front -= orders.gone[row]!;
      order.front = Math.max(0, Math.min(order.front, after));
    },
  };
}

/** Returns the fill rule for the queue positions of `exact`. */
export function exactFills(rows: MarketRows): FillRule {
  const orders = rows.orders;
  if (orders === null) throw new RangeError('exact fills need a tape of single orders');
  const { born } = orders;
  return exactOrders(row => born[row]!);
}
