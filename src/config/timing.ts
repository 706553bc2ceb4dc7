/** Keys of `timing`: intervals of the bot, and maximum delays of the exchange. */
import { z } from 'zod';
import { millis } from './values.ts';

export const timing = z.strictObject({
  decideEveryMs: millis(50, 60_000).default(1_000).describe('Time between two decisions, in ms.'),
  bookPollMs: millis(100, 60_000)
    .default(1_250)
    .describe('Time between two reads of the book while the stream is silent or not there, in ms.'),
  privatePollMs: millis(200, 60_000).default(2_000).describe('Time between two reads of own orders and trades, in ms.'),
  staleAfterMs: millis(500, 120_000)
    .default(5_000)
    .describe('A book that is older than this many ms is not quoted on: orders are withdrawn.'),
  requestDelayMaxMs: millis(1_000, 600_000)
    .default(50_000)
    .describe(
      'Longest time in ms that the network or the exchange is assumed to hold a request back. An order with an unknown outcome stays reserved at least this long.',
    ),
  tradeReportDelayMaxMs: millis(0, 600_000)
    .default(20_000)
    .describe('Time in ms for which a closed order stays reserved, because its last trades may be listed late.'),
  transferListDelayMaxMs: millis(0, 86_400_000)
    .default(600_000)
    .describe(
      'How late in ms the exchange may list a deposit or withdrawal that is in the balance already. A difference that nothing explains withdraws quotes at once, and halts after this long.',
    ),
  shutdownMs: millis(1_000, 600_000)
    .default(60_000)
    .describe(
      'Bound in ms for canceling and verifying when stopping. What is not verified by then is listed, exit code 3.',
    ),
});
