/** What a look at several books came to, as plain numbers and text for JSON: each book judged at the account's fee, best first. */
import { randomOf } from '../../src/core/index.ts';
import type { FeeTier, Millis } from '../../src/core/index.ts';
import { wideHoursOf } from '../../src/tape/index.ts';
import type { Tape, WideHours } from '../../src/tape/index.ts';
import { distanceProfileOf } from '../profile/distanceProfile.ts';
import type { DistancePoint } from '../profile/distanceProfile.ts';
import { quoteVerdictOf } from '../profile/verdict.ts';
import type { QuoteVerdict } from '../profile/verdict.ts';
import { constantLatency } from '../rows/latency.ts';
import { marketSeen } from './marketSeen.ts';
import type { MarketSeen } from './marketSeen.ts';

/** Equal for equal recordings and options, `made` aside. */
export type Scouting = {
  readonly made: { readonly puntas: string; readonly node: string };
  /** Address of the exchange, or the recordings as they were named. */
  readonly looked: string;
  /** As it was asked for: config, best, entry, or bps. */
  readonly fees: string;
  /** Of orders that are pegged anew, of requests each way, and of a fill's markout that counts as earned. */
  readonly cadenceMs: Millis;
  readonly latencyMs: Millis;
  readonly horizonS: number;
  /** What nets of books are compared in: `netPerHour` times `rate`. Null where no book was seen. */
  readonly currency: string | null;
  /** Best first: those that pay by what they earn in an hour, then the others by how far their fee is above what they would bear. */
  readonly books: readonly ScoutedBook[];
  readonly leftOut: readonly { readonly what: string; readonly why: string }[];
};

/** Values are in units of the minor currency, approximate. */
export type ScoutedBook = Omit<MarketSeen, 'takerValue'> & {
  /** Hours of the day whose spread is far beyond that of the others; absent where there are none. */
  readonly wideHours?: WideHours;
  /** Short, and none else's. */
  readonly name: string;
  readonly book: string;
  readonly major: string;
  readonly minor: string;
  /** Of the first and the last row. */
  readonly from: Millis;
  readonly to: Millis;
  /** Of one unit of the minor currency, in the currency of the comparison; null where no book of the same time leads there. */
  readonly rate: number | null;
  /** Of the maker. */
  readonly feeBps: number;
  /** Of one order; the median taking order. Null where nothing was traded. */
  readonly orderValue: number | null;
  /** What ten orders on either side bind, half of it in each currency. */
  readonly capital: number | null;
  readonly verdict: QuoteVerdict;
  readonly curve: readonly CurvePoint[];
  /** At the distance of the verdict; null without one. */
  readonly reached: ReachedTier | null;
  /** What the recording cannot tell, in sentences. */
  readonly limits: readonly string[];
};

/** One distance, without its blocks; `net` and `left` after the horizon. */
export type CurvePoint = Pick<DistancePoint, 'distanceBps' | 'edgeBps' | 'fills' | 'fillsPerHour' | 'valuePerHour'> & {
  /** What is left of the edge before fees, in bps; null where too little is known. */
  readonly left: { readonly value: number; readonly low: number; readonly high: number } | null;
};

/** Where a month at this distance would put the account. */
export type ReachedTier = {
  /** Traded in 30 days, with what the account has traded before. */
  readonly volume30d: number;
  readonly feeBps: number;
  /** What the other fee would change, per hour; below 0 where the tier is worse than the one that was counted with. */
  readonly worthPerHour: number;
};

export type ScoutOptions = {
  readonly cadenceMs: Millis;
  readonly latencyMs: Millis;
  readonly feeBps: number;
  /** Ascending by volume. */
  readonly tiers: readonly FeeTier[];
  /** Of the account in the last 30 days, in the currency of the tiers. */
  readonly volume30d: number;
  readonly seed: number;
  readonly onShare?: (share: number) => void;
};

/** Orders on either side at full inventory. */
export const ORDERS_A_SIDE = 10;
export const HORIZON_S = 60;
const HOURS_30D = 720;

