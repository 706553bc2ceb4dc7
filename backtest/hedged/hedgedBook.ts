/** Result of one book with a hedge on another exchange, as numbers for JSON and as sentences. */
import { durationText } from '../../src/pages/index.ts';
import { counted, type Millis } from '../../src/core/index.ts';
import type { Tape } from '../../src/tape/index.ts';
import type { DistancePoint } from '../profile/distanceProfile.ts';
import { bpsText } from '../profile/bpsText.ts';
import { hedgedProfileOf, PAIR_HORIZON_S, type HedgedOptions, type HedgedProfile } from './hedgedProfile.ts';
import { hedgedVerdictsOf, payingFeeOf, type HedgedVerdict } from './hedgedVerdict.ts';

/**
 * Costs in bps: fees of a maker on the quoted exchange and of a taker on the hedge exchange, and of moving quote currency
 * back between the exchanges after a hedge.
 */
export type HedgedFees = { readonly makerBps: number; readonly hedgeBps: number; readonly backBps: number };

/** Recording of the hedge exchange, with its taker fee and its latency each way. */
export type HedgeTape = {
  readonly name: string;
  readonly tape: Tape;
  readonly feeBps: number;
  readonly latencyMs: Millis;
};

/** Hedge exchange with the cost of moving quote currency back. */
export type HedgeVenue = HedgeTape & { readonly backBps: number };

export type HedgedBook = Omit<HedgedProfile, 'fitted' | 'heldOut' | 'positionMax'> & {
  /** Short names of the two recordings. */
  readonly name: string;
  readonly hedgeName: string;
  readonly fees: HedgedFees;
  /** Verdict at `fees`; `byFee` has verdicts at several sums of the fees of both exchanges. */
  readonly verdict: HedgedVerdict;
  readonly byFee: readonly HedgedVerdict[];
  /** Highest fee of both exchanges together at which quoting pays; `null` if it pays at none. */
  readonly payingFeeBps: number | null;
  /** Results by distance, in the fitted part of the recordings and in the rest. */
  readonly curve: readonly HedgedPoint[];
};

/** Results at one distance; values of a fill are in bps before fees. */
export type HedgedPoint = {
  readonly distanceBps: number;
  readonly fitted: HedgedPart;
  readonly heldOut: HedgedPart;
  /**
   * Largest net position on the quoted exchange outside the fitted part of the recordings, in orders. Hedges give the
   * opposite position on the hedge exchange.
   */
  readonly positionMax: number;
};

export type HedgedPart = Pick<DistancePoint, 'fills' | 'fillsPerHour'> & {
  /** Value of a fill at the running basis; `later`: its value at the price difference five minutes after the fill. */
  readonly atFill: HedgedValue | null;
  readonly later: HedgedValue | null;
};

export type HedgedValue = { readonly value: number; readonly low: number; readonly high: number };

/** Fees of both exchanges together, in bps, at which verdicts are made in addition to the given fees. */
const FEES_BPS: readonly number[] = [0, 2, 5, 10, 15, 20];

/**
 * Measures one book. `verdict` is at the first maker fee; `byFee` has verdicts at all maker fees. Throws a RangeError
 * if the books have different base currencies.
 */
export function hedgedBookOf(
  name: string,
  quoted: Tape,
  hedge: HedgeVenue,
  { makersBps, seed = 1, ...options }: HedgedOptions & { readonly makersBps: readonly number[] },
): HedgedBook {
  const profile = hedgedProfileOf(quoted, hedge.tape, { ...options, hedgeLatencyMs: hedge.latencyMs, seed });
  const [makerBps = 0] = makersBps;
  const fees = [...new Set([...FEES_BPS, ...makersBps.map(bps => bps + hedge.feeBps)])].sort((a, b) => a - b);
  const byFee = hedgedVerdictsOf(profile, fees, seed, hedge.backBps);
  const { fitted, heldOut, positionMax, ...about } = profile;
  return {
    ...about,
    ...{ name, hedgeName: hedge.name, byFee },
    fees: { makerBps, hedgeBps: hedge.feeBps, backBps: hedge.backBps },
    verdict: byFee[fees.indexOf(makerBps + hedge.feeBps)]!,
    payingFeeBps: payingFeeOf(profile, seed, hedge.backBps),
    curve: fitted.points.map((point, i) => ({
      distanceBps: point.distanceBps,
      fitted: partOf(point, fitted.horizonsS),
      heldOut: partOf(heldOut.points[i]!, heldOut.horizonsS),
      positionMax: positionMax[i]!,
    })),
  };
}

function partOf({ fills, fillsPerHour, markoutBps }: DistancePoint, horizonsS: readonly number[]): HedgedPart {
  const after = (seconds: number): HedgedValue | null => {
    const found = markoutBps[horizonsS.indexOf(seconds)] ?? null;
    return found && { value: found.value, low: found.low, high: found.high };
  };
  return { fills, fillsPerHour, atFill: after(0), later: after(PAIR_HORIZON_S) };
}

/** Returns what a report states of the recording of the hedge exchange. */
export const hedgeTapeReport = ({ name, feeBps, latencyMs }: HedgeTape): Omit<HedgeTape, 'tape'> => ({
  name,
  feeBps,
  latencyMs,
});

/** Describes the recording of the hedge exchange with its fee and latency. */
export const hedgeTapeText = ({ name, feeBps, latencyMs }: Omit<HedgeTape, 'tape'>): string =>
  `${name}, with a taker fee of ${feeBps} bps and a latency of ${latencyMs} ms each way`;

