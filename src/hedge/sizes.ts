/** How much may leave now, and what hedges have cost today. */
import { money, moneyOf, roomOf } from '../core/index.ts';
import type { HedgeRow, Instrument, Millis, Money, Snapshot, RiskContext } from '../core/index.ts';

/**
 * As much of `wanted` (above zero: sold) as is not locked in our own orders, and as the worst case has room for: everything of ours that may
 * live could still fill on the same side.
 */
export function sizeOf(
  { major, minor, ...instrument }: Instrument,
  { orders, holdings }: Snapshot,
  standing: RiskContext,
  wanted: Money,
  middle: Money,
): Money {
  const sells = wanted > 0n;
  const side = sells ? 'sell' : 'buy';
  let locked = 0n;
  for (const order of orders) {
    if (order.side !== side) continue;
    const lots = BigInt(order.amount - order.filled);
    locked += sells ? lots * instrument.lotMoney : lots * BigInt(order.price) * instrument.tickLotMoney;
  }
  const rest = (holdings.get(sells ? major : minor) ?? 0n) - locked;
  // What is to be paid is not known yet: a hundredth more than the middle.
  const affordable = sells ? rest : (rest * ONE * 100n) / (middle * 101n);
  const room = roomMoney(standing, side);
  const size = [sells ? wanted : -wanted, affordable, room].reduce((a, b) => (b < a ? b : a));
  return money(size > 0n ? (sells ? size : -size) : 0n);
}

/** The price of one major in the middle of the book. */
export const middleOf = ({ tickMoney }: Instrument, { bid, ask }: Snapshot): Money =>
  money(((BigInt(bid) + BigInt(ask)) * tickMoney) / 2n);

/** By how much the worst case of a side may still grow, in the major currency. */
export const roomMoney = (standing: RiskContext, side: 'buy' | 'sell'): bigint =>
  BigInt(Math.max(0, roomOf(side, standing))) * standing.instrument.lotMoney;

/** What the hedges of the UTC day of `at` may have cost, in the minor currency: each row says what those before it did. */
export function spentOnDay(rows: readonly HedgeRow[], at: Millis): Money {
  const last = rows.at(-1);
  if (last === undefined || dayOf(last.at) !== dayOf(at)) return money(0n);
  const own = last.state === 'failed' ? 0n : moneyOf(last.costMax ?? '0');
  return money(moneyOf(last.dayCost ?? '0') + own);
}

const dayOf = (at: Millis): number => Math.floor(at / 86_400_000);
const ONE = 10n ** 18n;