/** `rate` is still unknown: null. */
export function scoutedBook(name: string, tape: Tape, options: ScoutOptions): ScoutedBook {
  const { cadenceMs, latencyMs, feeBps, seed, onShare = () => undefined } = options;
  const { symbol: book, major, minor } = tape.instrument;
  const { takerValue, ...seen } = marketSeen(tape, share => onShare(0.1 * share));
  const profile = distanceProfileOf(tape, {
    cadenceMs,
    latency: constantLatency(latencyMs, latencyMs),
    ...(takerValue !== null && { orderValue: takerValue }),
    horizons: [HORIZON_S],
    seed,
    onShare: share => onShare(0.1 + 0.9 * share),
  });
  const verdict = quoteVerdictOf(profile, { feeBps, horizonS: HORIZON_S, random: randomOf(seed) });
  const h = profile.horizonsS.indexOf(HORIZON_S);
  const curve = profile.points.map(({ distanceBps, edgeBps, fills, fillsPerHour, valuePerHour, markoutBps }) => {
    const left = markoutBps[h] ?? null;
    return {
      ...{ distanceBps, edgeBps, fills, fillsPerHour, valuePerHour },
      left: left && { value: left.value, low: left.low, high: left.high },
    };
  });
  const at = verdictDistance(verdict);
  const { columns } = tape;
  const [from, to] = [columns.at[0] ?? 0, columns.at[columns.length - 1] ?? 0];
  const wide = wideHoursOf(tape);
  const point = curve.find(({ distanceBps }) => distanceBps === at);
  return {
    ...{ name, book, major, minor, from, to, rate: null, feeBps, verdict, curve },
    ...seen,
    orderValue: takerValue,
    capital: takerValue === null ? null : 2 * ORDERS_A_SIDE * takerValue,
    reached: point === undefined ? null : reachedTier(point.valuePerHour, options),
    limits: profile.limits,
    ...(wide !== null && { wideHours: wide }),
  };
}

/** Where it would quote, or where it came nearest to it; null where nothing could be judged. */
export const verdictDistance = (verdict: QuoteVerdict): number | null =>
  verdict.quote ? verdict.distanceBps : verdict.bestDistanceBps;

function reachedTier(
  valuePerHour: number,
  { tiers, volume30d, feeBps }: Pick<ScoutOptions, 'tiers' | 'volume30d' | 'feeBps'>,
): ReachedTier | null {
  const volume = volume30d + HOURS_30D * valuePerHour;
  // Each tier's volume is its upper bound.
  const tier = tiers.find(row => volume <= Number(row.volume)) ?? tiers.at(-1);
  if (tier === undefined) return null;
  const reachedBps = 1e4 * Number(tier.maker);
  return { volume30d: volume, feeBps: reachedBps, worthPerHour: ((feeBps - reachedBps) / 1e4) * valuePerHour };
}

/** With what nets are compared in, and best first. `preferred` is taken where a book leads to it. */
export function ranked(books: readonly ScoutedBook[], preferred?: string): Pick<Scouting, 'currency' | 'books'> {
  const currency = preferred ?? mostCommon(books.map(({ minor }) => minor));
  if (currency === null) return { currency, books: [] };
  const rated = books.map(book => {
    // A price of another year is none.
    const beside = books.filter(({ from, to }) => from <= book.to && to >= book.from);
    return { ...book, rate: ratesTo(currency, beside).get(book.minor) ?? null };
  });
  return { currency, books: rated.sort((a, b) => comesBefore(a, b)) };
}

/** Below 0 where the first is the better one. Of those that pay, the ones that no rate compares come last, by what an hour earns on their capital. */
function comesBefore(a: ScoutedBook, b: ScoutedBook): number {
  if (a.verdict.quote !== b.verdict.quote) return a.verdict.quote ? -1 : 1;
  if (!a.verdict.quote) return short(a) - short(b);
  if ((a.rate === null) !== (b.rate === null)) return a.rate === null ? 1 : -1;
  if (a.rate !== null && b.rate !== null) return netOf(b) * b.rate - netOf(a) * a.rate;
  return netOf(b) / (b.capital ?? Infinity) - netOf(a) / (a.capital ?? Infinity);
}

const netOf = ({ verdict }: ScoutedBook): number => verdict.netPerHour?.value ?? Number.NEGATIVE_INFINITY;

/** How many bps the fee is too high for this book; for what cannot be judged more than for any other. */
function short({ verdict, feeBps, curve }: ScoutedBook): number {
  const left = curve.find(({ distanceBps }) => distanceBps === verdictDistance(verdict))?.left;
  return left ? feeBps - left.value : 1e9;
}

/** By currency what one unit is worth in `currency`, through the middles of the books; the shortest chain. */
function ratesTo(currency: string, books: readonly ScoutedBook[]): ReadonlyMap<string, number> {
  const rates = new Map([[currency, 1]]);
  for (const known of rates.keys()) {
    for (const { major, minor, mid } of books) {
      if (mid === null) continue;
      const rate = rates.get(known)!;
      if (minor === known && !rates.has(major)) rates.set(major, rate * mid);
      if (major === known && !rates.has(minor)) rates.set(minor, rate / mid);
    }
  }
  return rates;
}

function mostCommon(names: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}
