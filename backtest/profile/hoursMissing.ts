/** Number of further hours of data after which a verdict on quoting is expected to be known. */
import type { DistancePoint } from './distanceProfile.ts';

/** Margin at one distance: remaining edge minus fee, with the distances to its lower and upper bounds, in bps. */
export type BoundedMargin = {
  /** Upper bound of the filled value per hour, in the quote currency. */
  readonly perHour: number;
  readonly marginBps: number;
  readonly belowBps: number;
  readonly aboveBps: number;
};

/** Profit per day that is worth quoting, as a share of the capital. */
const WORTH_PER_DAY = 0.001;
/** Number of orders that the capital covers, on both sides together. */
const CAPITAL_ORDERS = 20;
/** Maximum number of hours that is reported. */
const HOURS_MAX = 1_000;

/** Returns the profit per hour, in the quote currency, below which quoting counts as not worth it. */
export const worthPerHour = (orderValue: number): number => (WORTH_PER_DAY * CAPITAL_ORDERS * orderValue) / 24;

/**
 * Returns the number of hours until either some lower bound is above 0, or every upper bound is below `worth` per hour.
 * Bounds approach the margins with the square root of the time. Returns `null` for over a thousand hours.
 */
export function hoursToDecide(margins: readonly BoundedMargin[], hours: number, worth: number): number | null {
  const until = (half: number, room: number): number =>
    room > 0 ? hours * Math.max(0, (half / room) ** 2 - 1) : Infinity;
  const toQuote = Math.min(...margins.map(({ marginBps, belowBps }) => until(belowBps, marginBps)));
  const toDecline = Math.max(
    ...margins.map(({ perHour, marginBps, aboveBps }) => until(aboveBps, (1e4 * worth) / perHour - marginBps)),
  );
  return reported(Math.min(toQuote, toDecline));
}

/** Returns the number of hours until some distance has enough fills in enough blocks; `null` without fills. */
export function hoursToMeasure(
  points: readonly DistancePoint[],
  horizon: number,
  fillsMin: number,
  blocksMin: number,
): number | null {
  const needed = points.map(({ fills, blocks }) => {
    const hours = blocks.seconds.reduce((sum, seconds) => sum + seconds, 0) / 3_600;
    const filled = blocks.known[horizon]!.filter(value => value > 0).length;
    return hours * (Math.max(fillsMin / fills, blocksMin / filled) - 1);
  });
  return reported(Math.min(Infinity, ...needed));
}

const reported = (hours: number): number | null =>
  hours <= HOURS_MAX ? Number(Math.max(hours, 0.1).toPrecision(2)) : null;
