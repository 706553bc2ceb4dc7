/** Fills by distance in `puntas calibrate`: a table, a sentence per fee, and the profile for a model. */
import {
  quoteAnswer,
  distanceProfileOf,
  latencyOf,
  marketProfileOf,
  missingText,
  quoteVerdictOf,
  travel,
  type DistancePoint,
  type DistanceProfile,
  type QuoteVerdict,
} from '../../index.ts';
import { randomOf, shortDecimal } from '../../../src/core/index.ts';
import { feesOf } from '../../../src/sandbox/index.ts';
import type { Estimate, Tape } from '../../../src/tape/index.ts';
import { feedTravel, type Latencies } from '../backtest/backtestModel.ts';

export type DistancesAsked = {
  readonly cadenceMs: number;
  readonly latencies: Latencies;
  /** Maker fees to evaluate, in bps; `null` for the fees of the exchange's first and last tier. */
  readonly feesBps: readonly number[] | null;
  readonly seed: number;
};

export type MeasuredDistances = {
  readonly profile: DistanceProfile;
  readonly verdicts: readonly { readonly feeBps: number; readonly verdict: QuoteVerdict }[];
};

const HORIZON_S = 60;

/**
 * Measures virtual orders of the median execution size, re-pegged every `cadenceMs` with `latencies`, like a bot's
 * orders. Throws a RangeError if `cadenceMs` is 0.
 */
export function distancesIn(tape: Tape, asked: DistancesAsked, onShare: (share: number) => void): MeasuredDistances {
  const { latencies, cadenceMs, seed, feesBps } = asked;
  const draws = (salt: number, spec: Latencies['orders']) => travel(spec, randomOf(seed ^ salt));
  const { orders, answers, cancels } = latencies;
  const profile = distanceProfileOf(tape, {
    ...{ cadenceMs, seed, onShare, feedMs: feedTravel(latencies, seed)(0) },
    latency: latencyOf(draws(0x0d, orders), draws(0xa5, answers), draws(0xca, cancels)),
  });
  const tiers = feesOf(tape.instrument.minor).tiers.map(({ maker }) => Math.round(1e6 * Number(maker)) / 100);
  const fees = feesBps ?? [...new Set([tiers[0]!, tiers.at(-1)!])];
  return {
    profile,
    verdicts: fees.map(feeBps => ({
      feeBps,
      verdict: quoteVerdictOf(profile, { feeBps, horizonS: HORIZON_S, random: randomOf(seed) }),
    })),
  };
}

