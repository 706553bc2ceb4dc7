/** Amount that can be hedged now, and hedge costs that count against the limits of a day or of a flatten request. */
import {
  amountToHedge,
  money,
  moneyOf,
  textOfMoney,
  type HedgeRow,
  type HedgeRules,
  type Millis,
  type Money,
  type Side,
} from '../core/index.ts';
import type { HedgeInputs } from './hedgeInputs.ts';

/** Limits `wanted` to the worst-case position limit. A positive amount of the base currency is sold, a negative one bought. */
export const amountInRoom = (view: HedgeInputs, wanted: Money): Money =>
  limitedTo(wanted, [roomMoney(view, hedgeSide(wanted))]);

/** Limits `wanted` as `amountInRoom` does, and to the funds that the bot's orders do not lock. */
export function hedgeableAmount(view: HedgeInputs, wanted: Money): Money {
  const side = hedgeSide(wanted);
  const { free } = view.sides[side];
  // The price of the hedge is not known yet, so a price 1% above the mid price is assumed.
  const affordable = side === 'sell' ? free : (free * ONE * 100n) / (view.mid * 101n);
  return limitedTo(wanted, [affordable, roomMoney(view, side)]);
}

/**
 * Returns why a hedge of `base` no longer suits the present view; `null` if it still does. Inventory may have changed
 * since `amount` was chosen, and new orders of the bot may use up the worst-case position limit.
 */
export function lateProblem(view: HedgeInputs, rules: HedgeRules, amount: Money, base: Money): string | null {
  const now = amountToHedge(view.inventory, rules);
  if (base > (amount > 0n ? now : -now))
    return 'inventory changed while offers were requested, so the hedge would now be too large';
  return base > roomMoney(view, hedgeSide(amount))
    ? "the bot's orders now use too much of the position limit for this hedge"
    : null;
}

const hedgeSide = (amount: Money): Side => (amount > 0n ? 'sell' : 'buy');

function limitedTo(wanted: Money, most: readonly bigint[]): Money {
  const size = most.reduce((a, b) => (b < a ? b : a), wanted > 0n ? wanted : -wanted);
  return money(size > 0n ? (wanted > 0n ? size : -size) : 0n);
}

/**
 * Returns how much base currency, in 10^-18, a hedge on this side can still trade within the worst-case position limit.
 */
const roomMoney = ({ sides, instrument }: HedgeInputs, side: Side): bigint =>
  BigInt(sides[side].room) * instrument.lotMoney;

/**
 * Returns the highest possible total cost of the hedges since the start of the UTC day, in the quote currency. The
 * record of the last hedge contains the cost of the day's earlier hedges.
 */
export function spentOnDay(rows: readonly HedgeRow[], at: Millis): Money {
  const last = rows.at(-1);
  // A hedge of a later day is from before the clock was set back. A day that starts again has no new budget.
  if (last === undefined || dayNumber(last.at) < dayNumber(at)) return money(0n);
  return money(moneyOf(last.dayCost ?? '0') + ownCost(last));
}

/**
 * Returns the highest possible total cost of the hedges for one flatten request, in the quote currency. The record of
 * the last hedge contains the cost of the request's earlier hedges.
 */
export function spentOnFlatten(rows: readonly HedgeRow[], id: string): Money {
  const last = rows.findLast(({ flatten }) => flatten?.id === id);
  if (last === undefined) return money(0n);
  return money(moneyOf(last.flatten?.cost ?? '0') + ownCost(last));
}

/**
 * Returns the remaining hedge budget (`null` for no limit), the name of its limit, and the cost fields for the record
 * of the next hedge.
 */
export function remainingBudget(
  rows: readonly HedgeRow[],
  { costDayMax }: Pick<HedgeRules, 'costDayMax'>,
  flatten: { readonly id: string; readonly costMax: Money } | null,
  at: Millis,
): { readonly left: Money | null; readonly budgetName: string } & EarlierHedges {
  const dayCost = spentOnDay(rows, at);
  const today = costDayMax === undefined ? null : money(costDayMax - dayCost);
  const placed = rows.at(-1)?.placed;
  const row = { dayCost: textOfMoney(dayCost), ...(placed && { placed }) };
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

/** Costs and counts of earlier hedges, which the record of the next hedge contains. */
export type EarlierHedges = Pick<HedgeRow, 'dayCost' | 'flatten' | 'placed'>;

/** Returns the number of hedges on the other exchange `place` that have reconciled, as in `HedgeRow.placed`. */
export function reconciledElsewhere(rows: readonly HedgeRow[], place: string): number {
  const placed = rows.at(-1)?.placed;
  return placed?.place === place ? placed.count : 0;
}

const dayNumber = (at: Millis): number => Math.floor(at / 86_400_000);
const ONE = 10n ** 18n;
