/** Registry of all strategies: no other file lists them. */
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

/** Checked parameters of any strategy. */
export type StrategyParameters = {
  readonly [K in StrategyName]: z.infer<(typeof strategies)[K]['parameters']>;
}[StrategyName];

/**
 * Definition of any strategy, without the type of its parameters. Callers must pass the parameters of that strategy.
 */
export type StrategyKind = {
  make(parameters: StrategyParameters, instrument: Instrument): Strategy;
  /** Returns why the parameters cannot earn the maker fee (in parts of 10^-8); `null` if they can. */
  edgeProblem(parameters: StrategyParameters, makerRate: number): string | null;
  /**
   * Returns the conflicts of the parameters with the limits; empty if there are none. `book` has the form
   * <base>_<quote>.
   */
  limitProblems(parameters: StrategyParameters, limits: LimitsAsked, book: string): readonly LimitProblem[];
  tolerance(parameters: StrategyParameters): RequoteTolerance;
  /** Whether the strategy needs a reference price to quote. */
  readonly needsReference?: true;
};
/**
 * Returns the definition of a strategy. The strategy does not quote at prices that cannot earn the fees, unless a
 * negative minEdgeBps allows losses for volume.
 */
export function kindOf(name: StrategyName): StrategyKind {
  const kind: StrategyKind = strategies[name];
  const paysForVolume = (p: StrategyParameters): boolean => 'minEdgeBps' in p && p.minEdgeBps < 0;
  return { ...kind, make: (p, instrument) => earningFees(kind.make(p, instrument), paysForVolume(p)) };
}
/**
 * Returns a `strategy` section: a ladder with one level at `distanceBps` from the mid price. Its skew at positionMax is
 * half of `distanceBps`. `amount` is in the base currency.
 */
export const quotingAt = (distanceBps: number, feeBps: number, amount: string): object => ({
  name: 'ladder' satisfies StrategyName,
  reference: 'mid',
  halfSpreadBps: fourDigits(distanceBps),
  levels: 1,
  amount,
  refreshToleranceBps: fourDigits(Math.max(0.5, distanceBps / 20)),
  // A round trip earns twice the distance minus two fees. The minimum edge is 95% of these earnings, capped at 1 bps.
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
