/** YAML parameters of GLFT. */
import { z } from 'zod';
import { moneyOf } from '../../src/core/index.ts';
import { marketParameters } from '../rollingMarket.ts';
import { bps, levelParameters, levelProblems, type LimitProblem, type LimitsAsked } from '../parameters.ts';
import { riskParameters, riskProblems } from '../riskAversion.ts';

export const glftParameters = z.strictObject({
  ...levelParameters,
  levelSpacingBps: bps.default(3).describe('Minimum distance between levels.'),
  solution: z
    .enum(['exact', 'closed form'])
    .default('exact')
    .describe('exact: optimal under the inventory cap. closed form: inaccurate near the cap.'),
  risk: riskParameters,
  market: marketParameters,
});

export type GlftParameters = z.infer<typeof glftParameters>;

/** Maximum of limits.positionMax, in orders, which bounds the time to solve the model. */
const CAP_MAX = 500;

/**
 * Checks that the levels are within the limits, the risk is in the quote currency, and positionMax is at most 500
 * orders.
 */
export function glftLimitProblems(p: GlftParameters, limits: LimitsAsked, book: string): readonly LimitProblem[] {
  const many = !(moneyOf(limits.positionMax) <= BigInt(CAP_MAX) * moneyOf(p.amount));
  return [
    ...levelProblems(p, limits),
    ...riskProblems(p.risk, book),
    ...(many
      ? [
          {
            key: 'amount',
            message: `limits.positionMax "${limits.positionMax}" is more than ${CAP_MAX} times this amount; raise the amount, or lower limits.positionMax`,
          },
        ]
      : []),
  ];
}
