/** Every strategy by name: the one line to add for a new one. */
import type { z } from 'zod';
import type { Instrument, Strategy, RequoteTolerance } from '../src/core/index.ts';
import { avellanedaStoikovLimitProblems, avellanedaStoikovParameters } from './avellaneda-stoikov/parameters.ts';
import { avellanedaStoikov } from './avellaneda-stoikov/strategy.ts';
import { glftLimitProblems, glftParameters } from './glft/parameters.ts';
import { glft } from './glft/strategy.ts';
import { earningFees } from './fees.ts';
import { gridEdgeProblem, gridLimitProblems, gridParameters } from './grid/parameters.ts';
import { grid } from './grid/strategy.ts';
import { imbalanceEdgeProblem, imbalanceLimitProblems, imbalanceParameters } from './imbalance/parameters.ts';
import { imbalance } from './imbalance/strategy.ts';
import { ladderEdgeProblem, ladderLimitProblems, ladderParameters, ladderTolerance } from './ladder/parameters.ts';
import { ladder } from './ladder/strategy.ts';
import { toleranceOf } from './parameters.ts';
import type { LimitProblem, LimitsAsked } from './parameters.ts';
import { pegEdgeProblem, pegLimitProblems, pegParameters } from './peg/parameters.ts';
import { peg } from './peg/strategy.ts';

/** The fee is inside the formula: a model's quotes always earn it. */
const feeInside = (): null => null;

export const strategies = {
  ladder: {
    parameters: ladderParameters,
    summary: 'Several levels on each side of a reference price.',
    make: ladder,
    edgeProblem: ladderEdgeProblem,
    limitProblems: ladderLimitProblems,
    tolerance: ladderTolerance,
  },
  'avellaneda-stoikov': {
    parameters: avellanedaStoikovParameters,
    summary: 'Quotes around a reservation price that falls with inventory.',
    make: avellanedaStoikov,
    edgeProblem: feeInside,
    limitProblems: avellanedaStoikovLimitProblems,
    tolerance: toleranceOf,
  },
  glft: {
    parameters: glftParameters,
    summary: 'Optimal quotes under inventory risk, exact under a hard cap.',
    make: glft,
    edgeProblem: feeInside,
    limitProblems: glftLimitProblems,
    tolerance: toleranceOf,
  },
  grid: {
    parameters: gridParameters,
    summary: 'Orders on fixed lines below and above the market.',
    make: grid,
    edgeProblem: gridEdgeProblem,
    limitProblems: gridLimitProblems,
    tolerance: toleranceOf,
  },
  imbalance: {
    parameters: imbalanceParameters,
    summary: 'A spread around a fair value that leans with the imbalance of the book.',
    make: imbalance,
    edgeProblem: imbalanceEdgeProblem,
    limitProblems: imbalanceLimitProblems,
    tolerance: toleranceOf,
  },
  peg: {
    parameters: pegParameters,
    summary: 'A spread around a price from elsewhere: another book through a cross rate.',
    make: peg,
    edgeProblem: pegEdgeProblem,
    limitProblems: pegLimitProblems,
    tolerance: toleranceOf,
    needsReference: true,
  },
} as const;

export type StrategyName = keyof typeof strategies;

/** The checked parameters of any strategy. */
export type StrategyParameters = {
  readonly [K in StrategyName]: z.infer<(typeof strategies)[K]['parameters']>;
}[StrategyName];

/** What the index says of a strategy. The parameters must be those of the name that it was asked for by. */
export type StrategyKind = {
  make(parameters: StrategyParameters, instrument: Instrument): Strategy;
  /** Why the parameters cannot earn this maker fee (parts of 10^-8), or null. */
  edgeProblem(parameters: StrategyParameters, makerRate: number): string | null;
  /** What they ask of the limits and cannot get. `book`: <major>_<minor>. */
  limitProblems(parameters: StrategyParameters, limits: LimitsAsked, book: string): readonly LimitProblem[];
  tolerance(parameters: StrategyParameters): RequoteTolerance;
  /** It quotes nothing without a price from elsewhere. */
  readonly needsReference?: boolean;
};
/** Its quotes earn their fees, or are not shown: except where the user pays for volume. */
export function kindOf(name: StrategyName): StrategyKind {
  const kind: StrategyKind = strategies[name];
  const paysForVolume = (p: StrategyParameters): boolean => 'minEdgeBps' in p && p.minEdgeBps < 0;
  return { ...kind, make: (p, instrument) => earningFees(kind.make(p, instrument), paysForVolume(p)) };
}
export { fairValueProblem, fairValueReachBps, withFairValue } from './fairValue.ts';
export { fairValueParameters } from './fairValueParameters.ts';
export type { FairValueParameters } from './fairValueParameters.ts';
export type { Instrument, Strategy };

export { aboveZero, decimalText } from './parameters.ts';
