/** Verdict on whether fills earn more than the maker fee: the best distance, the profit and their intervals. */
import { normalCumulative, normalQuantile, type BootstrapInterval, type Random } from '../../src/core/index.ts';
import { blockError, blockSum } from './blockError.ts';
import type { DistancePoint, DistanceProfile } from './distanceProfile.ts';
import { bpsText } from './bpsText.ts';
import { hoursToDecide, hoursToMeasure, profitBound, worthPerHour } from './hoursMissing.ts';
import { studentReach } from './studentReach.ts';

export type VerdictOptions = {
  /** Maker fee of each fill, in bps; negative for a rebate. */
  readonly feeBps: number;
  /** Time from a fill to its valuation, in seconds; must be one of the profile's horizons. Default: 60. */
  readonly horizonS?: number;
  /**
   * Probability that this check results in `quote` although no distance pays. Also the probability that the lower end
   * of the profit's interval is wrong, and that the upper end is. If a market is checked repeatedly, the errors of all
   * checks add up. Default: 0.05.
   */
  readonly error?: number;
  /** `error` of the last check of this market. The missing hours are those until a check with it. Default: `error`. */
  readonly lastError?: number;
  readonly random: Random;
  /** Number of bootstrap samples. Default: 1,000. */
  readonly samples?: number;
};

/** Default of `VerdictOptions.error`: error of a market that is checked once. */
export const VERDICT_ERROR = 0.05;

/**
 * Verdict on quoting: to quote, not to quote, or not known yet (`quote` and `isKnown` are false). `netPerHour`, in the
 * quote currency, is the filled value per hour times the margin: remaining edge minus fee. Its interval accounts for
 * the choice of the best distance and for the volume. Each end is wrong with probability `error`, so by default, it is
 * a 90% interval. `breakEvenFeeBps` is the highest fee at which quoting pays, rounded down to 0.01 bps; the fee is
 * negative if a rebate is needed.
 */
export type QuoteVerdict =
  | {
      readonly quote: true;
      readonly distanceBps: number;
      /** 90% interval of the distance with the largest profit, in bps. */
      readonly distanceInterval: readonly [low: number, high: number];
      readonly netPerHour: BootstrapInterval;
      readonly breakEvenFeeBps: number;
    }
  | {
      readonly quote: false;
      readonly why: string;
      /**
       * Whether it is known that quoting does not pay: at every distance, even the upper end of the interval is below a
       * thousandth of the capital per day. For a distance with too few fills for an interval, `profitBound` replaces
       * the upper end.
       */
      readonly isKnown: boolean;
      /**
       * Number of further hours after which the verdict is expected to be known, if the profit per fill stays as it is;
       * 0 if it is known, `null` if over a thousand hours are needed or nothing was measured.
       */
      readonly hoursMissing: number | null;
      /**
       * Distance with the largest profit, which may be due to chance, or with the smallest loss, in bps. This field and
       * the fields below are `null` if nothing was measured.
       */
      readonly bestDistanceBps: number | null;
      readonly distanceInterval: readonly [low: number, high: number] | null;
      readonly netPerHour: BootstrapInterval | null;
      readonly breakEvenFeeBps: number | null;
    };

/** Minimum number of fills at a distance; a distance with fewer fills is not evaluated. */
export const FILLS_MIN = 10;
/** Minimum number of time blocks with fills at a distance; a distance with fewer blocks is not evaluated. */
const BLOCKS_MIN = 8;
/** Probability on each side outside of the intervals of distance and volume. */
const TAIL = 0.05;
/** Number of standard errors from the center of a normal distribution to the end of these intervals. */
const NORMAL = normalQuantile(1 - TAIL);
/** Minimum probability of a tail for which the bootstrap samples suffice; smaller tails are extrapolated. */
const SAMPLED_TAIL = 0.02;

