/** Verdict on whether fills earn more than the maker fee: the best distance, the profit and their intervals. */
import { studentQuantile, type BootstrapInterval, type Random } from '../../src/core/index.ts';
import type { DistancePoint, DistanceProfile } from './distanceProfile.ts';

export type VerdictOptions = {
  /** Maker fee of each fill, in bps; negative for a rebate. */
  readonly feeBps: number;
  /** Time from a fill to its valuation, in seconds; must be one of the profile's horizons. Default: 60. */
  readonly horizonS?: number;
  readonly random: Random;
  /** Number of bootstrap samples. Default: 1,000. */
  readonly samples?: number;
};

/**
 * Verdict on quoting. `netPerHour`, in the quote currency, is the filled value per hour times the margin: remaining
 * edge minus fee. Its 95% interval accounts for the choice of the best distance and for the volume. `breakEvenFeeBps`
 * is the highest fee at which quoting pays, rounded down to 0.01 bps; it is negative if a rebate is needed.
 */
export type QuoteVerdict =
  | {
      readonly quote: true;
      readonly distanceBps: number;
      /** 95% interval of the distance with the largest profit, in bps. */
      readonly distanceInterval: readonly [low: number, high: number];
      readonly netPerHour: BootstrapInterval;
      readonly breakEvenFeeBps: number;
    }
  | {
      readonly quote: false;
      readonly why: string;
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
const FILLS_MIN = 10;
/** Minimum number of time blocks with fills at a distance; a distance with fewer blocks is not evaluated. */
const BLOCKS_MIN = 8;
/** Probability outside a 95% interval, on each side. */
const TAIL = 0.025;
/** Number of standard errors from the center of a normal distribution to the end of a 95% interval. */
const NORMAL = 1.96;

/**
 * Computes the verdict. The bootstrap resamples time blocks, with the same blocks for every distance. The best distance
 * has the largest profit over the recording. Its interval covers the best distances of 95% of the samples, extended
 * halfway to the adjacent distances.
 *
 * Quoting pays if the lower bound of the remaining edge exceeds the fee. One of several distances is chosen, so the
 * lower bounds are set by the largest deviation of any distance in each sample, in standard errors. (White, "A reality
 * check for data snooping", Econometrica 68(5), 2000; Romano and Wolf, "Stepwise multiple testing", Econometrica 73(4),
 * 2005.)
 *
 * The standard error from few blocks is itself uncertain, so Student's t distribution is used. Its degrees of freedom
 * are the equivalent number of equal blocks minus one (Kish, "Survey Sampling", 1965). On recordings where no distance
 * pays, 1 of 40 verdicts is still `quote`, and 1 of 25 if fills are few and skewed.
 */
export function quoteVerdictOf(profile: DistanceProfile, options: VerdictOptions): QuoteVerdict {
  const { feeBps, horizonS = 60, random, samples = 1_000 } = options;
  const h = profile.horizonsS.indexOf(horizonS);
  if (h < 0) throw new RangeError(`the profile has no markouts after ${horizonS} s`);
  const judged = profile.points.filter(point => isEnough(point, h));
  if (judged.length === 0) {
    const few = `no distance has at least ${FILLS_MIN} fills, spread over at least ${BLOCKS_MIN} time blocks`;
    const why = (profile.points.length === 0 ? profile.limits[0] : undefined) ?? few;
    return {
      quote: false,
      why,
      bestDistanceBps: null,
      distanceInterval: null,
      netPerHour: null,
      breakEvenFeeBps: null,
    };
  }
  const blocks = judged[0]!.blocks.seconds.length;
  const draws = Array.from({ length: samples }, () =>
    Int32Array.from({ length: blocks }, () => random.integer(0, blocks - 1)),
  );
  const parts = judged.map(point => partOf(point, h, draws));
  const reach = reachOf(parts, samples);
  const reaches = parts.map(({ freedom }) => studentQuantile(reach, freedom));
  const lows = parts.map(({ left, leftError }, d) => left - reaches[d]! * leftError);
  const breakEvenFeeBps = Math.max(...lows);
  const nets = parts.map(({ perHour, left }) => (perHour * (left - feeBps)) / 1e4);
  const isSure = (d: number): boolean => breakEvenFeeBps <= feeBps || lows[d]! > feeBps;
  const best = nets.reduce((found, net, d) => (isSure(d) && (found < 0 || net > nets[found]!) ? d : found), -1);
  const found = {
    distanceInterval: distancesOf(judged, parts, feeBps, best),
    netPerHour: netOf(parts[best]!, feeBps, reaches[best]!),
    breakEvenFeeBps: Math.floor(breakEvenFeeBps * 100) / 100,
  };
  const { distanceBps } = judged[best]!;
  if (breakEvenFeeBps > feeBps) return { quote: true, distanceBps, ...found };
  const why =
    nets[best]! > 0
      ? 'the profit at the best distance may be chance'
      : 'fills lose more than they earn at every distance';
  return { quote: false, why, bestDistanceBps: distanceBps, ...found };
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
  const hours = sum(blocks.seconds) / 3_600;
  const left = sum(markout) / sum(known);
  const ofVolume = blocks.value.map((value, b) => (value - (valuePerHour / 3_600) * blocks.seconds[b]!) / hours);
  const ofLeft = markout.map((gained, b) => (gained - left * known[b]!) / sum(known));
  const drawn = (of: readonly number[], draw: Int32Array): number => {
    let all = 0;
    for (const b of draw) all += of[b]!;
    return all;
  };
  return {
    ...{ perHour: valuePerHour, left, perHourError: errorOf(ofVolume, known.length) },
    // Blocks without a fill contain no information about the value of fills.
    leftError: errorOf(ofLeft, known.filter(value => value > 0).length),
    freedom: Math.max(1, sum(known) ** 2 / sum(known.map(value => value * value)) - 1),
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

const sum = (of: readonly number[]): number => of.reduce((all, x) => all + x, 0);

/**
 * Returns the standard error of a sum over blocks. `parts` are the deviations of the blocks, which sum to 0; `count` is
 * the number of blocks that contribute to the sum.
 */
const errorOf = (parts: readonly number[], count: number): number =>
  Math.sqrt((sum(parts.map(x => x * x)) * count) / (count - 1));

/** Returns the number of standard errors between the remaining edges and their lower bounds. */
function reachOf(parts: readonly Part[], samples: number): number {
  const most = Array.from({ length: samples }, (_, i) =>
    Math.max(...parts.map(({ sampled, leftError }) => sampled.off[i]! / leftError)),
  ).sort((a, b) => a - b);
  return Math.max(NORMAL, most[Math.ceil((1 - TAIL) * samples) - 1]!);
}

/** Returns the 95% interval of the best distance, in bps. */
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
 * Returns the interval of the net per hour. Each bound is a bound of the margin times whichever bound of the volume
 * makes the interval wider. Its sign is therefore that of the bound of the margin.
 */
function netOf(
  { perHour, perHourError, left, leftError, moves }: Part,
  feeBps: number,
  reach: number,
): BootstrapInterval {
  const spread = Math.exp((NORMAL * perHourError) / perHour);
  const end = (marginBps: number, away: number): number =>
    (perHour * marginBps * (marginBps * away > 0 ? spread : 1 / spread)) / 1e4;
  const both = Array.from(moves[0], (x, b) => x + feeBps * moves[1][b]!);
  return {
    value: (perHour * (left - feeBps)) / 1e4,
    low: end(left - feeBps - reach * leftError, -1),
    high: end(left - feeBps + reach * leftError, 1),
    error: errorOf(both, both.length),
  };
}
