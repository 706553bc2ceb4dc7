/**
 * Quotes at a constant distance on both sides of a fair value, with a skew against inventory; shared by the strategies
 * without a model.
 */
import type { z } from 'zod';
import type { Amount, Level, Quote, Side, Step, View } from '../src/core/index.ts';
import { roundTripShare } from './fees.ts';
import {
  bps,
  feesBps,
  levelParameters,
  levelProblems,
  levelTuning,
  minEdge,
  narrowProblem,
  type LimitProblem,
  type LimitsAsked,
} from './parameters.ts';
import {
  adverseSteps,
  awayOf,
  clamp,
  inventoryRoom,
  LEVEL_STEPS,
  quoteLevelsOf,
  skewPositionOf,
  totalOf,
} from './quoteLevels.ts';
import { linear } from './tuning.ts';

export const spreadParameters = {
  ...levelParameters,
  halfSpreadBps: bps.describe('Distance of the first level from the fair value.'),
  levelSpacingBps: bps.default(10).describe('Distance between levels.'),
  minEdgeBps: minEdge,
  skewBpsAtLimit: bps
    .default(0)
    .describe('Shift that reduces inventory: this value at positionMax, proportionally less below.'),
};

/** Meaning of the steps of `quoteAround`, by the name of the step. */
export const SPREAD_STEPS = {
  ...LEVEL_STEPS,
  inventory: 'Shift of both sides: down if inventory is above its target, up if inventory is below.',
  spread: 'Configured distance of the first level.',
  'minimum edge': 'Outward shift of both sides, until a round trip earns `minEdgeBps` after both maker fees.',
};

/**
 * Tunable parameters. The minimum edge is never negative, because only the user may accept losses in exchange for
 * volume.
 */
export const spreadTuning = {
  halfSpreadBps: linear(0, 300),
  levelSpacingBps: linear(0, 50),
  minEdgeBps: linear(0, 30),
  skewBpsAtLimit: linear(0, 100),
  ...levelTuning,
};

/** Minimum distance between the first bid and the first ask, in ticks, so that they are rounded to different ticks. */
const DISTANCE_MIN_TICKS = 0.02;

/**
 * Returns the minimum distance between the first bid and the first ask, in ticks: a round trip at `price` earns
 * `minEdgeBps` over two maker fees. NaN if the fee is NaN.
 */
export const distanceNeeded = (minEdgeBps: number, makerRate: number, price: number): number =>
  Math.max((roundTripShare(makerRate) + minEdgeBps / 10_000) * price, DISTANCE_MIN_TICKS);

type SpreadParameters = z.infer<z.ZodObject<typeof spreadParameters>>;

/**
 * Returns a quote around the fair value, whose steps are `centre`. The first bid and the first ask move apart, by equal
 * parts, so that a round trip earns minEdgeBps over two maker fees. Afterwards, markouts widen each side.
 */
export function quoteAround(p: SpreadParameters, lots: Amount, view: View, centre: readonly Step[]): Quote {
  const fair = totalOf(centre);
  const skew = -clamp(skewPositionOf(view) / view.positionMax, -1, 1) * (p.skewBpsAtLimit / 10_000) * fair;
  const needed = distanceNeeded(p.minEdgeBps, view.makerRate, Math.max(fair, fair + skew));
  const missing = needed - (2 * p.halfSpreadBps * fair) / 10_000;
  const levels = (side: Side): Level[] => {
    const away = awayOf(side);
    const first: Step[] = [...centre];
    if (skew !== 0) first.push({ name: 'inventory', ticks: skew });
    first.push({ name: 'spread', ticks: (away * p.halfSpreadBps * fair) / 10_000 });
    if (missing > 0) first.push({ name: 'minimum edge', ticks: (away * missing) / 2 });
    first.push(...adverseSteps(side, view, fair));
    const prices = Array.from({ length: p.levels }, (_, i) =>
      i === 0 ? first : [...first, { name: `level ${i + 1}`, ticks: (away * i * p.levelSpacingBps * fair) / 10_000 }],
    );
    return quoteLevelsOf(side, prices, lots, inventoryRoom(side, view, view.positionMax));
  };
  const [bids, asks] = [levels('buy'), levels('sell')];
  return {
    bids,
    asks,
    ...(bids.length === 0 ? { noBid: 'inventory is at its limit' } : {}),
    ...(asks.length === 0 ? { noAsk: 'inventory is at its limit' } : {}),
  };
}

/**
 * Returns an error line if both half-spreads together are less than two maker fees plus minEdgeBps; otherwise `null`.
 * `makerRate` is in parts of 10^-8.
 */
export const spreadEdgeProblem = (p: SpreadParameters, makerRate: number): string | null =>
  narrowProblem('the spread', 2 * p.halfSpreadBps, p.minEdgeBps, feesBps(makerRate));

/**
 * Checks that the levels are within the limits. `moreBps` is the maximum distance of the fair value from the mid price.
 */
export const spreadLimitProblems = (
  p: SpreadParameters,
  limits: LimitsAsked,
  moreBps: number,
): readonly LimitProblem[] =>
  levelProblems(p, limits, p.halfSpreadBps + (p.levels - 1) * p.levelSpacingBps + p.skewBpsAtLimit + moreBps);
