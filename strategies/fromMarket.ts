/** Parameters that follow from one risk and from what a recording shows of its market: what a comparison gives every strategy alike. */
import { moneyOf, textOfMoney } from '../src/core/index.ts';
import type { Instrument } from '../src/core/index.ts';
import { FillCurve } from './fillCurve.ts';

/** What a recording says of its market, checked, in bps and minutes; and what the risk makes of it. */
export type MarketTerms = {
  readonly instrument: Instrument;
  /** Price at which amounts are set, in the minor currency. */
  readonly price: number;
  readonly volatilityBps: number;
  readonly arrivalsPerMinute: number;
  readonly decayPerBps: number;
  readonly adverseBps: number;
  /** The slope of the next move on the imbalance; absent: it foretells nothing. */
  readonly imbalance?: { readonly depthBps: number; readonly bpsPerDeviation: number };
  /** Decimal text, in the minor currency. */
  readonly riskPerHour: string;
  /** From the middle, fee and all, where fills were found to be worth most; absent: it follows from arrivals and the adverse move. */
  readonly distanceBps?: number;
  /** Fills of one side and the move against them by distance, as `market.profile` has them; absent: too few were seen. */
  readonly profile?: {
    readonly distancesBps: readonly number[];
    readonly fillsPerMinute: readonly number[];
    readonly adverseBps: readonly number[];
  };
};

/** Full inventory is worth this many orders. */
export const ORDERS_IN_FULL = 10;
/** Levels of each side. */
export const LEVELS_A_SIDE = 3;
/** A price needs at least about this long to leave the tolerance: six orders then fit into the request budget. */
const LEAVE_S = 4;

/** In the minor currency: where one deviation over an hour costs the risk. */
export const fullValueOf = (riskPerHour: number, volatilityBps: number): number => riskPerHour / (volatilityBps / 1e4);

/** The same in the major currency. */
export const fullMajor = ({ riskPerHour, volatilityBps, price }: MarketTerms): number =>
  fullValueOf(Number(riskPerHour), volatilityBps) / price;

/** From a side's first quote to the fair value in bps, without the fee: where edge times arrivals is largest for who minds no risk (as in GLFT). */
const edgeBps = ({ decayPerBps, adverseBps }: MarketTerms): number => 1 / decayPerBps + adverseBps / 2;

/** The same of what was measured, where it was. */
const edgeAt = (terms: MarketTerms, feeBps: number): number =>
  terms.distanceBps === undefined ? edgeBps(terms) : terms.distanceBps - feeBps;

/** The same with the maker fee, in bps; half a bps at least is earned. */
export const halfSpreadBps = (terms: MarketTerms, feeBps: number): number =>
  fourDigits(feeBps + Math.max(0.5, edgeAt(terms, feeBps)));

/** Of one order, in the major currency, as decimal text. */
export const orderAmount = (terms: MarketTerms): string => eightDecimals(fullMajor(terms) / ORDERS_IN_FULL);

/** The measured fills after this fee, in bps and minutes; null where there are none. */
const curveOf = ({ profile }: MarketTerms, feeBps: number): FillCurve | null =>
  profile === undefined
    ? null
    : new FillCurve(
        { distances: profile.distancesBps, rates: profile.fillsPerMinute, adverse: profile.adverseBps },
        feeBps,
      );

/** How fills decay with the distance, per bps: around the best one where they were measured. */
const decayOf = (terms: MarketTerms, feeBps: number): number => curveOf(terms, feeBps)?.decay ?? terms.decayPerBps;

const toleranceBps = (terms: MarketTerms, feeBps: number): number =>
  fourDigits(Math.max(0.2 / decayOf(terms, feeBps), terms.volatilityBps * Math.sqrt(LEAVE_S / 3600)));

/** A level has e^-0.5 of the fills of the one inside it. */
const levels = (terms: MarketTerms, feeBps: number) => ({
  amount: orderAmount(terms),
  levels: LEVELS_A_SIDE,
  levelSpacingBps: fourDigits(Math.max(toleranceBps(terms, feeBps), 0.5 / decayOf(terms, feeBps))),
  refreshToleranceBps: toleranceBps(terms, feeBps),
});

/** Levels from the first quote on that lie where fills were measured to pay, one at least; all of them where nothing was measured. */
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

/** Of who quotes a spread on both sides of a fair value (`spread.ts`). */
export const spreadFromMarket = (terms: MarketTerms, feeBps: number) => ({
  ...levels(terms, feeBps),
  levels: payingLevels(terms, feeBps),
  halfSpreadBps: halfSpreadBps(terms, feeBps),
  skewBpsAtLimit: fourDigits(Math.max(0.5, edgeAt(terms, feeBps))),
});

/** Of who quotes by a model (`model.ts`): it is given the numbers themselves. */
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

/** Four digits say all that a recording can. */
export const fourDigits = (x: number): number => Number(x.toPrecision(4));

/** Eight decimals, floored, without an exponent. */
export function eightDecimals(x: number): string {
  const text = x.toFixed(9).slice(0, -1);
  return textOfMoney(moneyOf(text));
}
