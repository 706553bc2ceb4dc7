/**
 * Value of information about a book (formulas-desk E15): the expected loss to traders who know the price better than
 * the bot's quotes show, and the part of this loss that one request saves.
 *
 * The fair value moves by `sigma` per square root of a second. Once the fair value is beyond a quote, a trader who
 * knows the fair value takes that quote. All figures are statistics, not booked money.
 */
import { normalCumulative } from '../estimators/normalDistribution.ts';

/**
 * Inputs for the expected loss from a stale quote. `sigma` and `distance` have one unit, such as a share of the price.
 */
export type StaleRisk = {
  /** Standard deviation of the fair value per square root of a second. */
  readonly sigma: number;
  /** Distance of the nearest quote of the bot from the price of the last read, at least 0; Infinity without a quote. */
  readonly distance: number;
  /** Arrivals per second of traders who know the fair value. */
  readonly takers: number;
  /** Value that one of these traders takes. */
  readonly worth: number;
};

/**
 * Rank of a read: its value, and the distance of the quote in standard deviations (`xi`), which orders equal values.
 */
export type ReadValue = { readonly value: number; readonly xi: number };

const density = (x: number): number => Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);

/** Number of standard deviations beyond which the density is too small for a normal float and counts as zero. */
const XI_MAX = 38.5;

/** Distance in standard deviations at which xi * excess(xi) is largest. */
export const XI_PEAK = 0.612;

/** Returns the mean of max(0, Z - xi) for a standard normal Z. */
const excess = (xi: number): number => (xi < XI_MAX ? Math.max(0, density(xi) - xi * normalCumulative(-xi)) : 0);

/** Returns the distance of the quote in standard deviations of the move since the read. */
function xiOf({ sigma, distance }: StaleRisk, ageS: number): number {
  if (distance === 0) return 0;
  const deviation = sigma * Math.sqrt(Math.max(0, ageS));
  return deviation > 0 ? distance / deviation : Infinity;
}

/** Returns the expected loss per second with a book of this age. */
export function lossRate(risk: StaleRisk, ageS: number): number {
  const deviation = risk.sigma * Math.sqrt(Math.max(0, ageS));
  return 2 * risk.takers * risk.worth * deviation * excess(xiOf(risk, ageS));
}

/** Returns the expected number of losses per second with a book of this age. */
export function lossCount(risk: StaleRisk, ageS: number): number {
  return 2 * risk.takers * normalCumulative(-xiOf(risk, ageS));
}

/**
 * Returns the index of a read of a book of this age (Whittle's), per request: the loss if the current loss rate had
 * applied since the last read, minus the expected loss since then. If the book with the highest index is always read
 * first, the expected loss of all books together is close to its minimum.
 */
export function readValue(risk: StaleRisk, ageS: number, requests = 1): ReadValue {
  const xi = xiOf(risk, ageS);
  if (!(xi < XI_MAX && ageS > 0)) return { value: 0, xi };
  const deviation = risk.sigma * Math.sqrt(ageS);
  const shape = Math.max(0, (1 - xi * xi) * density(xi) + xi ** 3 * normalCumulative(-xi));
  return { value: ((2 / 3) * risk.takers * risk.worth * ageS * deviation * shape) / requests, xi };
}

/**
 * Returns the index of a read, as `readValue` does, if every taken quote counts as its value (`worth`), however far the
 * fair value is beyond it. Reads by this index leave the fewest stale fills. A quote that most moves pass counts like
 * one at the distance with the largest index, so that the index never falls as the volatility grows.
 */
export function readCountValue(risk: StaleRisk, ageS: number, requests = 1): ReadValue {
  const xi = xiOf(risk, ageS);
  const shape = Math.max(xi, XI_PEAK) * excess(Math.max(xi, XI_PEAK));
  const value = xi < XI_MAX && ageS > 0 ? (2 * risk.takers * risk.worth * ageS * shape) / requests : 0;
  return { value, xi };
}

/** Returns the mean of the part of |N(mean, deviation^2)| beyond `distance`. */
function meanBeyond(distance: number, mean: number, deviation: number): number {
  if (!(deviation > 0)) return Math.max(0, Math.abs(mean) - distance);
  return deviation * (excess((distance - mean) / deviation) + excess((distance + mean) / deviation));
}

/**
 * Returns the expected loss that a new quote saves, per request, if the fair value is known to have moved by `moved`
 * since the quote was placed. The next chance to quote comes after `horizonS`, in seconds.
 */
export function requoteValue(risk: StaleRisk, moved: number, horizonS: number, requests = 1): number {
  const { sigma, distance, takers, worth } = risk;
  if (!Number.isFinite(distance)) return 0;
  const deviation = sigma * Math.sqrt(Math.max(0, horizonS) / 2);
  const saved = meanBeyond(distance, moved, deviation) - meanBeyond(distance, 0, deviation);
  return (takers * worth * horizonS * Math.max(0, saved)) / requests;
}

/**
 * Bounds of the share of a quote's distance by which the fair value must move before a new quote is worth a request.
 */
const TRIGGER_MIN = 0.7;
const TRIGGER_MAX = 1;

/**
 * Returns the minimum move of the fair value that makes a new quote worth a request. `scarcity` is 0 if the budget is
 * hardly used, and 1 if the budget is used up.
 */
export const requoteFrom = (distance: number, scarcity: number): number =>
  distance * (TRIGGER_MIN + (TRIGGER_MAX - TRIGGER_MIN) * Math.min(1, Math.max(0, scarcity)));
