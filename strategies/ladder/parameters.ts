/** YAML parameters of the ladder: one schema for checks, defaults, documentation and types. */
import { z } from 'zod';
import { moneyOf } from '../../src/core/index.ts';
import { amountTolerance, aboveZero, bps, decimalText } from '../parameters.ts';
import type { LimitProblem, LimitsAsked } from '../parameters.ts';

/** Schema of the parameters. One bps is 0.01% of the reference price. */
export const ladderParameters = z
  .strictObject({
    reference: z
      .enum(['mid', 'weightedMid', 'bestBidAsk', 'lastTrade'])
      .default('mid')
      .describe(
        'Price that the spreads are counted from: the middle of the touch (mid), the middle weighted by the amounts of the touch (weightedMid), the best bid for bids and the best ask for asks (bestBidAsk), or the last public trade (lastTrade).',
      ),
    halfSpreadBps: bps
      .optional()
      .describe(
        'Distance of the first level from the reference on both sides, in bps. Needed unless both sides have their own.',
      ),
    bidSpreadBps: bps.optional().describe('Distance of the first bid, in bps; instead of halfSpreadBps on that side.'),
    askSpreadBps: bps.optional().describe('Distance of the first ask, in bps; instead of halfSpreadBps on that side.'),
    levels: z.int().min(1).max(20).default(1).describe('Levels on each side, 1 to 20.'),
    levelSpacingBps: bps.default(10).describe('Distance from one level to the next, in bps.'),
    amount: aboveZero.describe('Amount of the first level, in the major currency, as quoted decimal text.'),
    levelAmountStep: decimalText
      .default('0')
      .describe(
        'Amount that each further level is larger than the one before, in the major currency, as quoted decimal text.',
      ),
    refreshToleranceBps: bps
      .default(2)
      .describe(
        'A live order whose price is within this many bps of the wanted one stays where it is and keeps its place in the queue.',
      ),
    refreshMs: z
      .int()
      .min(0)
      .max(3_600_000)
      .default(0)
      .describe('Quotes are computed anew at most once in this many ms; 0: at every decision.'),
    maxOrderAgeMs: z
      .int()
      .min(1_000)
      .max(86_400_000)
      .default(1_800_000)
      .describe('A live order older than this many ms is replaced even within the tolerance.'),
    amountTolerance,
    skew: z
      .strictObject({
        priceBpsAtLimit: bps
          .default(0)
          .describe(
            'How far both sides are moved against the inventory when it is positionMax away from the target, in bps; in proportion in between. 0: prices do not lean.',
          ),
        sizeRange: aboveZero
          .optional()
          .describe(
            'Half-width of the inventory range over which amounts lean, in the major currency, as quoted decimal text: bids shrink from twice the amount to once to nothing as inventory goes from target - range to target to target + range, asks the reverse. Left out: amounts do not lean.',
          ),
      })
      .prefault({})
      .describe('Leaning against inventory, so that it comes back to the target.'),
    priceCeiling: aboveZero
      .optional()
      .describe(
        'No bid is shown while the reference is above this price, in the minor currency, as quoted decimal text.',
      ),
    priceFloor: aboveZero
      .optional()
      .describe(
        'No ask is shown while the reference is below this price, in the minor currency, as quoted decimal text.',
      ),
    movingPriceBandPct: z
      .number()
      .gt(0)
      .max(100)
      .optional()
      .describe(
        'No bid while the reference is more than this many percent above its slow average, no ask while it is as much below. Left out: no band.',
      ),
    minEdgeBps: z
      .number()
      .min(-1_000)
      .max(5_000)
      .default(1)
      .describe(
        'What a round trip must earn over both maker fees, in bps: quotes closer together than that are moved apart. Negative only if you mean to pay for volume.',
      ),
    filledOrderDelayMs: z
      .int()
      .min(0)
      .max(3_600_000)
      .default(0)
      .describe('After a fill, that side shows nothing for this many ms.'),
    pingPong: z.boolean().default(false).describe('After a buy only asks are shown until one sells, and the reverse.'),
    optimization: z
      .strictObject({
        enabled: z
          .boolean()
          .default(false)
          .describe(
            "The first level moves back to one tick better than the best of everybody else's, when the spread alone would place it further in front.",
          ),
        depthAmount: decimalText
          .default('0')
          .describe(
            "Amount of other people's orders that is overlooked when looking for that best price, in the major currency, as quoted decimal text.",
          ),
      })
      .prefault({})
      .describe('Not paying more than it takes to be first.'),
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

/** Checked parameters, defaults filled in. */
export type LadderParameters = z.infer<typeof ladderParameters>;

/** Returns the distance of each side's first level from the reference, in bps. */
export const spreadsOf = (p: LadderParameters): { readonly bidBps: number; readonly askBps: number } => ({
  bidBps: p.bidSpreadBps ?? p.halfSpreadBps ?? 0,
  askBps: p.askSpreadBps ?? p.halfSpreadBps ?? 0,
});

/**
 * Returns why these spreads cannot earn `minEdgeBps` over two maker fees, or `null`. `makerRate` in parts of 10^-8.
 * With `bestBidAsk` it is always `null`: the market's spread is added and unknown beforehand, so the strategy keeps the
 * edge per quote.
 */
export function ladderEdgeProblem(p: LadderParameters, makerRate: number): string | null {
  if (p.reference === 'bestBidAsk') return null;
  const { bidBps, askBps } = spreadsOf(p);
  const feesBps = (2 * makerRate) / 10_000;
  const neededBps = feesBps + p.minEdgeBps;
  if (micro(bidBps + askBps) >= micro(neededBps)) return null;
  return (
    `the spread of ${microText(bidBps + askBps)} bps (bid ${microText(bidBps)} + ask ${microText(askBps)}) is below both maker fees of ` +
    `${microText(feesBps)} bps plus minEdgeBps ${microText(p.minEdgeBps)}: widen it to at least ${microText(neededBps)} bps`
  );
}

/** Returns conflicts with the limits: one line each, with the key it is about. */
export function ladderLimitProblems(p: LadderParameters, limits: LimitsAsked): readonly LimitProblem[] {
  const problems: LimitProblem[] = [];
  const levels = BigInt(p.levels);
  const side = levels * moneyOf(p.amount) + ((levels * (levels - 1n)) / 2n) * moneyOf(p.levelAmountStep);
  if (!(side <= moneyOf(limits.positionMax))) {
    problems.push({
      key: 'amount',
      message: `${p.levels} levels of one side add up to more than limits.positionMax "${limits.positionMax}"`,
    });
  }
  if (!(2 * p.levels <= limits.ordersMax)) {
    problems.push({
      key: 'levels',
      message: `${p.levels} levels on two sides are more than limits.ordersMax ${limits.ordersMax}`,
    });
  }
  const { bidBps, askBps } = spreadsOf(p);
  const furthest =
    Math.max(bidBps, askBps) + (p.levels - 1) * p.levelSpacingBps + p.skew.priceBpsAtLimit + (limits.fairValueBps ?? 0);
  if (limits.fairValueBps !== undefined && p.reference !== 'mid') {
    problems.push({
      key: 'reference',
      message: `${p.reference} and the section fairValue both say what spreads are counted from: leave one of them out${
        p.reference === 'weightedMid' || p.reference === 'lastTrade'
          ? ` (fairValue: { ${p.reference === 'lastTrade' ? 'lastTrades' : p.reference}: { weight: 1 } } is nearly the same)`
          : ''
      }`,
    });
  }
  if (!(furthest <= limits.collarBps)) {
    problems.push({
      key: 'levelSpacingBps',
      message: `the last level can lie ${microText(furthest)} bps from the ${limits.fairValueBps === undefined ? 'reference' : 'middle'}, beyond limits.collarBps ${microText(limits.collarBps)}`,
    });
  }
  return problems;
}

/** bps as integer millionths, so that 10.1 + 10.1 is 20.2. */
const micro = (x: number): number => Math.round(x * 1e6);
const microText = (x: number): string => String(micro(x) / 1e6);
