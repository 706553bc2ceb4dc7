/** YAML parameters of the grid. */
import { z } from 'zod';
import { moneyOf } from '../../src/core/index.ts';
import { roundTripRise } from '../fees.ts';
import {
  aboveZero,
  levelParameters,
  levelProblems,
  narrowProblem,
  type LimitProblem,
  type LimitsAsked,
  minEdge,
} from '../parameters.ts';

export const gridParameters = z
  .strictObject({
    ...levelParameters,
    spacingBps: z.number().gt(0).max(5_000).describe('Distance between grid lines (round-trip gain before fees).'),
    anchorPrice: aboveZero
      .default('1')
      .describe('Price (quote) of one line, which determines all lines, also after restarts.'),
    lowPrice: aboveZero.optional().describe('Minimum price (quote).'),
    highPrice: aboveZero.optional().describe('Maximum price (quote).'),
    minEdgeBps: minEdge,
  })
  .superRefine((p, context) => {
    if (p.lowPrice !== undefined && p.highPrice !== undefined && moneyOf(p.lowPrice) >= moneyOf(p.highPrice)) {
      context.addIssue({ code: 'custom', path: ['lowPrice'], message: `must be below highPrice "${p.highPrice}"` });
    }
  });

export type GridParameters = z.infer<typeof gridParameters>;

/**
 * Returns an error line if one spacing is less than two maker fees plus minEdgeBps; otherwise `null`. `makerRate` is in
 * parts of 10^-8.
 */
export const gridEdgeProblem = (p: GridParameters, makerRate: number): string | null =>
  narrowProblem('the spacing', p.spacingBps, p.minEdgeBps, roundTripRise(makerRate) * 10_000);

/** Checks that the levels are within the limits. The last line can be (levels + 0.5) spacings from the fair value. */
export const gridLimitProblems = (p: GridParameters, limits: LimitsAsked): readonly LimitProblem[] =>
  levelProblems(p, limits, (p.levels + 0.5) * p.spacingBps);
