/** Effect of a v4 modification on an order: amount, value and lock, recomputed as documented (public-facts 6). */
import { money, type Amount, type Money, type Price } from '../../core/index.ts';
import { isWaiting, limitLock, stopLock, unfilled, type VenueOrder } from './order.ts';
import type { Switches } from '../switches/switches.ts';

/** Requested changes; at most one of `major` and `minor` is present. */
export type Modification = {
  readonly price?: Price;
  readonly major?: Amount;
  readonly minor?: Money;
  readonly stop?: Price;
  /** Whether to cancel the order if the modification cannot be processed. */
  readonly cancel: boolean;
};

export type Target = {
  readonly price: Price;
  readonly original: Amount;
  readonly minor: Money | undefined;
  readonly stop: Price | undefined;
  readonly lock: Money;
};

/** Returns the order's values after the change, or null if no open amount would remain. */
export function resolved(
  order: VenueOrder,
  change: Modification,
  switches: Pick<Switches, 'modifyMajor' | 'stopLocks'>,
): Target | null {
  const price = change.price ?? order.price;
  const stop = change.stop ?? order.stop;
  const original = originalOf(order, change, price, switches);
  const minor =
    order.type === 'market' ? (change.minor ?? (change.major === undefined ? order.minor : undefined)) : undefined;
  const left = (original - order.filled) as Amount;
  if (!(left > 0 || minor !== undefined)) return null;
  const lock = isWaiting(order)
    ? switches.stopLocks === 'at trigger'
      ? money(0n)
      : stopLock({ ...order, price, stop: stop!, amount: original, minor })
    : limitLock(order.instrument, order.side, price, left);
  return { price, original, minor, stop, lock };
}

/**
 * Returns the new original amount. If only the price changes, a buy order keeps its value and a sell order its amount.
 */
function originalOf(
  order: VenueOrder,
  change: Modification,
  price: Price,
  switches: Pick<Switches, 'modifyMajor'>,
): Amount {
  const counted = switches.modifyMajor === 'original' ? 0 : order.filled;
  if (change.major !== undefined) return (change.major + counted) as Amount;
  if (order.type === 'market') return change.minor !== undefined ? (0 as Amount) : order.original;
  if (change.minor !== undefined) {
    return (Number(change.minor / (order.instrument.tickLotMoney * BigInt(price))) + counted) as Amount;
  }
  if (change.price === undefined || order.side === 'sell') return order.original;
  const value = BigInt(order.price) * BigInt(unfilled(order));
  return (order.filled + Number(value / BigInt(price))) as Amount;
}
