/**
 * Verdict on quoting with a hedge on another exchange, by fee. The distance is chosen on the first part of the time and
 * judged on the rest of the time.
 */
import { randomOf, type Millis } from '../../src/core/index.ts';
import { durationText } from '../../src/pages/index.ts';
import type { DistanceProfile } from '../profile/distanceProfile.ts';
import { FILLS_MIN, quoteVerdictOf, type QuoteVerdict } from '../profile/quoteVerdict.ts';
import { PAIR_HORIZON_S, type HedgedProfile } from './hedgedProfile.ts';

/** Verdict at one fee. Values are in bps before fees; `null` with too few fills. */
export type HedgedVerdict = {
  /** Fees of both exchanges together, in bps: maker fee of the quoted exchange plus taker fee of the hedge exchange. */
  readonly feeBps: number;
  /** `feeBps` plus the cost of moving quote currency back after a hedge, in bps; a fill must be worth more. */
  readonly costBps: number;
  readonly quote: boolean;
  /** Reason against quoting; empty if quoting pays. */
  readonly why: string;
  /** Distance with the largest profit in the fitted part of the recordings. */
  readonly distanceBps: number | null;
  /** Value of a fill at `distanceBps` in the fitted part of the recordings. */
  readonly fittedBps: number | null;
  /** Value of a fill at `distanceBps` outside the fitted part of the recordings, with its 95% interval. */
  readonly heldOutBps: { readonly value: number; readonly low: number; readonly high: number } | null;
  /** Number of fills outside the fitted part of the recordings, in total and per hour. */
  readonly fills: number;
  readonly fillsPerHour: number;
  /**
   * Net profit per hour outside the fitted part of the recordings, in the quote currency, with its 95% interval; `null`
   * if a recording lacks amounts.
   */
  readonly netPerHour: { readonly value: number; readonly low: number; readonly high: number } | null;
};

/**
 * Minimum share of minutes in which the hedge price changes; with a smaller share, the quotes of the hedge exchange
 * count as stale.
 */
const MOVING_MIN = 0.1;
/** Probability that one end of a 95% interval is wrong. */
const END_ERROR = 0.025;

/**
 * Judges fees. `backBps`: cost of moving quote currency back after a hedge, which is added to each fee. For each fee,
 * the distance with the largest profit in the fitted part of the recordings is chosen. Quoting pays if two values at that
 * distance exceed the fee and this cost: the value of a fill in the fitted part, and the lower bound of this value in the
 * rest.
 */
export const hedgedVerdictsOf = (
  profile: HedgedProfile,
  feesBps: readonly number[],
  seed = 1,
  backBps = 0,
): readonly HedgedVerdict[] => {
  const judged = judgedDistances(profile, seed);
  return feesBps.map(feeBps => verdictAt(profile, judged, { feeBps, backBps }, seed));
};

/**
 * Returns the highest fee of both exchanges together at which quoting pays, rounded down to 0.1 bps; `null` if it pays
 * at no fee, not even with rebates. `backBps` as in `hedgedVerdictsOf`.
 */
export function payingFeeOf(profile: HedgedProfile, seed = 1, backBps = 0): number | null {
  if (unusableReason(profile) !== null) return null;
  const judged = judgedDistances(profile, seed);
  let highest: number | null = null;
  for (const { at, perHour, fitted, lowBps } of judged) {
    if (lowBps === null) continue;
    // The profit at each distance is a linear function of the fee, so the best distance changes where two of these
    // lines cross.
    let [from, to] = [-Infinity, Infinity];
    for (const other of judged) {
      if (other.at === at) continue;
      const crossing = (perHour * fitted - other.perHour * other.fitted) / (perHour - other.perHour);
      if (other.perHour < perHour) to = Math.min(to, crossing);
      else if (other.perHour > perHour) from = Math.max(from, crossing);
      else if (other.fitted > fitted) to = -Infinity;
    }
    const highestHere = Math.min(lowBps, fitted, to);
    if (from < highestHere && !(highestHere <= (highest ?? -Infinity))) highest = highestHere;
  }
  return highest === null ? null : Math.floor(10 * (highest - backBps)) / 10;
}

/** Distance with enough fills in the fitted part of the recordings. */
type JudgedDistance = {
  /** Index of the distance. */
  readonly at: number;
  /** Filled value per hour, and value of a fill in bps, in the fitted part of the recordings. */
  readonly perHour: number;
  readonly fitted: number;
  /** Lower bound of the value of a fill outside the fitted part, in bps; `null` with too few fills. */
  readonly lowBps: number | null;
};

