/** YAML parameters of the peg. */
import { z } from 'zod';
import { duration, type LimitProblem, type LimitsAsked } from '../parameters.ts';
import { spreadEdgeProblem, spreadLimitProblems, spreadParameters } from '../fixedSpread.ts';

export const pegParameters = z.strictObject({
  ...spreadParameters,
  maxAgeMs: z.int().min(100).max(3_600_000).default(15_000).describe('Maximum age of the reference.'),
  maxDivergenceBps: z
    .number()
    .gt(0)
    .max(5_000)
    .default(100)
    .describe('Maximum distance of the reference from the fair value.'),
  weight: z.number().gt(0).max(1).default(1).describe('Weight of the reference; the fair value has the rest.'),
  basisMemory: duration.optional().describe('Time constant of the book-to-reference ratio, like 1h.'),
});

export type PegParameters = z.infer<typeof pegParameters>;

/**
 * Checks that the levels are within the limits, even if the reference moves all quotes by its maximum, `weight` times
 * `maxDivergenceBps`.
 */
export const pegLimitProblems = (p: PegParameters, limits: LimitsAsked): readonly LimitProblem[] =>
  spreadLimitProblems(p, limits, p.weight * p.maxDivergenceBps);

/**
 * Returns an error line if the spread is less than two maker fees plus minEdgeBps; otherwise `null`. `makerRate` is in
 * parts of 10^-8.
 */
export const pegEdgeProblem = (p: PegParameters, makerRate: number): string | null => spreadEdgeProblem(p, makerRate);
