/** Configuration keys of hedging: when inventory is hedged, by which interfaces, and the maximum cost. */
import { z } from 'zod';
import { aboveZero, decimalText, sumOfMoney } from '../../../strategies/index.ts';
import { balances, millis } from './values.ts';

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

const elsewhere = z
  .strictObject({
    valueMin: decimalText.default('0').describe('Minimum value of a hedge there (quote). Less waits for more fills.'),
    driftMax: aboveZero.describe(
      'Maximum value that hedges may add to or take from the quote currency there (quote). Beyond it, they stop.',
    ),
    quoteTarget: decimalText
      .optional()
      .describe('Quote currency there without drift. If omitted, the amount at the first start.'),
    debtMax: aboveZero.describe(
      'Maximum inventory beyond the band with all unknown orders there (base). Beyond it, the side that adds is not quoted.',
    ),
    failuresMax: z
      .int()
      .min(0)
      .max(20)
      .default(3)
      .describe('Failed hedges in sequence before a side is not quoted. 0: not while a hedge is open either.'),
    transferFeeMax: balances
      .default({})
      .describe('Maximum fee of a transfer between both exchanges, by currency, like { usdt: "5" }.'),
    transferMax: balances
      .default({})
      .describe(
        'Maximum on its way after balances fell there, by currency, like { btc: "1" }. Falls beyond it halt the bot, as all do by default.',
      ),
    transferWaitHours: z
      .number()
      .min(1)
      .max(720)
      .default(24)
      .describe('Maximum time of such a transfer; it counts as held until it arrives. Later, the bot stops quoting.'),
    marginBps: bps(5).describe('Distance of the limit price from the worst price that the book there shows.'),
    latencyMs: millis(1, 60_000).default(500).describe('Expected time from decision to execution there.'),
    riskZ: z.number().min(0).max(10).default(1.6).describe('Standard deviations of the price in that time, as risk.'),
    volatilityBps: z.number().gt(0).max(10_000).default(60).describe('Initial volatility per hour, for that risk.'),
    backBps: bps(5).describe('Cost of moving back what a hedge leaves in the quote currency there.'),
    listingDelayMs: millis(0, 600_000)
      .default(2_000)
      .describe('Maximum delay until the exchange there lists an order and its trades.'),
  })
  .describe('Hedges by immediate orders on the other exchange; needs elsewhere.');

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
    .array(z.enum(['rfq', 'conversion', 'book', 'elsewhere']))
    .min(1)
    .max(4)
    .default(['rfq', 'conversion'])
    .describe(
      'Allowed hedges: RFQ quotes, REST conversions, taker orders (book), orders on the other exchange (elsewhere).',
    ),
  elsewhere: elsewhere.optional(),
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
  pauseMs: millis(1_000, 3_600_000)
    .default(30_000)
    .describe('Pause after a check that requested RFQ quotes, and maximum pause while hedges elsewhere fail.'),
  quoteLifeMinMs: millis(0, 60_000).default(5_000).describe('Minimum remaining lifetime of an accepted quote.'),
});
