/**
 * Construction of a side's levels: amounts within the inventory limit, and steps that add up to the price of each
 * level.
 */
import type { Amount, Level, Quote, Side, Step, View } from '../src/core/index.ts';

/** Name of the step that compensates adverse price moves after fills. */
export const ADVERSE = 'adverse selection';

/** Meaning of the steps that every strategy can have, by the name of the step; `*` is a placeholder. */
export const LEVEL_STEPS = {
  'fair value: mid': 'The mid price, unless a section `fairValue` is configured.',
  [ADVERSE]: 'Outward shift by the usual adverse move after fills, from `markouts` or the configured model.',
  'level *': 'Distance of this level from the first level.',
  'not before the level inside': "Shift to the inner level's price, if this level would be nearer the mid price.",
};

/** Returns the sum of the steps, in ticks, not rounded to whole ticks; 0 without steps. */
export function totalOf(steps: readonly Step[]): number {
  let sum = 0;
  for (const { ticks } of steps) sum += ticks;
  return sum;
}

/** Returns the price around which to quote, in ticks: the configured fair value, by default the mid price. */
export const fairPrice = (view: View): number => view.fair?.price ?? view.mid;

/** Returns the steps that add up to `fairPrice`. */
export const fairSteps = (view: View): readonly Step[] =>
  view.fair?.steps ?? [{ name: 'fair value: mid', ticks: view.mid }];

/** Returns the direction away from the fair value: -1 for bids, +1 for asks. */
export const awayOf = (side: Side): -1 | 1 => (side === 'buy' ? -1 : 1);

/** Limits x to the bounds; NaN becomes the lower bound. */
export const clamp = (x: number, low: number, high: number): number => (x > low ? Math.min(x, high) : low);

/** Returns an empty quote with its reason. */
export const silent = (why: string): Quote => ({ bids: [], asks: [], noBid: why, noAsk: why });

const NO_STEPS: readonly Step[] = [];

/** Returns the step by which markouts widen a side; empty if that step is not positive and finite. */
export function adverseSteps(side: Side, view: View, fair: number): readonly Step[] {
  const bps = view.widenBps[side];
  return bps > 0 && bps < Infinity ? [{ name: ADVERSE, ticks: (awayOf(side) * bps * fair) / 10_000 }] : NO_STEPS;
}

/**
 * Returns the inventory by which a strategy skews its prices, in lots. Limits of inventory use `view.position`.
 */
export const skewPositionOf = ({ position, skewPosition = position }: View): number => skewPosition;

/**
 * Returns how many lots a side can still trade. Bids can trade until inventory is `cap` lots above its target, asks
 * until it is `cap` lots below. Returns 0 if a number is NaN.
 */
export function inventoryRoom(side: Side, view: View, cap: number): number {
  const room = side === 'buy' ? cap - view.position : cap + view.position;
  return room > 0 ? Math.floor(room) : 0;
}

/**
 * Builds one level per entry of `prices`, each given as steps, best price first. Each amount is `lots`, but the total
 * is at most `room`, the number of lots that the side may still add. A level closer to the fair value than the level
 * before it gets a step to that level's price.
 */
export function quoteLevelsOf(side: Side, prices: readonly (readonly Step[])[], lots: Amount, room: number): Level[] {
  const away = awayOf(side);
  const levels: Level[] = [];
  let left = room;
  let before = away * -Infinity;
  for (const steps of prices) {
    const amount = Math.min(lots, left) as Amount;
    if (!(amount > 0)) break;
    left -= amount;
    let why = steps;
    let price = totalOf(why);
    if (away * (price - before) < 0) {
      why = [...steps, { name: 'not before the level inside', ticks: before - price }];
      price = totalOf(why);
    }
    before = price;
    levels.push({ price, amount, why });
  }
  return levels;
}

/** Returns a reason not to quote that names the unknown number of the view; `null` if all numbers are known. */
export function unknownIn(view: View): string | null {
  if (!(view.mid > 0 && view.mid < Infinity)) return 'the fair value is not known';
  if (!Number.isFinite(view.position)) return 'the inventory is not known';
  if (!(Math.abs(view.makerRate) < 1e8)) return 'the maker fee is not known';
  return null;
}
