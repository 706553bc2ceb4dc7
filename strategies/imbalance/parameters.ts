/** The parameters of the imbalance maker as they stand in the YAML. */
import { z } from 'zod';
import { DEVIATIONS_MAX, imbalanceKeys } from '../fairValueParameters.ts';
import type { LimitProblem, LimitsAsked } from '../parameters.ts';
import { spreadEdgeProblem, spreadLimitProblems, spreadParameters } from '../spread.ts';

export const imbalanceParameters = z.strictObject({
  ...spreadParameters,
  ...imbalanceKeys,
});

export type ImbalanceParameters = z.infer<typeof imbalanceParameters>;

/** None when the levels fit the limits, with the fair value leaning by three deviations. */
export const imbalanceLimitProblems = (p: ImbalanceParameters, limits: LimitsAsked): readonly LimitProblem[] =>
  spreadLimitProblems(p, limits, DEVIATIONS_MAX * p.bpsPerDeviation);

/** Null, or why the spread is less than two maker fees and minEdgeBps. `makerRate` in parts of 10^-8. */
export const imbalanceEdgeProblem = (p: ImbalanceParameters, makerRate: number): string | null =>
  spreadEdgeProblem(p, makerRate);
