/** Amount that an order must lock, computed only from its own fields. */
import { money, type Money } from '../../../src/core/index.ts';
import { isActive, isWaiting, limitLock, unfilled, type VenueOrder } from '../../../src/sandbox/venue/order.ts';

/** Computes the expected lock of an order from its own fields; tests compare the books with it. */
export function impliedLock(order: VenueOrder): Money {
  if (!isActive(order)) return money(0n);
  if (isWaiting(order) || order.type === 'market') return order.locked;
  return limitLock(order.instrument, order.side, order.price, unfilled(order));
}
