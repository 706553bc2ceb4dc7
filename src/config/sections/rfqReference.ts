/**
 * Keys of RFQ prices that the bot reads but never accepts: the amount per price request, and the effect of the prices
 * on the quotes.
 */
import { z } from 'zod';
import { aboveZero } from '../../../strategies/index.ts';
import { millis } from './values.ts';

const bps = () => z.number().min(0).max(5_000);

export const rfqReference = z.strictObject({
  amount: aboveZero.describe(
    'Amount of each RFQ, in base currency. The bot never accepts the quotes that it receives.',
  ),
  everyMs: millis(2_000, 600_000)
    .default(10_000)
    .describe(
      'Interval of RFQs, one to sell and one to buy, while the book is thin, or while capsSkew is true and inventory is not at its target. Both are private requests.',
    ),
  staleAfterMs: millis(2_000, 600_000)
    .default(30_000)
    .describe('Maximum age of an RFQ price; the bot ignores older RFQ prices.'),
  thinBps: bps().optional().describe('Spread above which the book is thin. If omitted, the book is never thin.'),
  withinBps: bps().default(30).describe("Maximum distance of a thin book's mid price from the RFQ price."),
  beyond: z
    .enum(['stop', 'widen'])
    .default('stop')
    .describe(
      'Reaction if the distance exceeds withinBps: stop quoting, or move bids down or asks up by the distance. Without a fresh RFQ price, a thin book always stops quoting.',
    ),
  capsSkew: z.boolean().default(false).describe('Whether the inventory skew is limited to the cost of a hedge by RFQ.'),
});
