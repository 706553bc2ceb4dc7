/** Keys of `timing`: intervals of the bot, and maximum delays of the exchange. */
import { z } from 'zod';
import { millis } from './values.ts';

export const timing = z.strictObject({
  decideEveryMs: millis(50, 60_000).default(1_000).describe('Interval of decisions.'),
  bookPollMs: millis(100, 60_000).default(1_250).describe('Interval of book reads without the stream.'),
  privatePollMs: millis(200, 60_000).default(2_000).describe('Interval of order and trade reads.'),
  staleAfterMs: millis(500, 120_000).default(5_000).describe('Age at which the book is stale and quotes are canceled.'),
  requestDelayMaxMs: millis(1_000, 600_000)
    .default(50_000)
    .describe(
      'Longest delay after which the exchange still executes a request. Until then, amounts of unknown orders stay reserved.',
    ),
  tradeReportDelayMaxMs: millis(0, 600_000)
    .default(20_000)
    .describe('Maximum delay until a trade is listed. Until then, amounts of ended orders stay reserved.'),
  transferListDelayMaxMs: millis(0, 86_400_000)
    .default(600_000)
    .describe(
      'Maximum delay until a transfer is listed. A balance difference that is still unexplained then halts trading.',
    ),
  shutdownMs: millis(1_000, 600_000)
    .default(60_000)
    .describe('Maximum duration of a stop, including cancels and verification.'),
});
