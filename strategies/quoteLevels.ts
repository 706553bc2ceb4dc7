/** Levels out of prices: amounts within the room that inventory leaves, and steps that add up to each price. */
import type { Amount, Level, Quote, Side, Step, View } from '../src/core/index.ts';

/** Name of what is paid for the price moving against us after a fill. */
export const ADVERSE = 'adverse selection';

/** What the steps mean that any strategy may have here; `*` stands for what varies. */
export const LEVEL_STEPS = {
  'fair value: mid': 'The mid price, unless a section `fairValue` is configured.',
  [ADVERSE]: 'Further out by the usual move against fills, from `markouts` or the configured model.',
  'level *': 'Distance of a further level from the first level.',
  'not before the level inside': 'Moved out to the level before it.',
};

/** The price that the steps make, in ticks, not on the grid; 0 of none. */
export function totalOf(steps: readonly Step[]): number {
  let sum = 0;
  for (const { ticks } of steps) sum += ticks;
  return sum;
}

/** Where quotes are counted from, in ticks: the middle, unless the configuration says otherwise. */
export const fairPrice = (view: View): number => view.fair?.price ?? view.mid;

/** The same as the steps that lead to it. */
export const fairSteps = (view: View): readonly Step[] =>
  view.fair?.steps ?? [{ name: 'fair value: mid', ticks: view.mid }];

/** -1 for bids, +1 for asks: the direction away from the fair value. */
export const awayOf = (side: Side): -1 | 1 => (side === 'buy' ? -1 : 1);

/** NaN becomes the lower bound. */
export const clamp = (x: number, low: number, high: number): number => (x > low ? Math.min(x, high) : low);

/** No quote at all, and why. */
export const silent = (why: string): Quote => ({ bids: [], asks: [], noBid: why, noAsk: why });

const NO_STEPS: readonly Step[] = [];

/** The step by which markouts of our fills move a side out; none when they do not, or are no number. */
export function adverseSteps(side: Side, view: View, fair: number): readonly Step[] {
  const bps = view.widenBps[side];
  return bps > 0 && bps < Infinity ? [{ name: ADVERSE, ticks: (awayOf(side) * bps * fair) / 10_000 }] : NO_STEPS;
}

/** Lots that may still be bought (sold) before the position is `cap` lots from the target; 0 when a number is none. */
export function inventoryRoom(side: Side, view: View, cap: number): number {
  const room = side === 'buy' ? cap - view.position : cap + view.position;
  return room > 0 ? Math.floor(room) : 0;
}

/**
 * One level for each entry of `prices`, as the steps that make it, best first; the amount of each is `lots` or what is left of the room,
 * floored to whole lots. A level further in than the one before it is moved out to it by a step of its own.
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
