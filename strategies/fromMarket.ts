/**
 * Strategy parameters derived from one risk and one measured market, so that a comparison gives all strategies equal
 * terms.
 */
import { moneyOf, textOfMoney, type Instrument } from '../src/core/index.ts';
import { FillCurve } from './fillCurve.ts';

/** Checked measurements of a recorded market, in bps and minutes, and the risk that the operator accepts. */
export type MarketTerms = {
  readonly instrument: Instrument;
  /** Price in the quote currency that converts the risk to an amount of the base currency. */
  readonly price: number;
  readonly volatilityBps: number;
  readonly arrivalsPerMinute: number;
  readonly decayPerBps: number;
  readonly adverseBps: number;
  /** Predicted price move per standard deviation of the depth imbalance; absent if the imbalance predicts nothing. */
  readonly imbalance?: { readonly depthBps: number; readonly bpsPerDeviation: number };
  /** Risk per hour as decimal text, in the quote currency. */
  readonly riskPerHour: string;
  /**
   * Best measured distance of a quote from the mid price, fee included. If absent, the distance follows from arrivals
   * and the adverse move.
   */
  readonly distanceBps?: number;
  /** Fills of one side and adverse moves by distance, as in `market.profile`; absent if there were too few fills. */
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
 * Time in seconds in which the price typically moves by the requote tolerance. The request budget allows all six orders
 * (three levels per side) to be replaced that often.
 */
const LEAVE_S = 4;

/**
 * Returns the value of full inventory in the quote currency: a price move of one standard deviation over an hour costs
 * the risk.
 */
export const fullValueOf = (riskPerHour: number, volatilityBps: number): number => riskPerHour / (volatilityBps / 1e4);

/** Returns full inventory in the base currency. */
export const fullMajor = ({ riskPerHour, volatilityBps, price }: MarketTerms): number =>
  fullValueOf(Number(riskPerHour), volatilityBps) / price;

/**
 * Returns the distance of the first quote from the fair value in bps, without the fee. It maximizes edge times arrivals
 * for a risk-neutral maker (as in GLFT).
 */
const edgeBps = ({ decayPerBps, adverseBps }: MarketTerms): number => 1 / decayPerBps + adverseBps / 2;

/** Returns the measured best distance of the first quote in bps, without the fee; `edgeBps` if not measured. */
const edgeAt = (terms: MarketTerms, feeBps: number): number =>
  terms.distanceBps === undefined ? edgeBps(terms) : terms.distanceBps - feeBps;

/** Returns the distance of the first quote with the maker fee, in bps; at least 0.5 bps more than the fee. */
export const halfSpreadBps = (terms: MarketTerms, feeBps: number): number =>
  fourDigits(feeBps + Math.max(0.5, edgeAt(terms, feeBps)));

/** Returns the amount of one order in the base currency, as decimal text. */
export const orderAmount = (terms: MarketTerms): string => eightDecimals(fullMajor(terms) / ORDERS_IN_FULL);

/** Returns the curve of the measured fills after this fee, in bps and minutes; `null` if fills were not measured. */
const curveOf = ({ profile }: MarketTerms, feeBps: number): FillCurve | null =>
  profile === undefined
    ? null
    : new FillCurve(
        { distances: profile.distancesBps, rates: profile.fillsPerMinute, adverse: profile.adverseBps },
        feeBps,
      );

/** Returns the decay of fills with distance, per bps: around the best distance if fills were measured. */
const decayOf = (terms: MarketTerms, feeBps: number): number => curveOf(terms, feeBps)?.decay ?? terms.decayPerBps;

const toleranceBps = (terms: MarketTerms, feeBps: number): number =>
  fourDigits(Math.max(0.2 / decayOf(terms, feeBps), terms.volatilityBps * Math.sqrt(LEAVE_S / 3600)));

/** Returns levels so far apart that each gets at most e^-0.5 of the fills of the previous one. */
const levels = (terms: MarketTerms, feeBps: number) => ({
  amount: orderAmount(terms),
  levels: LEVELS_A_SIDE,
  levelSpacingBps: fourDigits(Math.max(toleranceBps(terms, feeBps), 0.5 / decayOf(terms, feeBps))),
  refreshToleranceBps: toleranceBps(terms, feeBps),
});

/** Returns how many levels earn money at their measured distances, at least 1; all if fills were not measured. */
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

/** Returns parameters for model strategies (`modelMaker.ts`), which take the measured numbers. */
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

/** Rounds to four significant digits, the precision of a recording. */
export const fourDigits = (x: number): number => Number(x.toPrecision(4));

/** Returns a number as decimal text, rounded down to eight decimals. */
export function eightDecimals(x: number): string {
  const text = x.toFixed(9).slice(0, -1);
  return textOfMoney(moneyOf(text));
}
