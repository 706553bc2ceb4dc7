/** YAML parameters of the peg. */
import { z } from 'zod';
import { duration } from '../parameters.ts';
import type { LimitProblem, LimitsAsked } from '../parameters.ts';
import { spreadEdgeProblem, spreadLimitProblems, spreadParameters } from '../spread.ts';

export const pegParameters = z.strictObject({
  ...spreadParameters,
  maxAgeMs: z
    .int()
    .min(100)
    .max(3_600_000)
    .default(15_000)
    .describe('A reference older than this many ms is not quoted on.'),
  maxDivergenceBps: z
    .number()
    .gt(0)
    .max(5_000)
    .default(100)
    .describe(
      'Nothing is quoted while the reference is further than this many bps from the middle of our own book: one of the two is wrong.',
    ),
  weight: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .describe('Share of the reference in the fair value; the middle of our own book makes up the rest.'),
  basisMemory: duration
    .optional()
    .describe(
      'The usual ratio of our book to the reference is followed with this time constant, like 1h, and taken as given. Left out: the reference is taken as it is.',
    ),
});

export type PegParameters = z.infer<typeof pegParameters>;

/**
 * Checks that the levels fit the limits, with the fair value at the maximum distance that weight and maxDivergenceBps
 * allow.
 */
export const pegLimitProblems = (p: PegParameters, limits: LimitsAsked): readonly LimitProblem[] =>
  spreadLimitProblems(p, limits, p.weight * p.maxDivergenceBps);

/** Returns why the spread is less than two maker fees plus minEdgeBps, or `null`. `makerRate` in parts of 10^-8. */
export const pegEdgeProblem = (p: PegParameters, makerRate: number): string | null => spreadEdgeProblem(p, makerRate);
