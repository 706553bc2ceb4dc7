/** YAML parameters of the ladder: one schema for checks, defaults, documentation and types. */
import { z } from 'zod';
import { counted, moneyOf } from '../../src/core/index.ts';
import { amountTolerance, aboveZero, bps, decimalText, type LimitProblem, type LimitsAsked } from '../parameters.ts';

/** Schema of the ladder's parameters. One bps is 0.01% of the reference price. */
export const ladderParameters = z
  .strictObject({
    reference: z
      .enum(['mid', 'weightedMid', 'bestBidAsk', 'lastTrade'])
      .default('mid')
      .describe('Price to quote around; weightedMid weights best prices by amount.'),
    halfSpreadBps: bps
      .optional()
      .describe('Distance of the first level from the reference; required without bidSpreadBps and askSpreadBps.'),
    bidSpreadBps: bps.optional().describe('Distance for bids, instead of halfSpreadBps.'),
    askSpreadBps: bps.optional().describe('Distance for asks, instead of halfSpreadBps.'),
    levels: z.int().min(1).max(20).default(1).describe('Levels per side.'),
    levelSpacingBps: bps.default(10).describe('Distance between levels.'),
    amount: aboveZero.describe('Amount of the first level (base).'),
    levelAmountStep: decimalText.default('0').describe('Amount increase per level (base).'),
    refreshToleranceBps: bps.default(2).describe('Maximum price change without replacing a live order.'),
    refreshMs: z.int().min(0).max(3_600_000).default(0).describe('Minimum time between new quotes.'),
    maxOrderAgeMs: z
      .int()
      .min(1_000)
      .max(86_400_000)
      .default(1_800_000)
      .describe('Age at which a live order is replaced.'),
    amountTolerance,
    skew: z
      .strictObject({
        priceBpsAtLimit: bps
          .default(0)
          .describe('Shift that reduces inventory: this value at positionMax, proportionally less below.'),
        sizeRange: aboveZero
          .optional()
          .describe("Inventory (base) at which the reducing side's amounts double and the other side's become 0."),
      })
      .prefault({})
      .describe('Skew that steers inventory to its target.'),
    priceCeiling: aboveZero.optional().describe('Reference price (quote) above which bids stop.'),
    priceFloor: aboveZero.optional().describe('Reference price (quote) below which asks stop.'),
    movingPriceBandPct: z
      .number()
      .gt(0)
      .max(100)
      .optional()
      .describe(
        'Maximum distance (percent) of the reference from its slow average; beyond: no bids above, no asks below.',
      ),
    minEdgeBps: z
      .number()
      .min(-1_000)
      .max(5_000)
      .default(1)
      .describe('Minimum round-trip profit after both maker fees. Negative values accept losses for volume.'),
    filledOrderDelayMs: z.int().min(0).max(3_600_000).default(0).describe('Time a side pauses after its fill.'),
    pingPong: z.boolean().default(false).describe('Whether buys and sells must alternate.'),
    optimization: z
      .strictObject({
        enabled: z
          .boolean()
          .default(false)
          .describe("Whether the first level beats other traders' best order by at most one tick."),
        depthAmount: decimalText.default('0').describe("Amount of other traders' best orders (base) to ignore."),
      })
      .prefault({})
      .describe("Limits how far the first level is better than other traders' best order."),
  })
  .superRefine((p, context) => {
    if (p.halfSpreadBps === undefined && (p.bidSpreadBps === undefined || p.askSpreadBps === undefined)) {
      context.addIssue({
        code: 'custom',
        path: ['halfSpreadBps'],
        message: 'expected halfSpreadBps, or both bidSpreadBps and askSpreadBps',
      });
    }
    if (
      p.priceFloor !== undefined &&
      p.priceCeiling !== undefined &&
      moneyOf(p.priceFloor) >= moneyOf(p.priceCeiling)
    ) {
      context.addIssue({
        code: 'custom',
        path: ['priceFloor'],
        message: `must be below priceCeiling "${p.priceCeiling}"`,
      });
    }
  });

