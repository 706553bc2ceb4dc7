/** YAML parameters of the imbalance maker. */
import { z } from 'zod';
import { DEVIATIONS_MAX, imbalanceKeys } from '../fairValueParameters.ts';
import type { LimitProblem, LimitsAsked } from '../parameters.ts';
import { spreadEdgeProblem, spreadLimitProblems, spreadParameters } from '../fixedSpread.ts';

export const imbalanceParameters = z.strictObject({
  ...spreadParameters,
  ...imbalanceKeys,
});

export type ImbalanceParameters = z.infer<typeof imbalanceParameters>;

/** Checks that the levels are within the limits, also when the fair value is shifted by three deviations. */
export const imbalanceLimitProblems = (p: ImbalanceParameters, limits: LimitsAsked): readonly LimitProblem[] =>
  spreadLimitProblems(p, limits, DEVIATIONS_MAX * p.bpsPerDeviation);

/**
 * Returns an error line if the spread is less than two maker fees plus minEdgeBps; otherwise `null`. `makerRate` is in
 * parts of 10^-8.
 */
export const imbalanceEdgeProblem = (p: ImbalanceParameters, makerRate: number): string | null =>
  spreadEdgeProblem(p, makerRate);
