/** Keys of RFQ prices as information: the amount to quote, and what the prices bound. */
import { z } from 'zod';
import { aboveZero } from '../../strategies/index.ts';
import { millis } from './values.ts';

const bps = () => z.number().min(0).max(5_000);

export const rfqReference = z.strictObject({
  amount: aboveZero.describe(
    'What RFQ prices are asked for, bought and sold; in the major currency, as quoted decimal text. Nothing is ever accepted.',
  ),
  everyMs: millis(2_000, 600_000)
    .default(10_000)
    .describe('Time between two readings, in ms, while somebody goes by them. Each takes two private requests.'),
  staleAfterMs: millis(2_000, 600_000)
    .default(30_000)
    .describe('An RFQ price that is older than this many ms is none.'),
  thinBps: bps()
    .optional()
    .describe(
      'The book is thin where its best prices are further apart than this, in bps of its middle; then the RFQ prices are a second opinion. Left out: the book is never taken for thin.',
    ),
  withinBps: bps()
    .default(30)
    .describe('How far the middle of a thin book may be from the middle of the RFQ prices, in bps.'),
  beyond: z
    .enum(['stop', 'widen'])
    .default('stop')
    .describe(
      'Beyond that: nothing is quoted (stop), or the side that the RFQ price speaks against is moved out by what it is away (widen). Without a fresh price a thin book is not quoted on.',
    ),
  capsSkew: z
    .boolean()
    .default(false)
    .describe('The skew for inventory is at most what leaving by RFQ costs, in price.'),
});
