/** The parameters of the imbalance maker as they stand in the YAML. */
import { z } from 'zod';
import { bps, duration } from '../parameters.ts';
import type { LimitProblem, LimitsAsked } from '../parameters.ts';
import { spreadEdgeProblem, spreadLimitProblems, spreadParameters } from '../spread.ts';

/** The imbalance counts up to this many standard deviations. */
export const DEVIATIONS_MAX = 3;

export const imbalanceParameters = z.strictObject({
  ...spreadParameters,
  depthBps: z
    .number()
    .gt(0)
    .max(5_000)
    .default(30)
    .describe('Amounts up to this many bps from the middle count, on both sides.'),
  leanBps: bps
    .default(2)
    .describe(
      `How far the fair value is moved towards where the book is thin by one standard deviation of imbalance, in bps; at most ${DEVIATIONS_MAX} deviations count.`,
    ),
  memory: duration
    .default('10m')
    .describe(
      'The mean and the deviation of the imbalance are followed with this time constant: what is always there says nothing.',
    ),
});

export type ImbalanceParameters = z.infer<typeof imbalanceParameters>;

export const imbalanceLimitProblems = (p: ImbalanceParameters, limits: LimitsAsked): readonly LimitProblem[] =>
  spreadLimitProblems(p, limits, DEVIATIONS_MAX * p.leanBps);

export const imbalanceEdgeProblem = (p: ImbalanceParameters, makerRate: number): string | null =>
  spreadEdgeProblem(p, makerRate);