function judgedDistances({ fitted, heldOut }: HedgedProfile, seed: number): readonly JudgedDistance[] {
  return fitted.points.flatMap((_, at): JudgedDistance[] => {
    const point = fitted.points[at]!;
    const first = oneDistance(fitted, at, 0, seed);
    const value = point.markoutBps[horizonIn(fitted)]?.value;
    if (first.netPerHour === null || value === undefined) return [];
    return [
      {
        ...{ at, perHour: point.valuePerHour, fitted: value },
        lowBps: oneDistance(heldOut, at, 0, seed).breakEvenFeeBps,
      },
    ];
  });
}

const horizonIn = ({ horizonsS }: DistanceProfile): number => horizonsS.indexOf(PAIR_HORIZON_S);

/** Judges one distance of a profile. */
const oneDistance = (profile: DistanceProfile, at: number, feeBps: number, seed: number): QuoteVerdict =>
  quoteVerdictOf(
    { ...profile, points: profile.points.slice(at, at + 1) },
    { feeBps, horizonS: PAIR_HORIZON_S, error: END_ERROR, random: randomOf(seed) },
  );

function verdictAt(
  profile: HedgedProfile,
  judged: readonly JudgedDistance[],
  { feeBps, backBps }: { readonly feeBps: number; readonly backBps: number },
  seed: number,
): HedgedVerdict {
  const costBps = feeBps + backBps;
  const profit = ({ perHour, fitted }: JudgedDistance): number => perHour * (fitted - costBps);
  const best = judged.reduce<JudgedDistance | null>(
    (top, one) => (top !== null && profit(top) >= profit(one) ? top : one),
    null,
  );
  const unusable = unusableReason(profile);
  if (best === null)
    return {
      ...{ feeBps, costBps, quote: false, distanceBps: null, fittedBps: null, heldOutBps: null },
      ...{ fills: 0, fillsPerHour: 0, netPerHour: null },
      why:
        unusable ??
        `the first third of the time has ${shortageOf(profile.fitted.points, profile.fitted.blockMs)} to choose a distance`,
    };
  const { heldOut, isPriceAlone } = profile;
  const point = heldOut.points[best.at]!;
  const verdict = oneDistance(heldOut, best.at, costBps, seed);
  const value = point.markoutBps[horizonIn(heldOut)] ?? null;
  const low = verdict.breakEvenFeeBps;
  const net = verdict.netPerHour;
  const quote = unusable === null && best.fitted > costBps && verdict.quote;
  return {
    ...{ feeBps, costBps, quote, distanceBps: point.distanceBps, fittedBps: best.fitted },
    why: quote
      ? ''
      : (unusable ??
        lossReason(
          verdict,
          best.fitted,
          value?.value ?? Number.NaN,
          { costBps, backBps },
          shortageOf([point], heldOut.blockMs),
        )),
    heldOutBps:
      value === null || low === null
        ? null
        : { value: value.value, low: Math.min(low, value.value), high: Math.max(value.high, value.value) },
    ...{ fills: point.fills, fillsPerHour: point.fillsPerHour },
    netPerHour: isPriceAlone || net === null ? null : { value: net.value, low: net.low, high: net.high },
  };
}

/** Returns what the fills at some distances lack for a verdict: their number, or their spread over time blocks. */
const shortageOf = (points: DistanceProfile['points'], blockMs: Millis): string =>
  points.some(({ fills }) => fills >= FILLS_MIN)
    ? `too few blocks of ${durationText(blockMs / 1_000)} with fills`
    : 'too few fills';

function lossReason(
  verdict: QuoteVerdict,
  fitted: number,
  value: number,
  { costBps, backBps }: { readonly costBps: number; readonly backBps: number },
  shortage: string,
): string {
  const costs = backBps > 0 ? 'the fees and the cost of moving back' : 'the fees';
  if (verdict.netPerHour === null) return `the last two thirds of the time have ${shortage} to judge`;
  if (!(fitted > costBps))
    return `in the first third of the time, fills were worth less than ${costs} at every distance`;
  if (!(value > costBps))
    return `at the distance that was best in the first third of the time, fills in the last two thirds were worth less than ${costs}`;
  return 'the profit may be chance';
}

/** Returns the reason why the two recordings do not permit a verdict; `null` if they do. */
function unusableReason({ basis, moving, lead, hedgeKind }: HedgedProfile): string | null {
  if (basis === null) return 'the recordings have too little time in common';
  if (!(moving >= MOVING_MIN))
    return `the hedge price changes in only ${(100 * moving).toFixed(0)}% of the minutes, so its quotes may be stale`;
  if (hedgeKind === 'last trades' && lead !== null && lead.highMs < 0)
    return `the hedge price follows the quoted price by ${durationText(-lead.lagMs / 1_000)}, and a hedge does not execute at an outdated last price`;
  return null;
}
