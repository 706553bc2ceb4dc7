/** Keys of backtests: assumptions that no tape contains. */
import { z } from 'zod';
import { aboveZero } from '../../strategies/index.ts';
import { millis, signedRate } from './values.ts';

const share = (fallback: number) => z.number().min(0).max(1).default(fallback);
const bps = (fallback: number) => z.int().min(0).max(5_000).default(fallback);

export const backtestKeys = z.strictObject({
  fees: z
    .strictObject({
      maker: signedRate.describe('Maker fee.'),
      taker: signedRate.describe('Taker fee.'),
    })
    .optional()
    .describe(
      'Fees of the recorded exchange as fractions; a negative fee is a rebate. If omitted, the fee tiers of this exchange apply.',
    ),
  desk: z
    .strictObject({
      spreadBps: bps(20).describe(
        "What rfq keeps of the middle of the exchange's book, in whole bps. The desk of the embedded exchange keeps as much.",
      ),
      paddingBps: bps(100).describe(
        "What a conversion of the REST interface keeps of the book's best price, in whole bps.",
      ),
      lifeMs: millis(1_000, 3_600_000).default(30_000).describe('Life of a quote of either interface, in ms.'),
      capacity: aboveZero
        .optional()
        .describe(
          'Value that rfq takes in one direction before it must rest; in the minor currency, as quoted decimal text. Left out: 2.5 % of the largest order of the book.',
        ),
      refillMs: millis(0, 86_400_000).default(60_000).describe('Time in ms in which an empty desk is full again.'),
      delayMinMs: millis(0, 600_000).default(200).describe('Shortest time in ms until an accepted conversion is over.'),
      delayMaxMs: millis(0, 600_000).default(2_000).describe('Longest such time, in ms. At least delayMinMs.'),
      latencyMs: millis(0, 60_000)
        .optional()
        .describe('Time in ms that a request takes to the desk, and its answer back. Left out: as orders.'),
      failedShare: share(0).describe('Share of accepted conversions that fail for no reason of theirs, from 0 to 1.'),
      refusedShare: share(0).describe('Share of quotes and acceptances that are refused, from 0 to 1.'),
      lostShare: share(0).describe(
        'Share of requests whose answer never comes, from 0 to 1; half of them are carried out all the same.',
      ),
    })
    .prefault({})
    .describe('The desk that a hedger meets in a backtest. Its dice have the seed of the backtest.'),
});
