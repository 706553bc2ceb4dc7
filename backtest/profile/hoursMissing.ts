/** Number of further hours of data after which a verdict on quoting is expected to be known. */
import { normalQuantile } from '../../src/core/index.ts';
import { blockSum } from './blockError.ts';
import type { DistancePoint } from './distanceProfile.ts';

/** Margin at one distance, in bps: remaining edge minus fee, with the differences to its lower and its upper bound. */
export type BoundedMargin = {
  /** Upper bound of the filled value per hour, in the quote currency. */
  readonly perHour: number;
  readonly marginBps: number;
  readonly belowBps: number;
  readonly aboveBps: number;
};

/** Profit per day from which quoting is worthwhile, as a share of the capital. */
const WORTH_PER_DAY = 0.001;
/** Number of orders that the capital covers, on both sides together. */
const CAPITAL_ORDERS = 20;
/** Maximum number of hours that is reported. */
const HOURS_MAX = 1_000;

/** Returns the profit per hour, in the quote currency, below which quoting counts as not worth it. */
export const worthPerHour = (orderValue: number): number => (WORTH_PER_DAY * CAPITAL_ORDERS * orderValue) / 24;

/**
 * Returns the number of further hours until either some lower bound is above 0, or every upper bound is below `worth`
 * per hour. Bounds approach the margins with the square root of the time. `toMeasure` has, for each distance without
 * bounds, the hours until it has enough fills; `null` for over a thousand. Returns `null` for over a thousand hours.
 */
export function hoursToDecide(
  margins: readonly BoundedMargin[],
  hours: number,
  worth: number,
  toMeasure: readonly (number | null)[],
): number | null {
  const until = (half: number, room: number): number =>
    room > 0 ? hours * Math.max(0, (half / room) ** 2 - 1) : Infinity;
  const toQuote = Math.min(...margins.map(({ marginBps, belowBps }) => until(belowBps, marginBps)));
  const toDecline = Math.max(
    ...margins.map(({ perHour, marginBps, aboveBps }) => until(aboveBps, (1e4 * worth) / perHour - marginBps)),
    ...toMeasure.map(needed => needed ?? Infinity),
  );
  return reported(Math.min(toQuote, toDecline));
}

/** Returns the further hours until some distance has enough fills in enough blocks; `null` for over a thousand. */
export function hoursToMeasure(
  points: readonly DistancePoint[],
  horizon: number,
  fillsMin: number,
  blocksMin: number,
): number | null {
  const needed = points.map(({ fills, blocks }) => {
    const filled = blocks.known[horizon]!.filter(value => value > 0).length;
    return (blockSum(blocks.seconds) / 3_600) * (Math.max(fillsMin / fills, blocksMin / filled) - 1);
  });
  return reported(Math.min(Infinity, ...needed));
}

/**
 * Returns an upper bound of the profit per hour at a distance with few fills, in the quote currency. The rate of fills
 * is at most the upper bound of a Poisson rate, which is wrong with probability `error`. Fills come in groups, so the
 * Poisson rate is that of blocks with fills, times the fills per block. Each fill is assumed to have the value of a
 * complete order, and to earn its complete distance from the mid price.
 */
export function profitBound(
  { distanceBps, edgeBps, fills, blocks }: DistancePoint,
  orderValue: number,
  feeBps: number,
  error: number,
): number {
  const groups = blocks.fills.filter(count => count > 0).length;
  const perGroup = groups > 0 ? fills / groups : 1;
  const fillValue = Math.max(orderValue, fills > 0 ? blockSum(blocks.value) / fills : 0);
  const marginBps = Math.max(distanceBps, edgeBps ?? 0) - feeBps;
  const perHour = (poissonBound(groups, error) * perGroup) / (blockSum(blocks.seconds) / 3_600);
  return marginBps > 0 ? (perHour * fillValue * marginBps) / 1e4 : 0;
}

/** Returns the upper bound of the mean of a Poisson distribution with `count` events (Wilson and Hilferty, 1931). */
function poissonBound(count: number, error: number): number {
  const next = count + 1;
  return next * (1 - 1 / (9 * next) + normalQuantile(1 - error) / (3 * Math.sqrt(next))) ** 3;
}

const reported = (hours: number): number | null =>
  hours <= HOURS_MAX ? Number(Math.max(hours, 0.1).toPrecision(2)) : null;