/** Returns the result as sentences: verdict, fees at which it pays, lead, basis, limitations. */
export const hedgedWords = (book: HedgedBook): readonly string[] => [
  `${verdictText(book)} ${payingText(book)}`.trim(),
  `${leadText(book)} ${basisText(book)}`.trim(),
  ...(book.limits.length === 0 ? [] : [book.limits.join(' ')]),
];

function verdictText({ name, hedgeName, fees, verdict, latencyMs, hedgeLatencyMs, curve }: HedgedBook): string {
  const { quote, why, distanceBps, heldOutBps, fills, fillsPerHour, costBps } = verdict;
  const back = fees.backBps > 0 ? `, ${bpsText(fees.backBps)} bps for moving quote currency back,` : '';
  const cost = `fees of ${bpsText(fees.makerBps)} + ${bpsText(fees.hedgeBps)} bps${back}`;
  const late = `latencies of ${latencyMs} + ${hedgeLatencyMs} ms`;
  const measured =
    distanceBps === null || heldOutBps === null
      ? ''
      : ` At ${bpsText(distanceBps)} bps from the price of ${hedgeName}, a fill was worth ${worthText(heldOutBps)} bps before fees in the last two thirds of the time, which were not used to choose the distance: ${counted(fills, 'fill')}, ${bpsText(fillsPerHour)} per hour. The largest net position from these fills was ${counted(bpsText(curve.find(point => point.distanceBps === distanceBps)?.positionMax ?? null), 'order')}.`;
  return quote
    ? `Quote ${name} ${bpsText(distanceBps)} bps from the price of ${hedgeName} and hedge there: at ${cost} and ${late}, a fill earns ${bpsText((heldOutBps?.value ?? 0) - costBps)} bps.${measured}`
    : `Do not quote ${name} with a hedge at ${hedgeName}: at ${cost} and ${late}, ${why}.${measured}`;
}

function payingText({ payingFeeBps: fee, verdict, byFee }: HedgedBook): string {
  if (fee === null) return verdict.distanceBps === null ? '' : 'Quoting would not be profitable at any fee.';
  return fee < 0
    ? `Quoting is profitable only if the rebates of both exchanges add up to ${bpsText(-fee)} bps or more.`
    : `Quoting is profitable if the fees of both exchanges add up to ${bpsText(fee)} bps or less${exceptionsText(byFee, fee)}.`;
}

/** Returns the fees at or below the highest paying fee at which the verdict is against quoting, as text; empty without such fees. */
function exceptionsText(byFee: readonly HedgedVerdict[], fee: number): string {
  const unsure = byFee.filter(({ feeBps, quote }) => !quote && feeBps <= fee).map(({ feeBps }) => bpsText(feeBps));
  return unsure.length === 0
    ? ''
    : `, except around ${unsure.join(', ')} bps, where the distance that was best in the first third of the time is not sure to pay`;
}

function leadText({ hedgeName, lead }: HedgedBook): string {
  if (lead === null) return 'The two prices do not move together, so neither leads.';
  const { lagMs, lowMs, highMs, correlation } = lead;
  const range = `(95%: ${lagText(lowMs)} to ${lagText(highMs)})`;
  const strength = `correlation ${correlation.value.toFixed(2)}`;
  if (lowMs > 0) return `${hedgeName} leads by ${lagText(lagMs)} ${range}, ${strength}.`;
  if (highMs < 0)
    return `${hedgeName} follows by ${lagText(-lagMs)} (95%: ${lagText(-highMs)} to ${lagText(-lowMs)}), ${strength}.`;
  return `Neither price clearly leads: the lead of ${hedgeName} is ${lagText(lagMs)} ${range}, ${strength}.`;
}

const lagText = (ms: Millis): string => `${Number((ms / 1_000).toPrecision(3))} s`;

function basisText({ basis }: HedgedBook): string {
  if (basis === null) return '';
  const { deviationBps, reversionS, driftBpsPerHour, memoryS } = basis;
  const drift = `The basis has a standard deviation of ${bpsText(driftBpsPerHour)} bps per hour`;
  return deviationBps > 0
    ? `${drift}; a mispricing, which is a deviation from the basis, has a standard deviation of ${bpsText(deviationBps)} bps and decays with a time constant of ${durationText(reversionS)}. The filter that estimates the basis has a time constant of ${durationText(memoryS)}.`
    : `${drift}; no mispricing that returns to the basis was found.`;
}

const worthText = ({ value, low, high }: HedgedValue): string =>
  `${bpsText(value)} (95%: ${bpsText(low)} to ${bpsText(high)})`;

/** Returns the verdicts by fee as a table of plain text, one line per row. */
export function hedgedTable({ byFee }: HedgedBook): readonly string[] {
  const rows = [
    ['fees', 'distance', 'first third', 'rest', 'low', 'high', 'fills/h', 'verdict'],
    ...byFee.map(({ feeBps, distanceBps, fittedBps, heldOutBps, fillsPerHour, quote }) => [
      ...[feeBps, distanceBps, fittedBps].map(bpsText),
      ...[heldOutBps?.value ?? null, heldOutBps?.low ?? null, heldOutBps?.high ?? null].map(bpsText),
      ...[bpsText(distanceBps === null ? null : fillsPerHour), quote ? 'quote' : 'do not quote'],
    ]),
  ];
  const widths = rows[0]!.map((_, i) => 2 + Math.max(...rows.map(row => row[i]!.length)));
  return rows.map(row => row.map((cell, i) => cell.padStart(widths[i]!)).join(''));
}
