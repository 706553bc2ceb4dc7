/**
 * Keys of RFQ prices that the bot reads but never accepts: the amount per price request, and the effect of the prices
 * on the quotes.
 */
import { z } from 'zod';
import { aboveZero } from '../../../strategies/index.ts';
import { millis } from './values.ts';

const bps = () => z.number().min(0).max(5_000);

export const rfqReference = z.strictObject({
  amount: aboveZero.describe('Amount of each RFQ (base); its quotes are never accepted.'),
  everyMs: millis(2_000, 600_000)
    .default(10_000)
    .describe('Interval of RFQs while prices are needed; each costs two private requests.'),
  staleAfterMs: millis(2_000, 600_000).default(30_000).describe('Maximum age of an RFQ price.'),
  thinBps: bps().optional().describe('Spread above which the book is thin.'),
  withinBps: bps().default(30).describe("Maximum distance of a thin book's mid price from the RFQ price."),
  beyond: z
    .enum(['stop', 'widen'])
    .default('stop')
    .describe(
      'Reaction beyond withinBps: stop quoting, or widen a side. Without a fresh RFQ price, a thin book always stops quoting.',
    ),
  capsSkew: z.boolean().default(false).describe('Whether the RFQ cost limits the inventory skew.'),
});