/**
 * Computes the verdict. The bootstrap resamples time blocks, with the same blocks for every distance. The best distance
 * has the largest profit over the recording. Its interval covers the best distances of 90% of the samples, extended
 * halfway to the adjacent distances.
 *
 * Quoting pays if the lower bound of the remaining edge exceeds the fee. One of several distances is chosen, so the
 * lower bounds are set by the largest deviation of any distance in each sample, in standard errors. (White, "A reality
 * check for data snooping", Econometrica 68(5), 2000; Romano and Wolf, "Stepwise multiple testing", Econometrica 73(4),
 * 2005.)
 *
 * The standard error from few blocks is itself uncertain, so Student's t distribution is used (`studentReach`). The
 * error includes the dependence of blocks and the differences between days (`blockError`). No error includes rare large
 * losses that are not in the recording: if one taker in twenty knows 60 bps more, the verdict is `quote` for 6% of the
 * markets without an edge.
 */
export function quoteVerdictOf(profile: DistanceProfile, options: VerdictOptions): QuoteVerdict {
  const { feeBps, horizonS = 60, error = VERDICT_ERROR, random, samples = 1_000 } = options;
  const { lastError = error } = options;
  const h = profile.horizonsS.indexOf(horizonS);
  if (h < 0) throw new RangeError(`the profile has no markouts after ${horizonS} s`);
  const judged = profile.points.filter(point => isEnough(point, h));
  if (judged.length === 0) {
    const few = `no distance has at least ${FILLS_MIN} fills, spread over at least ${BLOCKS_MIN} time blocks`;
    const why = (profile.points.length === 0 ? profile.limits[0] : undefined) ?? few;
    return {
      ...{ quote: false, why, isKnown: false, hoursMissing: hoursToMeasure(profile.points, h, FILLS_MIN, BLOCKS_MIN) },
      ...{ bestDistanceBps: null, distanceInterval: null, netPerHour: null, breakEvenFeeBps: null },
    };
  }
  const blocks = judged[0]!.blocks.seconds.length;
  const draws = Array.from({ length: samples }, () =>
    Int32Array.from({ length: blocks }, () => random.integer(0, blocks - 1)),
  );
  const parts = judged.map(point => partOf(point, h, draws));
  const halves = (sign: 1 | -1, atError: number): readonly number[] => {
    const reach = reachOf(parts, samples, atError, sign);
    return parts.map(({ leftError, freedom }) => studentReach(reach, freedom) * leftError);
  };
  const [below, above] = [halves(1, error), halves(-1, error)];
  const lows = parts.map(({ left }, d) => left - below[d]!);
  const breakEvenFeeBps = Math.max(...lows);
  const nets = parts.map(({ perHour, left }) => (perHour * (left - feeBps)) / 1e4);
  const isSure = (d: number): boolean => breakEvenFeeBps <= feeBps || lows[d]! > feeBps;
  const best = nets.reduce((found, net, d) => (isSure(d) && (found < 0 || net > nets[found]!) ? d : found), -1);
  const netAt = (d: number): BootstrapInterval => netOf(parts[d]!, feeBps, below[d]!, above[d]!);
  const found = {
    distanceInterval: distancesOf(judged, parts, feeBps, best),
    netPerHour: netAt(best),
    breakEvenFeeBps: Math.floor(breakEvenFeeBps * 100) / 100,
  };
  const { distanceBps } = judged[best]!;
  if (breakEvenFeeBps > feeBps) return { quote: true, distanceBps, ...found };
  const worth = worthPerHour(profile.orderValue);
  const open = profile.points.filter(
    point => !judged.includes(point) && profitBound(point, profile.orderValue, feeBps, error) >= worth,
  );
  const isLost = parts.every((_, d) => netAt(d).high < worth);
  const isKnown = isLost && open.length === 0;
  const [lastBelow, lastAbove] = lastError === error ? [below, above] : [halves(1, lastError), halves(-1, lastError)];
  const margins = parts.map((part, d) => ({
    ...{
      perHour: part.perHour * volumeSpread(part),
      marginBps: part.left - feeBps,
      belowBps: lastBelow[d]!,
      aboveBps: lastAbove[d]!,
    },
  }));
  const why = isLost && !isKnown ? openReason(open) : lossReason(isKnown, nets[best]!);
  const hours = blockSum(judged[0]!.blocks.seconds) / 3_600;
  const toMeasure = open.map(point => hoursToMeasure([point], h, FILLS_MIN, BLOCKS_MIN));
  return {
    ...{ quote: false, why, isKnown },
    hoursMissing: isKnown ? 0 : hoursToDecide(margins, hours, worth, toMeasure),
    ...{ bestDistanceBps: distanceBps, ...found },
  };
}

