/** Keys of `timing`: intervals of the bot, and maximum delays of the exchange. */
import { z } from 'zod';
import { millis } from './values.ts';

export const timing = z.strictObject({
  decideEveryMs: millis(50, 60_000).default(1_000).describe('Interval of decisions.'),
  bookPollMs: millis(100, 60_000)
    .default(1_250)
    .describe(
      'Interval of order book reads without the market data stream. The minimum interval of each book if several books share exchange.budgets.publicPerMinute.',
    ),
  privatePollMs: millis(200, 60_000)
    .default(2_000)
    .describe("Interval of reads of the account's open orders and trades."),
  staleAfterMs: millis(500, 120_000).default(5_000).describe('Age at which the book is stale and quotes are canceled.'),
  requestDelayMaxMs: millis(1_000, 600_000)
    .default(50_000)
    .describe(
      'Maximum delay until the exchange executes a request. For this time, the amount of an order with an unknown outcome stays reserved.',
    ),
  tradeReportDelayMaxMs: millis(0, 600_000)
    .default(20_000)
    .describe(
      'Maximum delay until the exchange lists a trade. The amount of an ended order stays reserved until all its trades are listed.',
    ),
  transferListDelayMaxMs: millis(0, 86_400_000)
    .default(600_000)
    .describe(
      'Maximum delay until the exchange lists a transfer. A balance difference that no listed transfer explains after this time halts trading.',
    ),
  shutdownMs: millis(1_000, 600_000)
    .default(60_000)
    .describe("Maximum duration of the bot's shutdown, including cancels and the verification that no order is open."),
});
