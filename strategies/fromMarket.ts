/** Parameters from one risk and a recorded market, which a comparison gives to every strategy. */
import { moneyOf, textOfMoney, type Instrument } from '../src/core/index.ts';
import { FillCurve } from './fillCurve.ts';

/** Measured market of a recording, checked, in bps and minutes, and the risk. */
export type MarketTerms = {
  readonly instrument: Instrument;
  /** Price for setting amounts, in the quote currency. */
  readonly price: number;
  readonly volatilityBps: number;
  readonly arrivalsPerMinute: number;
  readonly decayPerBps: number;
  readonly adverseBps: number;
  /** Slope of the next move on the imbalance; absent if it predicts nothing. */
  readonly imbalance?: { readonly depthBps: number; readonly bpsPerDeviation: number };
  /** Decimal text, in the quote currency. */
  readonly riskPerHour: string;
  /**
   * Best measured distance from the mid price, fee included; if absent, it follows from arrivals and the adverse move.
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
/** Levels on each side. */
export const LEVELS_A_SIDE = 3;
/** Time in seconds in which the price typically moves by one tolerance. Replacing all six orders (three levels per side) that often fits into the request budget. */
const LEAVE_S = 4;

/** Value in the quote currency of an inventory for which one standard deviation over an hour costs the risk. */
export const fullValueOf = (riskPerHour: number, volatilityBps: number): number => riskPerHour / (volatilityBps / 1e4);

/** The same inventory in the base currency. */
export const fullMajor = ({ riskPerHour, volatilityBps, price }: MarketTerms): number =>
  fullValueOf(Number(riskPerHour), volatilityBps) / price;

/**
 * Distance of the first quote from the fair value in bps, without the fee. It maximizes edge times arrivals for a
 * risk-neutral maker (as in GLFT).
 */
const edgeBps = ({ decayPerBps, adverseBps }: MarketTerms): number => 1 / decayPerBps + adverseBps / 2;

/** Distance of the first quote as measured, or as computed above if not measured; without the fee, in bps. */
const edgeAt = (terms: MarketTerms, feeBps: number): number =>
  terms.distanceBps === undefined ? edgeBps(terms) : terms.distanceBps - feeBps;

/** Returns the distance of the first quote with the maker fee, in bps; at least 0.5 bps more than the fee. */
export const halfSpreadBps = (terms: MarketTerms, feeBps: number): number =>
  fourDigits(feeBps + Math.max(0.5, edgeAt(terms, feeBps)));

/** Returns the amount of one order in the base currency, as decimal text. */
export const orderAmount = (terms: MarketTerms): string => eightDecimals(fullMajor(terms) / ORDERS_IN_FULL);

/** Curve of the measured fills after this fee, in bps and minutes; `null` if there are none. */
const curveOf = ({ profile }: MarketTerms, feeBps: number): FillCurve | null =>
  profile === undefined
    ? null
    : new FillCurve(
        { distances: profile.distancesBps, rates: profile.fillsPerMinute, adverse: profile.adverseBps },
        feeBps,
      );

/** Decay of fills with distance, per bps; around the best distance if measured. */
const decayOf = (terms: MarketTerms, feeBps: number): number => curveOf(terms, feeBps)?.decay ?? terms.decayPerBps;

const toleranceBps = (terms: MarketTerms, feeBps: number): number =>
  fourDigits(Math.max(0.2 / decayOf(terms, feeBps), terms.volatilityBps * Math.sqrt(LEAVE_S / 3600)));

/** Each level gets e^-0.5 of the fills of the previous one. */
const levels = (terms: MarketTerms, feeBps: number) => ({
  amount: orderAmount(terms),
  levels: LEVELS_A_SIDE,
  levelSpacingBps: fourDigits(Math.max(toleranceBps(terms, feeBps), 0.5 / decayOf(terms, feeBps))),
  refreshToleranceBps: toleranceBps(terms, feeBps),
});

/** Number of first levels at distances that paid when measured, at least one; all levels if nothing was measured. */
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

/** Returns parameters for strategies with a spread around a fair value (`spread.ts`). */
export const spreadFromMarket = (terms: MarketTerms, feeBps: number) => ({
  ...levels(terms, feeBps),
  levels: payingLevels(terms, feeBps),
  halfSpreadBps: halfSpreadBps(terms, feeBps),
  skewBpsAtLimit: fourDigits(Math.max(0.5, edgeAt(terms, feeBps))),
});

/** Returns parameters for model strategies (`model.ts`), which take the measured numbers. */
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

/** Rounds to four digits, the precision of a recording. */
export const fourDigits = (x: number): number => Number(x.toPrecision(4));

/** Rounds down to eight decimals, without an exponent. */
export function eightDecimals(x: number): string {
  const text = x.toFixed(9).slice(0, -1);
  return textOfMoney(moneyOf(text));
}
