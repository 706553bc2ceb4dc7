/** YAML section `fairValue`: parts of the price around which every strategy quotes. */
import { counted } from '../src/core/index.ts';
import { z } from 'zod';
import { aboveZero, bps, duration } from './parameters.ts';

const weight = z.number().gt(0).max(1_000).default(1).describe('Weight of this price.');

const maxDivergenceBps = z
  .number()
  .gt(0)
  .max(5_000)
  .default(100)
  .describe('Maximum distance of the reference from the mid price.');

const leave = z
  .strictObject({
    source: z
      .string()
      .min(1)
      .max(24)
      .optional()
      .describe('Source for hedging fills. If omitted, the first usable source.'),
    latencyMs: z.int().min(0).max(600_000).default(1_500).describe('Time from fill to hedge.'),
    volatilityBps: z
      .number()
      .min(0)
      .max(1_000)
      .default(1)
      .describe('Minimum for the measured volatility at the source (bps per root second).'),
    memory: duration.default('10m').describe('Time constant of the measured volatility.'),
    riskZ: z
      .number()
      .min(0)
      .max(10)
      .default(1.645)
      .describe('Risk until the hedge, in standard deviations; 1.645 covers 95% of moves.'),
    edgeBps: z.number().min(0).max(1_000).default(0).describe('Profit wanted beyond all costs.'),
    costMaxBps: z.number().gt(0).max(1_000).default(100).describe('Maximum total hedging cost; above it, no quotes.'),
  })
  .describe('Moves quotes outward by the cost of hedging fills at a source: depth, fee, risk, edge.');

const TABLE_MAX = 200;

const microprice = z
  .strictObject({
    weight,
    tick: aboveZero.describe('Tick size of the book from which this table was computed.'),
    imbalanceBuckets: z.int().min(1).max(100).describe('Number of columns: ranges of bid / (bid + ask) amount.'),
    spreadsTicks: z
      .array(z.number().gt(0))
      .max(20)
      .describe('Largest spread (ticks) of each row except the last, ascending.'),
    adjustTicks: z
      .array(z.array(z.number().min(-100_000).max(100_000).nullable()).max(TABLE_MAX))
      .max(21)
      .describe('Price shifts (ticks), one row per spread range; null: no quotes.'),
  })
  .superRefine((p, context) => {
    const wrong = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (p.spreadsTicks.some((bound, i) => i > 0 && !(bound > (p.spreadsTicks[i - 1] ?? 0))))
      wrong(['spreadsTicks'], 'expected strictly ascending numbers');
    if (p.adjustTicks.length !== p.spreadsTicks.length + 1)
      wrong(['adjustTicks'], `expected ${counted(p.spreadsTicks.length + 1, 'row')}, one more than spreadsTicks`);
    else if (p.adjustTicks.some(row => row.length !== p.imbalanceBuckets))
      wrong(['adjustTicks'], `expected ${counted(p.imbalanceBuckets, 'number')} in each row, one per imbalance bucket`);
  })
  .describe('Micro-price (Stoikov): mid price corrected by imbalance and spread, from puntas calibrate.');

/** Imbalance, in standard deviations, above which a larger imbalance has no more effect. */
export const DEVIATIONS_MAX = 3;

/** YAML keys that the part `depthImbalance` and the strategy `imbalance` share. */
export const imbalanceKeys = {
  depthBps: z
    .number()
    .min(0)
    .max(5_000)
    .default(30)
    .describe('Maximum distance of summed levels from the mid price. 0: best prices.'),
  bpsPerDeviation: bps
    .default(2)
    .describe(`Shift per standard deviation of imbalance, up to ${DEVIATIONS_MAX} deviations.`),
  memory: duration.default('10m').describe('Time constant of the average imbalance.'),
};

export const fairValueParameters = z
  .strictObject({
    withinBps: z
      .number()
      .gt(0)
      .max(5_000)
      .default(50)
      .describe('Maximum distance of the fair value from the mid price.'),
    mid: z.strictObject({ weight }).optional().describe('Mid price.'),
    weightedMid: z.strictObject({ weight }).optional().describe('Mid price weighted by amounts at best prices.'),
    microprice: microprice.optional(),
    lastTrades: z
      .strictObject({
        weight,
        memory: duration.default('30s').describe("Time constant of a trade's decaying weight."),
        maxAgeMs: z.int().min(100).max(86_400_000).default(60_000).describe('Maximum age of the newest trade.'),
      })
      .optional()
      .describe('Mean price of the last public trades; needs the stream.'),
    reference: z
      .strictObject({
        weight,
        maxAgeMs: z.int().min(100).max(3_600_000).default(15_000).describe('Maximum age of the reference.'),
        maxDivergenceBps,
        basisMemory: duration.optional().describe('Time constant of the book-to-reference ratio, like 1h.'),
        leave: leave.optional(),
      })
      .optional()
      .describe('Reference price.'),
    depthImbalance: z
      .strictObject(imbalanceKeys)
      .optional()
      .describe('Shift towards the book side that is thinner than usual.'),
    orderFlowImbalance: z
      .strictObject({
        bpsPerUnit: z.number().min(-100_000).max(100_000).describe('Shift per unit of order flow (base).'),
        memory: duration.default('10s').describe('Time constant of the order flow.'),
        maxBps: z.number().gt(0).max(1_000).default(5).describe('Maximum shift.'),
      })
      .optional()
      .describe('Shift by order flow at the best prices (Cont, Kukanov, Stoikov).'),
  })
  .describe('Price to quote around: weighted mean of prices, plus shifts. If omitted, the mid price.');

export type FairValueParameters = z.infer<typeof fairValueParameters>;
