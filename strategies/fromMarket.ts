/** Parameters that follow from one risk and from what a recording shows of its market: what a comparison gives every strategy alike. */
import { moneyOf, textOfMoney } from '../src/core/index.ts';
import type { Instrument } from '../src/core/index.ts';

/** What a recording says of its market, checked, in bps and minutes; and what the risk makes of it. */
export type MarketTerms = {
  readonly instrument: Instrument;
  /** Price at which amounts are set, in the minor currency. */
  readonly price: number;
  readonly volatilityBps: number;
  readonly arrivalsPerMinute: number;
  readonly decayPerBps: number;
  readonly adverseBps: number;
  /** Decimal text, in the minor currency. */
  readonly riskPerHour: string;
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

/** The same with the maker fee, in bps; half a bps at least is earned. */
export const halfSpreadBps = (terms: MarketTerms, feeBps: number): number =>
  fourDigits(feeBps + Math.max(0.5, edgeBps(terms)));

/** Of one order, in the major currency, as decimal text. */
export const orderAmount = (terms: MarketTerms): string => eightDecimals(fullMajor(terms) / ORDERS_IN_FULL);

const toleranceBps = ({ decayPerBps, volatilityBps }: MarketTerms): number =>
  fourDigits(Math.max(0.2 / decayPerBps, volatilityBps * Math.sqrt(LEAVE_S / 3600)));

const levels = (terms: MarketTerms) => ({
  amount: orderAmount(terms),
  levels: LEVELS_A_SIDE,
  levelSpacingBps: fourDigits(Math.max(toleranceBps(terms), 0.5 / terms.decayPerBps)),
  refreshToleranceBps: toleranceBps(terms),
});

/** Of who quotes a spread on both sides of a fair value (`spread.ts`). */
export const spreadFromMarket = (terms: MarketTerms, feeBps: number) => ({
  ...levels(terms),
  halfSpreadBps: halfSpreadBps(terms, feeBps),
  skewBpsAtLimit: fourDigits(edgeBps(terms)),
});

/** Of who quotes by a model (`model.ts`): it is given the numbers themselves. */
export const modelFromMarket = (terms: MarketTerms) => {
  const { instrument, riskPerHour, volatilityBps, arrivalsPerMinute, decayPerBps, adverseBps } = terms;
  return {
    ...levels(terms),
    risk: { amount: `${riskPerHour} ${instrument.minor}`, per: '1h' },
    market: { volatilityBps, arrivalsPerMinute, decayPerBps, adverseBps },
  };
};

/** Four digits say all that a recording can. */
export const fourDigits = (x: number): number => Number(x.toPrecision(4));

/** Eight decimals, floored, without an exponent. */
export function eightDecimals(x: number): string {
  const text = x.toFixed(9).slice(0, -1);
  return textOfMoney(moneyOf(text));
}
