/** Every strategy: an import and an entry each. Nothing else of the program names one. */
import type { z } from 'zod';
import type { Instrument, Strategy, RequoteTolerance } from '../src/core/index.ts';
import { byName } from './defineStrategy.ts';
import { earningFees } from './fees.ts';
import { fourDigits } from './fromMarket.ts';
import type { LimitProblem, LimitsAsked } from './parameters.ts';
import { ladder } from './ladder/strategy.ts';
import { avellanedaStoikov } from './avellaneda-stoikov/strategy.ts';
import { glft } from './glft/strategy.ts';
import { grid } from './grid/strategy.ts';
import { imbalance } from './imbalance/strategy.ts';
import { peg } from './peg/strategy.ts';

export const strategies = byName({
  ladder,
  avellanedaStoikov,
  glft,
  grid,
  imbalance,
  peg,
});

export type StrategyName = keyof typeof strategies;

/** The checked parameters of any strategy. */
export type StrategyParameters = {
  readonly [K in StrategyName]: z.infer<(typeof strategies)[K]['parameters']>;
}[StrategyName];

/** A definition, whichever it is. The parameters must be those of the name that it was asked for by. */
export type StrategyKind = {
  make(parameters: StrategyParameters, instrument: Instrument): Strategy;
  /** Why the parameters cannot earn this maker fee (parts of 10^-8), or null. */
  edgeProblem(parameters: StrategyParameters, makerRate: number): string | null;
  /** What they ask of the limits and cannot get. `book`: <major>_<minor>. */
  limitProblems(parameters: StrategyParameters, limits: LimitsAsked, book: string): readonly LimitProblem[];
  tolerance(parameters: StrategyParameters): RequoteTolerance;
  /** It quotes nothing without a price from elsewhere. */
  readonly needsReference?: true;
};
/** Its quotes earn their fees, or are not shown: except where the user pays for volume. */
export function kindOf(name: StrategyName): StrategyKind {
  const kind: StrategyKind = strategies[name];
  const paysForVolume = (p: StrategyParameters): boolean => 'minEdgeBps' in p && p.minEdgeBps < 0;
  return { ...kind, make: (p, instrument) => earningFees(kind.make(p, instrument), paysForVolume(p)) };
}
/** `strategy` of a configuration that stands at one distance, in bps, and leans by half of it: what a measured distance asks for. `amount` in the major currency. */
export const quotingAt = (distanceBps: number, feeBps: number, amount: string): object => ({
  name: 'ladder' satisfies StrategyName,
  reference: 'mid',
  halfSpreadBps: fourDigits(distanceBps),
  levels: 1,
  amount,
  refreshToleranceBps: fourDigits(Math.max(0.5, distanceBps / 20)),
  // Of a round trip, within what the distance leaves of two fees.
  minEdgeBps: fourDigits(Math.max(0, Math.min(1, 1.9 * (distanceBps - feeBps)))),
  skew: { priceBpsAtLimit: fourDigits(distanceBps / 2) },
});
export { eightDecimals, fourDigits, fullMajor, fullValueOf, LEVELS_A_SIDE, ORDERS_IN_FULL } from './fromMarket.ts';
export type { MarketTerms } from './fromMarket.ts';
export { loneOrder, plainLadder } from './ladder/setups.ts';
export { fairValueProblem, fairValueReachBps, withFairValue } from './fairValue.ts';
export { fairValueParameters } from './fairValueParameters.ts';
export type { FairValueParameters } from './fairValueParameters.ts';
export type { Instrument, Strategy };

export { aboveZero, currencyOf, decimalText, sumOfMoney } from './parameters.ts';