function lossReason(isKnown: boolean, net: number): string {
  if (net > 0)
    return isKnown
      ? 'the profit is below 0.1% of the capital per day at every distance'
      : 'the profit at the best distance may be chance';
  return isKnown
    ? 'fills lose more than they earn at every distance'
    : 'fills lost more than they earned at every distance, which may be chance';
}

/** Returns the reason if the only distances without a known loss are those with too few fills. */
function openReason(open: readonly DistancePoint[]): string {
  const [near, far] = [open[0]!.distanceBps, open.at(-1)!.distanceBps].map(bpsText);
  return `${near === far ? near : `${near} to ${far}`} bps from the mid price has too few fills to judge, and no other distance pays`;
}

const isEnough = ({ fills, blocks }: DistancePoint, h: number): boolean =>
  fills >= FILLS_MIN && blocks.known[h]!.filter(value => value > 0).length >= BLOCKS_MIN;

type Part = {
  /** Filled value per hour, in the quote currency. */
  readonly perHour: number;
  /** Standard error of `perHour`. */
  readonly perHourError: number;
  /** Edge of the fills that remains after the horizon, in bps. */
  readonly left: number;
  /** Standard error of `left`, in bps. */
  readonly leftError: number;
  /** Standard error of `left` if all blocks were independent, as they are in the bootstrap samples. */
  readonly sampledError: number;
  /** Degrees of freedom of `leftError`. */
  readonly freedom: number;
  /**
   * Contribution of each block to the deviation of the net per hour: one array for a fee of 0, and one with the change
   * per bps of the fee.
   */
  readonly moves: readonly [Float64Array, Float64Array];
  /**
   * One value per bootstrap sample. `perHour`: filled value per hour. `left`: remaining edge. `off`: first-order
   * deviation of the sample's edge from the estimate over the recording.
   */
  readonly sampled: { readonly perHour: Float64Array; readonly left: Float64Array; readonly off: Float64Array };
};

function partOf({ blocks, valuePerHour }: DistancePoint, h: number, draws: readonly Int32Array[]): Part {
  const [known, markout] = [blocks.known[h]!, blocks.markout[h]!];
  const hours = blockSum(blocks.seconds) / 3_600;
  const knownValue = blockSum(known);
  const left = blockSum(markout) / knownValue;
  const ofVolume = blocks.value.map((value, b) => (value - (valuePerHour / 3_600) * blocks.seconds[b]!) / hours);
  const ofLeft = markout.map((gained, b) => (gained - left * known[b]!) / knownValue);
  const drawn = (of: readonly number[], draw: Int32Array): number => {
    let all = 0;
    for (const b of draw) all += of[b]!;
    return all;
  };
  const { independent, error, freedom } = blockError({ at: blocks.at, deviations: ofLeft, weights: known });
  return {
    ...{ perHour: valuePerHour, left, perHourError: errorOf(ofVolume, known.length) },
    ...{ leftError: error, sampledError: independent, freedom },
    moves: [
      Float64Array.from(ofVolume, (x, b) => 1e-4 * (x * left + valuePerHour * ofLeft[b]!)),
      Float64Array.from(ofVolume, x => -1e-4 * x),
    ],
    sampled: {
      perHour: Float64Array.from(draws, draw => (3_600 * drawn(blocks.value, draw)) / drawn(blocks.seconds, draw)),
      left: Float64Array.from(draws, draw => drawn(markout, draw) / drawn(known, draw)),
      off: Float64Array.from(draws, draw => drawn(ofLeft, draw)),
    },
  };
}

