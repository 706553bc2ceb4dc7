/** Causes of a difference between a bot and its models, and the detectors that find each cause. */
import type { Detection } from './cusum.ts';

/**
 * Causes, in the order in which alarms are explained: an alarm is a possible consequence of every earlier raised cause.
 * - decision: the engine decides differently from the recorded one.
 * - clock: the bot's clock differs from the exchange's.
 * - latency: requests take longer or shorter than before.
 * - fee: fees differ from the rates in the rules of the book.
 * - book: the recorded book, the recorded trades and the bot's fills do not match.
 * - hedge: a hedge cost more or less than expected at its start.
 * - fill: fills differ from the fill model on the recorded market.
 * - unexplained: the rest.
 */
export const CAUSES_IN_ORDER = ['decision', 'clock', 'latency', 'fee', 'book', 'hedge', 'fill', 'unexplained'] as const;
export type DivergenceCause = (typeof CAUSES_IN_ORDER)[number];

/**
 * Parts of the difference in money between expected and actual fills, in the order in which actual values replace the
 * models.
 */
export const GAP_PARTS = ['latency', 'fill', 'book', 'fee', 'hedge', 'unexplained'] as const;
export type GapPart = (typeof GAP_PARTS)[number];

/**
 * Detectors with their units. A detector with `learned` learns its normal value from the bot's own observations,
 * because no model has this value.
 */
export const DETECTORS = {
  /** Time of an order at the exchange minus its expected arrival, in ms. */
  clock: { cause: 'clock', unit: 'ms', slack: 0.5, mean: 0, deviation: 300 },
  /** Time from decision to answer of a placement, in ms. */
  placements: { cause: 'latency', unit: 'ms', slack: 1, mean: 0, deviation: 5, learned: 50 },
  /** Time from decision to answer of a cancel, in ms. */
  cancels: { cause: 'latency', unit: 'ms', slack: 1, mean: 0, deviation: 5, learned: 50 },
  /** Charged minus expected fee of a trade, in bps of its value. */
  fees: { cause: 'fee', unit: 'bps', slack: 0.5, mean: 0, deviation: 0.1 },
  /** Share of an order's fills that no public trade explains. */
  missingTrades: { cause: 'book', unit: 'share', slack: 0.5, mean: 0, deviation: 0.15 },
  /** Whether a public trade was not at the best price of the recorded book: 1 or 0. */
  tradesOffBook: { cause: 'book', unit: 'share', slack: 0.75, mean: 0, deviation: 0.1, learned: 100 },
  /** Actual minus expected value of a hedge, in bps of its value. */
  hedges: { cause: 'hedge', unit: 'bps', slack: 0.5, mean: 0, deviation: 1 },
  /** Actual minus expected filled lots of orders that ended within 10 s, as a share of the larger of the two. */
  fills: { cause: 'fill', unit: 'share', slack: 0.75, mean: 0, deviation: 0.07, learned: 100 },
  /** Unexplained part of the value of an order's fills, in bps of their value. */
  rest: { cause: 'unexplained', unit: 'bps', slack: 0.5, mean: 0, deviation: 0.1 },
} as const satisfies Readonly<Record<string, Detection & { readonly cause: DivergenceCause; readonly unit: string }>>;
export type DetectorName = keyof typeof DETECTORS;
export const DETECTOR_NAMES = Object.keys(DETECTORS) as readonly DetectorName[];
