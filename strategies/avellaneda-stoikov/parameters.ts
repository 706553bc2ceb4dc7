/** YAML parameters of Avellaneda-Stoikov. */
import { z } from 'zod';
import { marketParameters } from '../rollingMarket.ts';
import { bps, levelParameters, levelProblems, type LimitProblem, type LimitsAsked } from '../parameters.ts';
import { riskParameters, riskProblems } from '../riskAversion.ts';

export const avellanedaStoikovParameters = z.strictObject({
  ...levelParameters,
  levelSpacingBps: bps.default(3).describe('Minimum distance between levels.'),
  horizon: z
    .string()
    .regex(/^(infinite|0*[1-9]\d{0,5}[smhd])$/, 'expected "infinite", or a duration like 1h or 1d')
    .default('infinite')
    .describe('Session length, like 1d (UTC days); skew and spread decrease towards the end.'),
  risk: riskParameters,
  market: marketParameters,
});

export type AvellanedaStoikovParameters = z.infer<typeof avellanedaStoikovParameters>;

/**
 * Checks that the levels are within the limits, and that the risk is in the quote currency. The distances of the levels
 * are not checked, because they are unknown before the strategy runs.
 */
export const avellanedaStoikovLimitProblems = (
  p: AvellanedaStoikovParameters,
  limits: LimitsAsked,
  book: string,
): readonly LimitProblem[] => [...levelProblems(p, limits), ...riskProblems(p.risk, book)];
