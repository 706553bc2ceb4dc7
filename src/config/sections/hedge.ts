/** Configuration keys of hedging: when inventory is hedged, by which interfaces, and the maximum cost. */
import { z } from 'zod';
import { aboveZero, decimalText, sumOfMoney } from '../../../strategies/index.ts';
import { millis } from './values.ts';

const bps = (fallback: number) => z.number().min(0).max(5_000).default(fallback);

const routes = z.strictObject({
  via: z
    .array(z.string().regex(/^[a-z0-9]{2,12}$/, 'expected a currency in lower case, like usd'))
    .min(1)
    .max(3)
    .describe('Currencies to hedge through, like [usd]; each needs two quotes per check.'),
  riskBps: bps(10).describe('Price risk between the two legs, added to the cost.'),
  waitMs: millis(10_000, 86_400_000)
    .default(600_000)
    .describe('Maximum wait for the second leg; then the hedge is stranded.'),
});

const flow = z
  .strictObject({
    volatilityBps: z.number().gt(0).max(10_000).describe('Volatility per hour, from puntas calibrate.'),
    fillsPerMinute: z
      .number()
      .gt(0)
      .max(100_000)
      .describe('Fully filled orders per minute and side: daily number / 2880.'),
    decayPerBps: z.number().gt(0).max(100).describe('Decay of arrivals with distance (k), from puntas calibrate.'),
  })
  .describe('Initial values for the computed band; measured values replace them.');

export const hedge = z.strictObject({
  band: aboveZero
    .optional()
    .describe('Inventory beyond which Puntas hedges (base). If omitted, computed from risk, flow and cost.'),
  residual: decimalText
    .optional()
    .describe('Inventory after a hedge (base), below the band. If omitted, 0 if band is set, otherwise computed.'),
  risk: sumOfMoney
    .optional()
    .describe(
      'Risk tolerance, like "2000 mxn": a risk with a standard deviation of this sum is worth this sum to avoid. Only without band.',
    ),
  flow: flow.optional(),
  venues: z
    .array(z.enum(['rfq', 'conversion', 'book']))
    .min(1)
    .max(3)
    .default(['rfq', 'conversion'])
    .describe(
      'Allowed hedges: RFQ quotes, REST conversions, taker orders (book). Without book, the bot never takes liquidity.',
    ),
  routes: routes.optional().describe('Hedges through a third currency.'),
  costMaxBps: bps(50).describe('Maximum cost of a hedge against the mid price.'),
  costDayMax: aboveZero.optional().describe('Maximum cost of all hedges per UTC day (quote).'),
  carryBpsPerHour: bps(0).describe(
    'Cost of carrying inventory at the band. If above 0, Puntas hedges below the band when waiting costs more.',
  ),
  unwindMs: millis(1_000, 86_400_000)
    .default(600_000)
    .describe('Expected time for quotes to reduce inventory from band to zero.'),
  everyMs: millis(500, 600_000).default(2_000).describe('Interval between hedge checks.'),
  pauseMs: millis(1_000, 3_600_000).default(30_000).describe('Pause after a check that requested RFQ quotes.'),
  quoteLifeMinMs: millis(0, 60_000).default(5_000).describe('Minimum remaining lifetime of an accepted quote.'),
});
