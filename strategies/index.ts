/** Every strategy by name: the one line to add for a new one. */
import type { Instrument, Strategy } from '../src/core/index.ts';
import { ladderEdgeProblem, ladderLimitProblems, ladderParameters, ladderTolerance } from './ladder/parameters.ts';
import { ladder } from './ladder/strategy.ts';

export const strategies = {
  ladder: {
    parameters: ladderParameters,
    summary: 'Several levels on each side of a reference price.',
    make: ladder,
    edgeProblem: ladderEdgeProblem,
    limitProblems: ladderLimitProblems,
    tolerance: ladderTolerance,
  },
} as const;

export type StrategyName = keyof typeof strategies;
export type { Instrument, Strategy };
