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
    .describe(
      'Currencies between the two legs, like [usd]: btc to usd, then usd to mxn. Each takes two quotes a look.',
    ),
  riskBps: bps(10).describe(
    'What the second leg may lose while the first is carried out, in bps of what leaves: weighed with the price of a route.',
  ),
  waitMs: millis(10_000, 86_400_000)
    .default(600_000)
    .describe(
      'Time in ms for which a second leg within the limits is waited for. Then the hedge is stranded, and a person is told what lies where.',
    ),
});

const flow = z
  .strictObject({
    volatilityBps: z
      .number()
      .gt(0)
      .max(10_000)
      .describe('One standard deviation of the price over an hour, in bps, as puntas calibrate says it.'),
    fillsPerMinute: z
      .number()
      .gt(0)
      .max(100_000)
      .describe(
        'Fills of whole orders in a minute on one side, as a backtest or the first days say it: fills a day over 2880.',
      ),
    decayPerBps: z
      .number()
      .gt(0)
      .max(100)
      .describe('By how much arrivals fall with distance, per bps, as puntas calibrate says it (k). Not followed.'),
  })
  .describe('What the band is computed from at the start; volatility and fills are followed while running.');

export const hedge = z.strictObject({
  band: aboveZero
    .optional()
    .describe(
      'Inventory this far from its target leaves as soon as that costs at most costMaxBps; in the major currency, as quoted decimal text. Below limits.positionMax. Left out: it follows from risk, flow and what leaving costs.',
    ),
  residual: decimalText
    .optional()
    .describe(
      'What is left of it then; in the major currency, as quoted decimal text. Below the band. Left out: nothing, or what follows with the band.',
    ),
  risk: sumOfMoney
    .optional()
    .describe(
      'A loss, as one standard deviation, that you would pay as much to be rid of; a sum in the minor currency, like "2000 mxn". The smaller, the narrower the band. Only without band.',
    ),
  flow: flow.optional(),
  venues: z
    .array(z.enum(['rfq', 'conversion', 'book']))
    .min(1)
    .max(3)
    .default(['rfq', 'conversion'])
    .describe(
      'Where it may leave: quotes (rfq), the conversions of the REST interface, and taking the book (book): orders that take liquidity, within limits.collarBps and limits.orderValueMax. Without book no order of the bot ever takes.',
    ),
  routes: routes.optional().describe('Quotes over a third currency too. Left out: none.'),
  costMaxBps: bps(50).describe(
    'The most that leaving may cost, in bps of what leaves, against the middle of the book.',
  ),
  costDayMax: aboveZero
    .optional()
    .describe(
      'The most that hedges of one UTC day may cost together; in the minor currency, as quoted decimal text. Left out: only costMaxBps holds.',
    ),
  carryBpsPerHour: bps(0).describe(
    'What carrying inventory as large as the band costs in an hour, in bps of its value. Above 0, inventory beyond residual leaves also below the band when that is cheaper than carrying it.',
  ),
  unwindMs: millis(1_000, 86_400_000)
    .default(600_000)
    .describe('Time in ms that quotes are expected to take to bring inventory of the size of the band back.'),
  everyMs: millis(500, 600_000).default(2_000).describe('Time between two looks at the inventory, in ms.'),
  pauseMs: millis(1_000, 3_600_000)
    .default(30_000)
    .describe('Time in ms after a look that led to questions until the next one: each asks for quotes.'),
  quoteLifeMinMs: millis(0, 60_000)
    .default(5_000)
    .describe('A quote that ends in less than this many ms is not accepted.'),
});
