/** Whether a market maker earns his fee at any distance, at which, and how sure that is. */
import { studentQuantile } from '../../src/core/index.ts';
import type { BootstrapInterval, Random } from '../../src/core/index.ts';
import type { DistancePoint, DistanceProfile } from './distanceProfile.ts';

export type VerdictOptions = {
  /** Of the maker, of each fill; below 0 a rebate. */
  readonly feeBps: number;
  /** Fills are worth what is left of their edge so many seconds later: one of the profile's horizons; 60 without it. */
  readonly horizonS?: number;
  readonly random: Random;
  /** Samples that are drawn; 1,000 without it. */
  readonly samples?: number;
};

/**
 * `netPerHour` is in units of the minor currency: value an hour times what is left of the edge less the fee; its interval (0.95) allows for the choice of the best distance, and for the
 * volume. `breakEvenFeeBps`: the highest fee at which this would say `quote`, below 0 a rebate that is needed, in hundredths.
 */
export type QuoteVerdict =
  | {
      readonly quote: true;
      readonly distanceBps: number;
      /** Of the distance at which most is earned. */
      readonly distanceInterval: readonly [low: number, high: number];
      readonly netPerHour: BootstrapInterval;
      readonly breakEvenFeeBps: number;
    }
  | {
      readonly quote: false;
      readonly why: string;
      /** Where least is lost, or most might be earned; null, as all below, where nothing was measured. */
      readonly bestDistanceBps: number | null;
      readonly distanceInterval: readonly [low: number, high: number] | null;
      readonly netPerHour: BootstrapInterval | null;
      readonly breakEvenFeeBps: number | null;
    };

/** A distance needs so many fills, in so many blocks of time, to be judged. */
const FILLS_MIN = 10;
const BLOCKS_MIN = 8;
/** Of an interval of 0.95, above and below. */
const TAIL = 0.025;
/** Standard errors from the middle of a normal distribution to that tail. */
const NORMAL = 1.96;

/**
 * Blocks of time are drawn again, the same ones for every distance. The best distance is the one that earns most in the whole recording, its interval from the best one of each
 * sample, out to half of the way to the next distances, between which nothing was tried. It pays where what is left of the edge is more than the fee: as one of several distances is chosen,
 * the largest deviation of any of them in a sample, in standard errors, decides how far the lower ends lie (White, "A reality check for data snooping", Econometrica 68(5), 2000; Romano and Wolf,
 * "Stepwise multiple testing", Econometrica 73(4), 2005). An error that comes from few
 * blocks is itself uncertain: Student's t, with as many degrees of freedom as equal blocks would be worth as much, less one (Kish, "Survey Sampling", 1965). Where nothing pays, `quote` is said in 1 of 40 recordings, on few and lopsided fills in 1 of 25.
 */
export function quoteVerdictOf(profile: DistanceProfile, options: VerdictOptions): QuoteVerdict {
  const { feeBps, horizonS = 60, random, samples = 1_000 } = options;
  const h = profile.horizonsS.indexOf(horizonS);
  if (h < 0) throw new RangeError(`the profile knows no markouts after ${horizonS} s`);
  const judged = profile.points.filter(point => isEnough(point, h));
  if (judged.length === 0) {
    const few = `no distance has ${FILLS_MIN} fills in ${BLOCKS_MIN} blocks of time`;
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
      ? 'what fills earn at the best distance may be chance'
      : 'fills lose more than they earn at every distance';
  return { quote: false, why, bestDistanceBps: distanceBps, ...found };
}

const isEnough = ({ fills, blocks }: DistancePoint, h: number): boolean =>
  fills >= FILLS_MIN && blocks.known[h]!.filter(value => value > 0).length >= BLOCKS_MIN;

type Part = {
  /** Value an hour, and its standard error. */
  readonly perHour: number;
  readonly perHourError: number;
  /** Of the edge after the horizon, in bps, and its standard error. */
  readonly left: number;
  readonly leftError: number;
  /** Of that error. */
  readonly freedom: number;
  /** Of both together, at a fee of 0 and for each bps of it: how much each block moves the net of an hour. */
  readonly moves: readonly [Float64Array, Float64Array];
  /** By sample: value an hour, what was left, and how far that is from the whole recording's, to first order. */
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
    // Blocks without a fill tell nothing of what fills are worth.
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

/** Standard error of a sum over blocks whose parts sum to 0, of which `count` tell anything. */
const errorOf = (parts: readonly number[], count: number): number =>
  Math.sqrt((sum(parts.map(x => x * x)) * count) / (count - 1));

/** How many standard errors below what was found all lower ends must lie. */
function reachOf(parts: readonly Part[], samples: number): number {
  const most = Array.from({ length: samples }, (_, i) =>
    Math.max(...parts.map(({ sampled, leftError }) => sampled.off[i]! / leftError)),
  ).sort((a, b) => a - b);
  return Math.max(NORMAL, most[Math.ceil((1 - TAIL) * samples) - 1]!);
}

/** Between which distances the best one lies. */
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

/** The ends of both factors together: that of the margin decides the sign. */
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
