/** How much may leave now, and what hedges have cost today. */
import { money, moneyOf } from '../core/index.ts';
import type { HedgeRow, Millis, Money, Side } from '../core/index.ts';
import type { HedgeView } from './view.ts';

/** As much of `wanted` (above zero: sold) as is not locked in our own orders, and as the worst case has room for. */
export function sizeOf(view: HedgeView, wanted: Money): Money {
  const sells = wanted > 0n;
  const side = sells ? 'sell' : 'buy';
  const { free } = view.sides[side];
  // What is to be paid is not known yet: a hundredth more than the middle.
  const affordable = sells ? free : (free * ONE * 100n) / (view.mid * 101n);
  const size = [sells ? wanted : -wanted, affordable, roomMoney(view, side)].reduce((a, b) => (b < a ? b : a));
  return money(size > 0n ? (sells ? size : -size) : 0n);
}

/** By how much the worst case of a side may still grow, in the major currency. */
export const roomMoney = ({ sides, instrument }: HedgeView, side: Side): bigint =>
  BigInt(sides[side].room) * instrument.lotMoney;

/** What the hedges of the UTC day of `at` may have cost, in the minor currency: each row says what those before it did. */
export function spentOnDay(rows: readonly HedgeRow[], at: Millis): Money {
  const last = rows.at(-1);
  if (last === undefined || dayOf(last.at) !== dayOf(at)) return money(0n);
  const own = last.state === 'failed' ? 0n : moneyOf(last.costMax ?? '0');
  return money(moneyOf(last.dayCost ?? '0') + own);
}

const dayOf = (at: Millis): number => Math.floor(at / 86_400_000);
const ONE = 10n ** 18n;
