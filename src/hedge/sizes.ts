/** How much may leave now, and what hedges have cost today or for one request to close everything. */
import { money, moneyOf, textOfMoney } from '../core/index.ts';
import type { HedgeRow, HedgeRules, Millis, Money, Side } from '../core/index.ts';
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
  if (last === undefined || dayNumber(last.at) !== dayNumber(at)) return money(0n);
  return money(moneyOf(last.dayCost ?? '0') + ownCost(last));
}

/** What the hedges of one such request may have cost, in the minor currency: the last of them says what those before it did. */
export function spentOnFlatten(rows: readonly HedgeRow[], id: string): Money {
  const last = rows.findLast(({ flatten }) => flatten?.id === id);
  if (last === undefined) return money(0n);
  return money(moneyOf(last.flatten?.cost ?? '0') + ownCost(last));
}

/** What hedges may still cost now, null without a limit, by which limit, and what those before may have cost, as the next row says it. */
export function leftNow(
  rows: readonly HedgeRow[],
  { costDayMax }: Pick<HedgeRules, 'costDayMax'>,
  flatten: { readonly id: string; readonly costMax: Money } | null,
  at: Millis,
): { readonly left: Money | null; readonly leftOf: string } & Pick<HedgeRow, 'dayCost' | 'flatten'> {
  const dayCost = spentOnDay(rows, at);
  const today = costDayMax === undefined ? null : money(costDayMax - dayCost);
  const row = { dayCost: textOfMoney(dayCost) };
  if (flatten === null) return { left: today, leftOf: 'today', ...row };
  const cost = spentOnFlatten(rows, flatten.id);
  const rest = money(flatten.costMax - cost);
  const of = { ...row, flatten: { id: flatten.id, cost: textOfMoney(cost) } };
  return today !== null && today < rest
    ? { left: today, leftOf: 'today', ...of }
    : { left: rest, leftOf: 'flatten', ...of };
}

/** What it may have cost: nothing only where it certainly was not carried out. */
const ownCost = ({ state, costMax }: HedgeRow): bigint => (state === 'failed' ? 0n : moneyOf(costMax ?? '0'));

const dayNumber = (at: Millis): number => Math.floor(at / 86_400_000);
const ONE = 10n ** 18n;