/** Formats comments of at most 80 columns: the table of fills, the limits of the measurement, and a verdict per fee. */
export function distancesText({ profile, verdicts }: MeasuredDistances, minor: string): readonly string[] {
  const { points, limits, cadenceMs, latencyMs, orderValue, horizonsS, seconds } = profile;
  const at = horizonsS.indexOf(HORIZON_S);
  const rows = [
    ['bps', 'fills/h', 'value/h', 'edge', ...horizonsS.map(h => `${h} s`)],
    ...points.map(point => [
      round(point.distanceBps),
      round(point.fillsPerHour),
      round(point.valuePerHour),
      point.edgeBps === null ? '-' : point.edgeBps.toFixed(1),
      ...point.markoutBps.map((left, h) =>
        left === null ? '-' : left.value.toFixed(1) + (h === at ? ` +- ${left.error.toFixed(1)}` : ''),
      ),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(5, ...rows.map(row => row[column]!.length)));
  const table = rows.map(row => row.map((cell, column) => cell.padStart(widths[column]!)).join(' '));
  const head = `Fills of both sides by distance from the mid price, with the edge that remains at each time after a fill, in bps before fees. The fills were measured over ${round(seconds / 3_600)} h with orders of ${round(orderValue)} ${minor}, re-pegged every ${cadenceMs} ms, at a latency of ${round(latencyMs)} ms.`;
  return [
    ...(points.length === 0 ? [] : [...wrapped(head), '', ...table, '']),
    ...limits.flatMap(wrapped),
    ...verdicts.flatMap(({ feeBps, verdict }) => wrapped(verdictSentence(feeBps, verdict, minor))),
  ].map(text => `# ${text}`.trimEnd());
}

/** Formats the verdict for one maker fee, to quote or not, as sentences. */
export function verdictSentence(feeBps: number, verdict: QuoteVerdict, minor: string): string {
  const { distanceInterval, netPerHour, breakEvenFeeBps } = verdict;
  const fee = `Maker fee ${round(feeBps)} bps`;
  if (distanceInterval === null || netPerHour === null || breakEvenFeeBps === null)
    return `${fee}, ${quoteAnswer(verdict)}: ${verdict.quote ? '' : verdict.why}.`.replace('..', '.');
  const between = `(90%: ${round(distanceInterval[0])} to ${round(distanceInterval[1])})`;
  const net = `${round(netPerHour.value)} ${minor} per hour (90%: ${round(netPerHour.low)} to ${round(netPerHour.high)})`;
  const even =
    breakEvenFeeBps < 0 ? `a rebate of ${round(-breakEvenFeeBps)} bps` : `a fee of ${round(breakEvenFeeBps)} bps`;
  return verdict.quote
    ? `${fee}: quote ${round(verdict.distanceBps)} bps ${between} from the mid price to earn ${net}. Quoting is profitable at ${even} ${breakEvenFeeBps < 0 ? 'or more' : 'or less'}.`
    : `${fee}, ${quoteAnswer(verdict)}: ${verdict.why}${missingText(verdict)}. The best distance, ${round(verdict.bestDistanceBps!)} bps ${between}, earns ${net}. Quoting is profitable at ${even} ${breakEvenFeeBps < 0 ? 'or more' : 'or less'}.`;
}

/** Formats the lines under `market:`, or a comment if too few distances have fills. */
export function profileLines({ profile }: MeasuredDistances): readonly string[] {
  const market = marketProfileOf(profile, HORIZON_S);
  if (market === null) return ['  # profile: too few fills'];
  const row = (key: string, values: readonly number[]) => `    ${key}: [${values.map(round).join(', ')}]`;
  return [
    '  profile: # fills of one side by distance, and the adverse price move in the 60 s after a fill',
    row('distancesBps', market.distancesBps),
    row('fillsPerMinute', market.fillsPerMinute),
    row('adverseBps', market.adverseBps),
  ];
}

/**
 * Returns the adverse price move after fills at the best distance, in bps; `null` if nothing was measured. The best
 * distance is that of the first fee at which quoting pays; if quoting pays at none of the fees, that of the last fee.
 */
export function adverseAtBest({
  profile,
  verdicts,
}: MeasuredDistances): (Estimate & { readonly distanceBps: number }) | null {
  const { verdict } = verdicts.find(each => each.verdict.quote) ?? verdicts.at(-1) ?? {};
  const best = verdict?.quote ? verdict.distanceBps : verdict?.bestDistanceBps;
  const point = profile.points.find(({ distanceBps }) => distanceBps === best);
  const left = point?.markoutBps[profile.horizonsS.indexOf(HORIZON_S)];
  if (point === undefined || !left) return null;
  return { value: point.distanceBps - left.value, error: left.error, distanceBps: point.distanceBps };
}

/** Returns the data for `--json`, without the sums per time block. */
export const distancesJson = ({ profile, verdicts }: MeasuredDistances): object => ({
  profile: { ...profile, points: profile.points.map(withoutBlocks) },
  market: marketProfileOf(profile, HORIZON_S),
  verdicts: verdicts.map(({ feeBps, verdict }) => ({ feeBps, ...verdict })),
});

function withoutBlocks(point: DistancePoint): Omit<DistancePoint, 'blocks'> {
  const { blocks, ...rest } = point;
  void blocks;
  return rest;
}

/** Formats text as comments of at most 80 columns; lines that fit stay as they are. */
export const commentLines = (texts: readonly string[]): readonly string[] =>
  texts.flatMap(text => (text.length <= WIDTH ? [text] : wrapped(text))).map(text => `# ${text}`.trimEnd());

const WIDTH = 78;

/** Wraps text in lines of at most 78 characters. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Rounds to three significant digits, without an exponent. */
function round(x: number): string {
  if (!Number.isFinite(x)) return 'unknown';
  const text = String(Number(x.toPrecision(3)));
  return text.includes('e') ? (Math.abs(x) < 1 ? shortDecimal(x.toFixed(9)) : x.toFixed(0)) : text;
}
