/** Keys of backtests: assumptions about data that no tape contains. */
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
      spreadBps: bps(20).describe('RFQ spread around the mid price (bps).'),
      paddingBps: bps(100).describe('Spread of REST conversions around the best price (bps).'),
      lifeMs: millis(1_000, 3_600_000).default(30_000).describe('Lifetime of a quote (ms).'),
      capacity: aboveZero
        .optional()
        .describe('RFQ capacity per direction (quote currency). If omitted, 2.5% of the largest order of the book.'),
      refillMs: millis(0, 86_400_000).default(60_000).describe('Time until an empty desk is full again (ms).'),
      delayMinMs: millis(0, 600_000).default(200).describe('Minimum duration of an accepted conversion (ms).'),
      delayMaxMs: millis(0, 600_000).default(2_000).describe('Maximum duration (ms); at least delayMinMs.'),
      latencyMs: millis(0, 60_000)
        .optional()
        .describe('Latency of the desk each way (ms). If omitted, that of orders.'),
      failedShare: share(0).describe('Share of accepted conversions that fail.'),
      refusedShare: share(0).describe('Share of quotes and acceptances that are rejected.'),
      lostShare: share(0).describe('Share of requests without an answer; half of them are executed.'),
    })
    .prefault({})
    .describe('Simulated desk for hedges; uses the seed of the backtest.'),
});
