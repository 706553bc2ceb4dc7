/** Keys of hedging: when inventory is hedged by conversion, by which interfaces, and at what cost. */
import { z } from 'zod';
import { aboveZero, decimalText, sumOfMoney } from '../../strategies/index.ts';
import { millis } from './values.ts';

const bps = (fallback: number) => z.number().min(0).max(5_000).default(fallback);

const routes = z.strictObject({
  via: z
    .array(z.string().regex(/^[a-z0-9]{2,12}$/, 'expected a currency in lower case, like usd'))
    .min(1)
    .max(3)
    .describe('Currencies between the two legs, like [usd]. Each needs two quotes per check.'),
  riskBps: bps(10).describe(
    'Expected loss of the second leg while the first executes (bps); added to the cost of a route.',
  ),
  waitMs: millis(10_000, 86_400_000)
    .default(600_000)
    .describe('Time to wait for a second leg within the limits (ms). Then the hedge is stranded.'),
});

const flow = z
  .strictObject({
    volatilityBps: z
      .number()
      .gt(0)
      .max(10_000)
      .describe('Standard deviation of the price per hour (bps), from puntas calibrate.'),
    fillsPerMinute: z
      .number()
      .gt(0)
      .max(100_000)
      .describe('Full fills per minute and side: fills per day divided by 2880.'),
    decayPerBps: z
      .number()
      .gt(0)
      .max(100)
      .describe('Decay of arrivals per bps of distance (k), from puntas calibrate.'),
  })
  .describe('Initial values for the computed band; volatility and fills are then measured.');

export const hedge = z.strictObject({
  band: aboveZero
    .optional()
    .describe('Inventory beyond which Puntas hedges (base currency). If omitted, computed from risk, flow and cost.'),
  residual: decimalText
    .optional()
    .describe(
      'Inventory that remains after a hedge (base currency), below the band. If omitted, 0 or computed with the band.',
    ),
  risk: sumOfMoney
    .optional()
    .describe(
      'Risk tolerance: the standard deviation of a loss that you would pay this amount to avoid, like "2000 mxn". Only without band.',
    ),
  flow: flow.optional(),
  venues: z
    .array(z.enum(['rfq', 'conversion', 'book']))
    .min(1)
    .max(3)
    .default(['rfq', 'conversion'])
    .describe(
      'Allowed hedge venues: RFQ quotes, REST conversions, and taker orders (book). Without book, no order of the bot takes liquidity.',
    ),
  routes: routes.optional().describe('Hedges through a third currency. If omitted, none.'),
  costMaxBps: bps(50).describe('Maximum cost of a hedge against the mid price (bps).'),
  costDayMax: aboveZero
    .optional()
    .describe('Maximum cost of all hedges per UTC day (quote currency). If omitted, only costMaxBps applies.'),
  carryBpsPerHour: bps(0).describe(
    'Cost of carrying inventory at the band for an hour (bps). Above 0, cheaper hedges also start below the band.',
  ),
  unwindMs: millis(1_000, 86_400_000)
    .default(600_000)
    .describe('Expected time for quotes to reduce inventory of the band (ms).'),
  everyMs: millis(500, 600_000).default(2_000).describe('Interval between checks (ms).'),
  pauseMs: millis(1_000, 3_600_000).default(30_000).describe('Pause after a check that requested quotes (ms).'),
  quoteLifeMinMs: millis(0, 60_000).default(5_000).describe('Minimum remaining lifetime of a quote to accept (ms).'),
});
