/**
 * Strategy parameters derived from a risk and a measured market, so that a comparison gives all strategies equal terms.
 */
import { moneyOf, textOfMoney, type Instrument } from '../src/core/index.ts';
import { FillCurve } from './fillCurve.ts';

/** Checked measurements of a recorded market, in bps and minutes, with the risk that the operator accepts. */
export type MarketTerms = {
  readonly instrument: Instrument;
  /** Price of one base unit in the quote currency, which converts the risk to an amount of the base currency. */
  readonly price: number;
  readonly volatilityBps: number;
  readonly arrivalsPerMinute: number;
  readonly decayPerBps: number;
  readonly adverseBps: number;
  /**
   * Predicted price move per standard deviation of the depth imbalance; absent if the imbalance does not predict moves.
   */
  readonly imbalance?: { readonly depthBps: number; readonly bpsPerDeviation: number };
  /** Accepted loss at a price move of one standard deviation over an hour, as decimal text in the quote currency. */
  readonly riskPerHour: string;
  /**
   * Best measured distance of a quote from the mid price, including the fee. If absent, the distance is derived from
   * arrivals and the adverse move.
   */
  readonly distanceBps?: number;
  /** Fills of one side and adverse moves by distance, as in `market.profile`; absent with too few fills. */
  readonly profile?: {
    readonly distancesBps: readonly number[];
    readonly fillsPerMinute: readonly number[];
    readonly adverseBps: readonly number[];
  };
};

/** Number of orders in full inventory. */
export const ORDERS_IN_FULL = 10;
/** Number of levels per side. */
export const LEVELS_A_SIDE = 3;
/**
 * Time in seconds in which the price typically moves by the requote tolerance. It is long enough for the request budget
 * to replace all six orders (three levels per side) once.
 */
const LEAVE_S = 4;

/**
 * Returns the value of full inventory in the quote currency. At full inventory, a price move of one standard deviation
 * over an hour costs `riskPerHour`.
 */
export const fullValueOf = (riskPerHour: number, volatilityBps: number): number => riskPerHour / (volatilityBps / 1e4);

/** Returns the amount of full inventory, in the base currency. */
export const fullMajor = ({ riskPerHour, volatilityBps, price }: MarketTerms): number =>
  fullValueOf(Number(riskPerHour), volatilityBps) / price;

/**
 * Returns the distance of the first quote from the fair value in bps, without the fee. This distance maximizes edge
 * times arrivals for a risk-neutral maker (as in GLFT).
 */
const edgeBps = ({ decayPerBps, adverseBps }: MarketTerms): number => 1 / decayPerBps + adverseBps / 2;

/**
 * Returns the measured best distance of the first quote in bps, without the fee; the result of `edgeBps` if no best
 * distance was measured.
 */
const edgeAt = (terms: MarketTerms, feeBps: number): number =>
  terms.distanceBps === undefined ? edgeBps(terms) : terms.distanceBps - feeBps;

/**
 * Returns the distance of the first quote in bps, with the maker fee. The distance exceeds the fee by at least 0.5 bps.
 */
export const halfSpreadBps = (terms: MarketTerms, feeBps: number): number =>
  fourDigits(feeBps + Math.max(0.5, edgeAt(terms, feeBps)));

/** Returns the amount of one order in the base currency, as decimal text. */
export const orderAmount = (terms: MarketTerms): string => eightDecimals(fullMajor(terms) / ORDERS_IN_FULL);

/**
 * Returns the curve of the measured fills at the fee `feeBps`, in bps and minutes; `null` if fills were not measured.
 */
const curveOf = ({ profile }: MarketTerms, feeBps: number): FillCurve | null =>
  profile === undefined
    ? null
    : new FillCurve(
        { distances: profile.distancesBps, rates: profile.fillsPerMinute, adverse: profile.adverseBps },
        feeBps,
      );

/**
 * Returns the decay of fills with distance, per bps. If fills were measured, the decay around the best distance is
 * returned.
 */
const decayOf = (terms: MarketTerms, feeBps: number): number => curveOf(terms, feeBps)?.decay ?? terms.decayPerBps;

const toleranceBps = (terms: MarketTerms, feeBps: number): number =>
  fourDigits(Math.max(0.2 / decayOf(terms, feeBps), terms.volatilityBps * Math.sqrt(LEAVE_S / 3600)));

/** Returns parameters of levels. Each level gets at most e^-0.5 of the fills of the level before it. */
const levels = (terms: MarketTerms, feeBps: number) => ({
  amount: orderAmount(terms),
  levels: LEVELS_A_SIDE,
  levelSpacingBps: fourDigits(Math.max(toleranceBps(terms, feeBps), 0.5 / decayOf(terms, feeBps))),
  refreshToleranceBps: toleranceBps(terms, feeBps),
});

/**
 * Returns the number of levels that earn money at their measured distances, at least 1. If fills were not measured,
 * returns the number of all levels.
 */
function payingLevels(terms: MarketTerms, feeBps: number): number {
  const curve = curveOf(terms, feeBps);
  const { levels: most, levelSpacingBps } = levels(terms, feeBps);
  if (curve === null) return most;
  const last = terms.profile?.distancesBps.at(-1) ?? 0;
  for (let n = 1; n < most; n++) {
    const distance = halfSpreadBps(terms, feeBps) + n * levelSpacingBps;
    if (distance > last || !(curve.net(distance) > 0)) return n;
  }
  return most;
}

/** Returns parameters for strategies with a spread around a fair value (`fixedSpread.ts`). */
export const spreadFromMarket = (terms: MarketTerms, feeBps: number) => ({
  ...levels(terms, feeBps),
  levels: payingLevels(terms, feeBps),
  halfSpreadBps: halfSpreadBps(terms, feeBps),
  skewBpsAtLimit: fourDigits(Math.max(0.5, edgeAt(terms, feeBps))),
});

/** Returns parameters for model strategies (`modelMaker.ts`), which use the measured numbers directly. */
export const modelFromMarket = (terms: MarketTerms, feeBps: number) => {
  const { instrument, riskPerHour, volatilityBps, arrivalsPerMinute, decayPerBps, adverseBps, profile } = terms;
  return {
    ...levels(terms, feeBps),
    risk: { amount: `${riskPerHour} ${instrument.minor}`, per: '1h' },
    market: {
      ...{ volatilityBps, arrivalsPerMinute, decayPerBps, adverseBps },
      ...(profile && { profile: rounded(profile) }),
    },
  };
};

const rounded = (profile: NonNullable<MarketTerms['profile']>) => ({
  distancesBps: profile.distancesBps.map(fourDigits),
  fillsPerMinute: profile.fillsPerMinute.map(fourDigits),
  adverseBps: profile.adverseBps.map(fourDigits),
});

/** Rounds to four significant digits, which is the precision of measurements from a recording. */
export const fourDigits = (x: number): number => Number(x.toPrecision(4));

/** Returns a number as decimal text, rounded down to eight decimals. */
export function eightDecimals(x: number): string {
  const text = x.toFixed(9).slice(0, -1);
  return textOfMoney(moneyOf(text));
}
