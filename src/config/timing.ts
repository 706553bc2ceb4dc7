/** Keys of `timing`: intervals of the bot, and maximum delays of the exchange. */
import { z } from 'zod';
import { millis } from './values.ts';

export const timing = z.strictObject({
  decideEveryMs: millis(50, 60_000).default(1_000).describe('Interval of decisions (ms).'),
  bookPollMs: millis(100, 60_000).default(1_250).describe('Interval of book reads without the stream (ms).'),
  privatePollMs: millis(200, 60_000).default(2_000).describe("Interval of reads of the bot's orders and trades (ms)."),
  staleAfterMs: millis(500, 120_000)
    .default(5_000)
    .describe('Age at which a book is stale and quotes are canceled (ms).'),
  requestDelayMaxMs: millis(1_000, 600_000)
    .default(50_000)
    .describe(
      'Maximum delay of a request that is still executed (ms). Unknown orders stay reserved at least this long.',
    ),
  tradeReportDelayMaxMs: millis(0, 600_000)
    .default(20_000)
    .describe('Maximum delay until a trade is listed (ms). Closed orders stay reserved this long.'),
  transferListDelayMaxMs: millis(0, 86_400_000)
    .default(600_000)
    .describe('Maximum delay until a transfer is listed (ms). An unexplained difference halts after this time.'),
  shutdownMs: millis(1_000, 600_000)
    .default(60_000)
    .describe('Maximum time for canceling and verifying at a stop (ms).'),
});
