/** Configuration keys of hedging: when inventory is hedged, by which interfaces, and the maximum cost. */
import { z } from 'zod';
import { aboveZero, decimalText, sumOfMoney } from '../../../strategies/index.ts';
import { balances, CURRENCY, millis } from './values.ts';

const bps = (fallback: number) => z.number().min(0).max(5_000).default(fallback);

const routes = z.strictObject({
  via: z
    .array(z.string().regex(CURRENCY, 'expected a currency in lower case, like usd'))
    .min(1)
    .max(3)
    .describe('Currencies to hedge through, like [usd]; each needs two quotes per check.'),
  riskBps: bps(10).describe('Price risk between the two legs, added to the cost.'),
  waitMs: millis(10_000, 86_400_000)
    .default(600_000)
    .describe('Maximum wait for the second leg; then you must convert the rest manually.'),
});

const flow = z
  .strictObject({
    volatilityBps: z.number().gt(0).max(10_000).describe('Volatility per hour, from puntas calibrate.'),
    fillsPerMinute: z
      .number()
      .gt(0)
      .max(100_000)
      .describe('Fully filled orders per minute and side: daily number / 2880.'),
    decayPerBps: z
      .number()
      .gt(0)
      .max(100)
      .describe('Decay k of trade arrivals with quote distance, from puntas calibrate.'),
  })
  .describe('Initial values for the computed band; measured values replace them.');

const elsewhere = z
  .strictObject({
    valueMin: decimalText
      .default('0')
      .describe('Minimum value of a hedge (quote). Smaller hedges wait for more fills.'),
    driftMax: aboveZero.describe(
      'Maximum drift of the quote balance on the other exchange from quoteTarget, as value (quote). At this drift, hedges that increase the drift stop.',
    ),
    quoteTarget: decimalText
      .optional()
      .describe('Target quote balance on the other exchange. If omitted, the balance at the first start.'),
    debtMax: aboveZero.describe(
      'Maximum inventory beyond the band if all unknown hedge orders execute (base). At this maximum, the side that increases inventory is not quoted.',
    ),
    failuresMax: z
      .int()
      .min(0)
      .max(20)
      .default(3)
      .describe(
        'Consecutive failed hedges after which a side is not quoted. 0: a side is not quoted while its hedge is open.',
      ),
    transferFeeMax: balances
      .default({})
      .describe('Maximum fee of a transfer between the two exchanges, by currency, like { usdt: "5" }.'),
    transferMax: balances
      .default({})
      .describe(
        'Maximum total of unexplained balance falls on the other exchange that count as transfers, by currency, like { btc: "1" }. By default 0; larger falls halt the bot.',
      ),
    transferWaitHours: z
      .number()
      .min(1)
      .max(720)
      .default(24)
      .describe(
        'Maximum time of a transfer between the two exchanges. Until arrival, its amount is part of the holdings. After this time, quoting stops.',
      ),
    marginBps: bps(5).describe("Margin of a hedge's limit price beyond the deepest level that fills the hedge."),
    latencyMs: millis(1, 60_000).default(500).describe('Expected time from hedge decision to execution.'),
    riskZ: z
      .number()
      .min(0)
      .max(10)
      .default(1.6)
      .describe('Price move during latencyMs that counts as risk, in standard deviations.'),
    volatilityBps: z
      .number()
      .gt(0)
      .max(10_000)
      .default(60)
      .describe('Initial volatility per hour, to which riskZ applies.'),
    backBps: bps(5).describe('Cost of moving quote currency back between the exchanges after a hedge.'),
    listingDelayMs: millis(0, 600_000)
      .default(2_000)
      .describe('Maximum delay until the other exchange lists an order and its trades.'),
  })
  .describe('Hedges by immediate-or-cancel orders on the other exchange; needs the section elsewhere.');

export const hedge = z.strictObject({
  band: aboveZero
    .optional()
    .describe('Inventory beyond which Puntas hedges (base). If omitted, computed from risk, flow and cost.'),
  residual: decimalText
    .optional()
    .describe(
      'Inventory to keep after a hedge (base); must be less than band. If omitted: 0 if band is set, otherwise computed.',
    ),
  risk: sumOfMoney
    .optional()
    .describe(
      'Risk tolerance, like "2000 mxn": a risk with a standard deviation of this sum counts as a cost of this sum. Only without band.',
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
    'Cost of holding inventory equal to the band. If above 0, Puntas hedges below the band when waiting costs more.',
  ),
  unwindMs: millis(1_000, 86_400_000)
    .default(600_000)
    .describe('Expected time for quotes to reduce inventory from band to zero.'),
  everyMs: millis(500, 600_000).default(2_000).describe('Interval between hedge checks.'),
  pauseMs: millis(1_000, 3_600_000)
    .default(30_000)
    .describe(
      'Pause after a check that requested RFQ quotes, and maximum pause while hedges on the other exchange fail.',
    ),
  quoteLifeMinMs: millis(0, 60_000).default(5_000).describe('Minimum remaining lifetime of an accepted quote.'),
});
