/**
 * Results of `puntas scout` as numbers and text for JSON: each book evaluated at the account's fee, best book first.
 */
import { randomOf, type FeeTier, type Millis } from '../../src/core/index.ts';
import { wideHoursOf, type Tape, type WideHours } from '../../src/tape/index.ts';
import type { HedgedBook } from '../hedged/hedgedBook.ts';
import { distanceProfileOf, type DistancePoint } from '../profile/distanceProfile.ts';
import { quoteVerdictOf, type QuoteVerdict } from '../profile/quoteVerdict.ts';
import { constantLatency } from '../rows/latency.ts';
import { marketSeen, type MarketSeen } from './marketSeen.ts';
import type { JointMoves } from './together.ts';

/** Result of a scout. Equal recordings and options give equal fields, except `made`. */
export type Scouting = {
  readonly made: { readonly puntas: string; readonly node: string };
  /** Address of the exchange, or the paths of the recordings as the operator named them. */
  readonly looked: string;
  /**
   * Requested maker fees: those of the configuration's tier (`config`), of the `best` or `entry` tier, or a number of
   * bps.
   */
  readonly fees: string;
  /**
   * Interval at which orders are re-pegged, in ms. `latencyMs` is the request latency each way, and `horizonS` the time
   * from a fill to its valuation.
   */
  readonly cadenceMs: Millis;
  readonly latencyMs: Millis;
  readonly horizonS: number;
  /** Currency in which the net profits of the books are compared (`netPerHour` times `rate`); `null` without books. */
  readonly currency: string | null;
  /**
   * Books, best first. Books in which quoting pays are sorted by net per hour, the others by the excess of the fee over
   * the remaining edge.
   */
  readonly books: readonly ScoutedBook[];
  /** Joint moves of the books; absent with fewer than two books. */
  readonly together?: JointMoves;
  readonly leftOut: readonly { readonly what: string; readonly why: string }[];
  /** Books with a hedge on another exchange; absent unless a recording of that exchange was given. */
  readonly hedged?: readonly HedgedBook[];
};

/** Result of one book. Amounts of money are approximate and in the quote currency. */
export type ScoutedBook = Omit<MarketSeen, 'takerValue'> & {
  /** Hours of the day whose spread is far wider than in the other hours; absent if there are none. */
  readonly wideHours?: WideHours;
  /** Short, unique name of the book in the report. */
  readonly name: string;
  readonly book: string;
  readonly major: string;
  readonly minor: string;
  /** Times of the first and of the last row, in epoch ms. */
  readonly from: Millis;
  readonly to: Millis;
  /**
   * Value of one unit of the quote currency in `currency`; `null` if no books that were recorded at the same time
   * connect the two currencies.
   */
  readonly rate: number | null;
  /** Maker fee in bps. */
  readonly feeBps: number;
  /** Value of one order: the median value of a taker order; `null` without trades. */
  readonly orderValue: number | null;
  /** Capital for ten orders per side, half in each currency. */
  readonly capital: number | null;
  readonly verdict: QuoteVerdict;
  readonly curve: readonly CurvePoint[];
  /**
   * Fee tier that the account reaches by quoting at the verdict's distance from the mid price; `null` if the verdict
   * has no distance.
   */
  readonly reached: ReachedTier | null;
  /** Limitations of the recording, in sentences. */
  readonly limits: readonly string[];
};

/** Results at one distance, without the results per time block. Fills are valued at the scout's horizon. */
export type CurvePoint = Pick<DistancePoint, 'distanceBps' | 'edgeBps' | 'fills' | 'fillsPerHour' | 'valuePerHour'> & {
  /** Edge that remains after the price move within the horizon, before fees, in bps; `null` with too little data. */
  readonly left: { readonly value: number; readonly low: number; readonly high: number } | null;
};

/** Fee tier of the account after a month of quoting at the verdict's distance from the mid price. */
export type ReachedTier = {
  /** Volume of 30 days of quoting at the verdict's distance, plus the account's volume in the 30 days before. */
  readonly volume30d: number;
  readonly feeBps: number;
  /**
   * Change of the net profit per hour because of the tier's fee; negative if that fee is higher than the assumed fee.
   */
  readonly worthPerHour: number;
};