/** Checked parameters of the ladder, with their defaults. */
export type LadderParameters = z.infer<typeof ladderParameters>;

/** Returns the distance of each side's first level from the reference price, in bps. */
export const spreadsOf = (p: LadderParameters): { readonly bidBps: number; readonly askBps: number } => ({
  bidBps: p.bidSpreadBps ?? p.halfSpreadBps ?? 0,
  askBps: p.askSpreadBps ?? p.halfSpreadBps ?? 0,
});

/**
 * Returns why the spreads cannot earn `minEdgeBps` over two maker fees; `null` if they can. `makerRate` is in parts of
 * 10^-8. With `bestBidAsk`, the result is always `null`: the market's spread is added and not known in advance, so the
 * strategy checks the edge of each quote.
 */
export function ladderEdgeProblem(p: LadderParameters, makerRate: number): string | null {
  if (p.reference === 'bestBidAsk') return null;
  const { bidBps, askBps } = spreadsOf(p);
  const feesBps = (2 * makerRate) / 10_000;
  const neededBps = feesBps + p.minEdgeBps;
  if (micro(bidBps + askBps) >= micro(neededBps)) return null;
  return (
    `the spread of ${microText(bidBps + askBps)} bps (bid ${microText(bidBps)} + ask ${microText(askBps)}) is below both maker fees (together ` +
    `${microText(feesBps)} bps) plus minEdgeBps ${microText(p.minEdgeBps)}; widen the spread to at least ${microText(neededBps)} bps`
  );
}

/** Returns the conflicts of the parameters with the limits, one line each, with the YAML key of the conflict. */
export function ladderLimitProblems(p: LadderParameters, limits: LimitsAsked): readonly LimitProblem[] {
  const problems: LimitProblem[] = [];
  const levels = BigInt(p.levels);
  const side = levels * moneyOf(p.amount) + ((levels * (levels - 1n)) / 2n) * moneyOf(p.levelAmountStep);
  if (!(side <= moneyOf(limits.positionMax))) {
    problems.push({
      key: 'amount',
      message: `the amounts of ${counted(p.levels, 'level')} on one side add up to more than limits.positionMax "${limits.positionMax}"`,
    });
  }
  if (!(2 * p.levels <= limits.ordersMax)) {
    problems.push({
      key: 'levels',
      message: `${counted(p.levels, 'level')} per side need ${counted(2 * p.levels, 'order')}, more than limits.ordersMax ${limits.ordersMax}`,
    });
  }
  const { bidBps, askBps } = spreadsOf(p);
  const furthest =
    Math.max(bidBps, askBps) + (p.levels - 1) * p.levelSpacingBps + p.skew.priceBpsAtLimit + (limits.fairValueBps ?? 0);
  if (limits.fairValueBps !== undefined && p.reference !== 'mid') {
    problems.push({
      key: 'reference',
      message: `${p.reference} and a section fairValue or crossRates both set the price to quote around; remove one of them${
        p.reference === 'weightedMid' || p.reference === 'lastTrade'
          ? ` (fairValue: { ${p.reference === 'lastTrade' ? 'lastTrades' : p.reference}: { weight: 1 } } has nearly the same effect)`
          : ''
      }`,
    });
  }
  if (!(furthest <= limits.collarBps)) {
    problems.push({
      key: 'levelSpacingBps',
      message: `the last level can be ${microText(furthest)} bps from the ${limits.fairValueBps === undefined ? 'reference' : 'mid price'}, beyond limits.collarBps ${microText(limits.collarBps)}`,
    });
  }
  return problems;
}

/** Converts bps to integer millionths of a bps, so that comparisons have no float errors. */
const micro = (x: number): number => Math.round(x * 1e6);
const microText = (x: number): string => String(micro(x) / 1e6);
