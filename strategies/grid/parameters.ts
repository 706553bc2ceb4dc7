/** YAML parameters of the grid. */
import { z } from 'zod';
import { moneyOf } from '../../src/core/index.ts';
import { roundTripRise } from '../fees.ts';
import { aboveZero, levelParameters, levelProblems, narrowProblem } from '../parameters.ts';
import type { LimitProblem, LimitsAsked } from '../parameters.ts';
import { minEdge } from '../spread.ts';

export const gridParameters = z
  .strictObject({
    ...levelParameters,
    spacingBps: z
      .number()
      .gt(0)
      .max(5_000)
      .describe('Distance from one line of the grid to the next, in bps: what a round trip earns before fees.'),
    anchorPrice: aboveZero
      .default('1')
      .describe(
        'A price that is a line of the grid, in the minor currency, as quoted decimal text. The lines stay where they are, also over a restart.',
      ),
    lowPrice: aboveZero
      .optional()
      .describe('No line below this price is used, in the minor currency, as quoted decimal text. Left out: no bound.'),
    highPrice: aboveZero
      .optional()
      .describe('No line above this price is used, in the minor currency, as quoted decimal text. Left out: no bound.'),
    minEdgeBps: minEdge,
  })
  .superRefine((p, context) => {
    if (p.lowPrice !== undefined && p.highPrice !== undefined && moneyOf(p.lowPrice) >= moneyOf(p.highPrice)) {
      context.addIssue({ code: 'custom', path: ['lowPrice'], message: `must be below highPrice "${p.highPrice}"` });
    }
  });

export type GridParameters = z.infer<typeof gridParameters>;

/** Returns why one spacing is less than two maker fees plus minEdgeBps, or `null`. `makerRate` in parts of 10^-8. */
export const gridEdgeProblem = (p: GridParameters, makerRate: number): string | null =>
  narrowProblem('the spacing', p.spacingBps, p.minEdgeBps, roundTripRise(makerRate) * 10_000);

/** Checks that the levels fit the limits; the last line can be levels + 0.5 spacings from the fair value. */
export const gridLimitProblems = (p: GridParameters, limits: LimitsAsked): readonly LimitProblem[] =>
  levelProblems(p, limits, (p.levels + 0.5) * p.spacingBps);
