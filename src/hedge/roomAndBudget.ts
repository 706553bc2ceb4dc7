/** Amount that can be hedged now, and hedge costs that count against the limits of a day or of a flatten request. */
import {
  money,
  moneyOf,
  textOfMoney,
  type HedgeRow,
  type HedgeRules,
  type Millis,
  type Money,
  type Side,
} from '../core/index.ts';
import type { HedgeView } from './view.ts';

/**
 * Limits `wanted` to the funds that the bot's orders do not lock, and to the worst-case position limit. A positive
 * amount of the base currency is sold, a negative one bought.
 */
export function hedgeableAmount(view: HedgeView, wanted: Money): Money {
  const sells = wanted > 0n;
  const side = sells ? 'sell' : 'buy';
  const { free } = view.sides[side];
  // The price of the hedge is not known yet, so a price 1% above the mid price is assumed.
  const affordable = sells ? free : (free * ONE * 100n) / (view.mid * 101n);
  const size = [sells ? wanted : -wanted, affordable, roomMoney(view, side)].reduce((a, b) => (b < a ? b : a));
  return money(size > 0n ? (sells ? size : -size) : 0n);
}

/**
 * Returns how much base currency, in 10^-18, a hedge on this side can still trade within the worst-case position limit.
 */
export const roomMoney = ({ sides, instrument }: HedgeView, side: Side): bigint =>
  BigInt(sides[side].room) * instrument.lotMoney;

/**
 * Returns the highest possible total cost of the hedges since the start of the UTC day, in the quote currency. The last
 * row stores the cost of the day's earlier hedges.
 */
export function spentOnDay(rows: readonly HedgeRow[], at: Millis): Money {
  const last = rows.at(-1);
  if (last === undefined || dayNumber(last.at) !== dayNumber(at)) return money(0n);
  return money(moneyOf(last.dayCost ?? '0') + ownCost(last));
}

/**
 * Returns the highest possible total cost of the hedges for one flatten request, in the quote currency. The last row
 * stores the cost of the request's earlier hedges.
 */
export function spentOnFlatten(rows: readonly HedgeRow[], id: string): Money {
  const last = rows.findLast(({ flatten }) => flatten?.id === id);
  if (last === undefined) return money(0n);
  return money(moneyOf(last.flatten?.cost ?? '0') + ownCost(last));
}

/**
 * Returns the remaining hedge budget (`null` for no limit), the name of the limit, and the cost fields of the next row.
 */
export function remainingBudget(
  rows: readonly HedgeRow[],
  { costDayMax }: Pick<HedgeRules, 'costDayMax'>,
  flatten: { readonly id: string; readonly costMax: Money } | null,
  at: Millis,
): { readonly left: Money | null; readonly budgetName: string } & Pick<HedgeRow, 'dayCost' | 'flatten'> {
  const dayCost = spentOnDay(rows, at);
  const today = costDayMax === undefined ? null : money(costDayMax - dayCost);
  const row = { dayCost: textOfMoney(dayCost) };
  if (flatten === null) return { left: today, budgetName: 'today', ...row };
  const cost = spentOnFlatten(rows, flatten.id);
  const rest = money(flatten.costMax - cost);
  const of = { ...row, flatten: { id: flatten.id, cost: textOfMoney(cost) } };
  return today !== null && today < rest
    ? { left: today, budgetName: 'today', ...of }
    : { left: rest, budgetName: 'flatten', ...of };
}

/**
 * Returns the maximum cost of one hedge, in the quote currency. The cost is 0 only if the hedge was certainly not
 * executed.
 */
const ownCost = ({ state, costMax }: HedgeRow): bigint => (state === 'failed' ? 0n : moneyOf(costMax ?? '0'));

const dayNumber = (at: Millis): number => Math.floor(at / 86_400_000);
const ONE = 10n ** 18n;
