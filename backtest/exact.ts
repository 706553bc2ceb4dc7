/** Queue places and fills where the tape tells single orders: nothing is estimated. */
import { crossing, take } from '../src/fills/index.ts';
import type { FillRule, QueueModel } from '../src/fills/index.ts';
import type { MarketRows } from './rows.ts';

/**
 * Where the tape tells single orders: what came before ours is ahead, nothing is estimated. Goes with the rule `exactOrders`.
 */
export function exact(rows: MarketRows): QueueModel {
  const orders = rows.orders;
  if (orders === null) throw new RangeError('exact queue places need a tape that tells single orders');
  return {
    name: 'exact',
    joined: (order, displayed) => {
      order.front = displayed;
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

/** On tapes that tell single orders: a taker who met an order behind ours, or at a worse price, would have met ours before it. */
export function exactOrders(rows: MarketRows): FillRule {
  const orders = rows.orders;
  if (orders === null) throw new RangeError('exact fills need a tape that tells single orders');
  const { born } = orders;
  return {
    name: 'exact orders',
    traded(own, sign, place, lots, fill, row, sweep) {
      let rest = lots;
      let elsewhere = 0;
      for (const order of own) {
        if (order.place * sign > place * sign) break;
        const passed = sweep.before(order.place, rest);
        elsewhere += passed;
        rest -= passed;
        if (order.place === place && born[row]! < order.joined) order.front = Math.max(0, order.front - rest);
        else {
          const part = take(order, rest, fill);
          elsewhere += part;
          rest -= part;
        }
      }
      sweep.end(place, elsewhere + sweep.before(place, rest));
    },
    crossed: crossing,
  };
}
