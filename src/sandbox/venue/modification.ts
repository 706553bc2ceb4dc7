/** What a v4 modification makes of an order: amount, value and lock recomputed as the documents say (public-facts 6). */
import { money } from '../../core/index.ts';
import type { Amount, Money, Price } from '../../core/index.ts';
import { isWaiting, limitLock, stopLock, unfilled } from './order.ts';
import type { VenueOrder } from './order.ts';
import type { Switches } from '../switches/switches.ts';

/** `major` and `minor` are never both given. */
export type Modification = {
  readonly price?: Price;
  readonly major?: Amount;
  readonly minor?: Money;
  readonly stop?: Price;
  /** Cancel the order when the modification cannot be processed. */
  readonly cancel: boolean;
};

export type Target = {
  readonly price: Price;
  readonly original: Amount;
  readonly minor: Money | undefined;
  readonly stop: Price | undefined;
  readonly lock: Money;
};

/** The order after the change, as it stands now; null when nothing would be left of it. */
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

/** The new original amount. A buy that changes its price alone keeps its value, a sell its amount. */
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