/**
 * Returns the standard error of a sum over blocks. `parts` are the deviations of the blocks, which sum to 0; `count` is
 * the number of blocks that contribute to the sum.
 */
const errorOf = (parts: readonly number[], count: number): number =>
  Math.sqrt((blockSum(parts.map(x => x * x)) * count) / (count - 1));

/**
 * Returns the number of standard errors between the remaining edges and their lower bounds (`sign` 1) or upper bounds
 * (-1). The probability that one or more of these bounds are wrong is `error`. A tail that is too small for the samples
 * is extrapolated from the sampled tail, with the number of independent distances that this tail implies.
 */
function reachOf(parts: readonly Part[], samples: number, error: number, sign: 1 | -1): number {
  const most = Array.from({ length: samples }, (_, i) =>
    Math.max(
      // Equal blocks have neither an error nor a deviation.
      ...parts.map(({ sampled, sampledError }) => (sampledError > 0 ? (sign * sampled.off[i]!) / sampledError : 0)),
    ),
  ).sort((a, b) => a - b);
  const tail = Math.max(error, SAMPLED_TAIL);
  const reach = Math.max(normalQuantile(1 - tail), most[Math.ceil((1 - tail) * samples) - 1]!);
  if (error >= SAMPLED_TAIL) return reach;
  const independent = Math.log(1 - tail) / Math.log(normalCumulative(reach));
  return normalQuantile((1 - error) ** (1 / Math.max(1, independent)));
}

/** Returns the 90% interval of the best distance, in bps. */
function distancesOf(
  judged: readonly DistancePoint[],
  parts: readonly Part[],
  feeBps: number,
  best: number,
): readonly [number, number] {
  const samples = parts[0]!.sampled.left.length;
  const bests = Array.from({ length: samples }, (_, i) => {
    const nets = parts.map(({ sampled }) => sampled.perHour[i]! * (sampled.left[i]! - feeBps));
    return nets.reduce((top, net, d) => (net > nets[top]! || Number.isNaN(nets[top]!) ? d : top), 0);
  }).sort((a, b) => a - b);
  const halfway = (d: number, step: 1 | -1): number =>
    (judged[d]!.distanceBps + (judged[d + step] ?? judged[d]!).distanceBps) / 2;
  return [
    halfway(Math.min(best, bests[Math.floor(TAIL * samples)]!), -1),
    halfway(Math.max(best, bests[Math.ceil((1 - TAIL) * samples) - 1]!), 1),
  ];
}

/**
 * Returns the ratio of the upper bound of the volume to the volume. The ratio of the volume to its lower bound is
 * equal.
 */
const volumeSpread = ({ perHour, perHourError }: Pick<Part, 'perHour' | 'perHourError'>): number =>
  Math.exp((NORMAL * perHourError) / perHour);

/**
 * Returns the interval of the net per hour. Each bound is a bound of the margin times whichever bound of the volume
 * makes the interval wider. Its sign is therefore that of the bound of the margin.
 */
function netOf(
  { perHour, perHourError, left, moves }: Part,
  feeBps: number,
  belowBps: number,
  aboveBps: number,
): BootstrapInterval {
  const spread = volumeSpread({ perHour, perHourError });
  const end = (marginBps: number, away: number): number =>
    (perHour * marginBps * (marginBps * away > 0 ? spread : 1 / spread)) / 1e4;
  const both = Array.from(moves[0], (x, b) => x + feeBps * moves[1][b]!);
  return {
    value: (perHour * (left - feeBps)) / 1e4,
    low: end(left - feeBps - belowBps, -1),
    high: end(left - feeBps + aboveBps, 1),
    error: errorOf(both, both.length),
  };
}