export type ScoutOptions = {
  readonly cadenceMs: Millis;
  readonly latencyMs: Millis;
  readonly feeBps: number;
  /** Fee tiers of the book, ascending by volume. */
  readonly tiers: readonly FeeTier[];
  /** Volume of the account in the last 30 days, in the currency of the tiers. */
  readonly volume30d: number;
  readonly seed: number;
  /** Probability that the verdict is `quote` although no distance pays. Default: 0.05. */
  readonly error?: number;
  /** `error` of the last check of this market. The missing hours are those until a check with it. Default: `error`. */
  readonly lastError?: number;
  readonly onShare?: (share: number) => void;
};

/** Number of orders per side that the capital of a book covers. */
export const ORDERS_PER_SIDE = 10;
export const HORIZON_S = 60;
const HOURS_30D = 720;

/** Evaluates a book. The `rate` of the result is `null`, because it depends on the other books. */
export function scoutedBook(name: string, tape: Tape, options: ScoutOptions): ScoutedBook {
  const { cadenceMs, latencyMs, feeBps, seed, error, lastError, onShare = () => undefined } = options;
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
  const verdict = quoteVerdictOf(profile, {
    ...{ feeBps, horizonS: HORIZON_S, random: randomOf(seed) },
    ...(error !== undefined && { error }),
    ...(lastError !== undefined && { lastError }),
  });
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
    capital: takerValue === null ? null : 2 * ORDERS_PER_SIDE * takerValue,
    reached: point === undefined ? null : reachedTier(point.valuePerHour, options),
    limits: profile.limits,
    ...(wide !== null && { wideHours: wide }),
  };
}

/**
 * Returns the distance at which to quote, or the best distance if quoting does not pay; `null` if no distance could be
 * evaluated.
 */
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

/**
 * Sorts the books, best first, and returns the currency in which their net profits are compared: `preferred`, or by
 * default the most common quote currency.
 */
export function ranked(books: readonly ScoutedBook[], preferred?: string): Pick<Scouting, 'currency' | 'books'> {
  const currency = preferred ?? mostCommon(books.map(({ minor }) => minor));
  if (currency === null) return { currency, books: [] };
  const rated = books.map(book => {
    // Rates change over time, so only books that were recorded at the same time give the rate.
    const beside = books.filter(({ from, to }) => from <= book.to && to >= book.from);
    return { ...book, rate: ratesTo(currency, beside).get(book.minor) ?? null };
  });
  return { currency, books: rated.sort((a, b) => comesBefore(a, b)) };
}

/**
 * Compares two books; negative if `a` is better. Among books in which quoting pays, books without a rate come last,
 * sorted by net per hour relative to their capital.
 */
function comesBefore(a: ScoutedBook, b: ScoutedBook): number {
  if (a.verdict.quote !== b.verdict.quote) return a.verdict.quote ? -1 : 1;
  if (!a.verdict.quote) return short(a) - short(b);
  if ((a.rate === null) !== (b.rate === null)) return a.rate === null ? 1 : -1;
  if (a.rate !== null && b.rate !== null) return netOf(b) * b.rate - netOf(a) * a.rate;
  return netOf(b) / (b.capital ?? Infinity) - netOf(a) / (a.capital ?? Infinity);
}

const netOf = ({ verdict }: ScoutedBook): number => verdict.netPerHour?.value ?? Number.NEGATIVE_INFINITY;

/**
 * Returns the excess of the fee over the remaining edge at the best distance, in bps. For a book whose remaining edge
 * is unknown, the result is larger than for any other book.
 */
function short({ verdict, feeBps, curve }: ScoutedBook): number {
  const left = curve.find(({ distanceBps }) => distanceBps === verdictDistance(verdict))?.left;
  return left ? feeBps - left.value : 1e9;
}

/**
 * Returns, for each currency, the value of one unit expressed in `currency`. A rate is computed from the mid prices of
 * the shortest chain of books.
 */
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
