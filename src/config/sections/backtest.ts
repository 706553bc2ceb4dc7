/** Keys of backtests: assumptions about data that no tape contains. */
import { z } from 'zod';
import { aboveZero } from '../../../strategies/index.ts';
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
    .describe("Fees as fractions, negative for a rebate. If omitted, the exchange's fee tiers."),
  desk: z
    .strictObject({
      spreadBps: bps(20).describe('RFQ spread around the mid price.'),
      paddingBps: bps(100).describe('Distance of conversion prices from the best price.'),
      lifeMs: millis(1_000, 3_600_000).default(30_000).describe('Lifetime of a quote.'),
      capacity: aboveZero
        .optional()
        .describe(
          "RFQ capacity per direction (quote currency). If omitted, 2.5% of the exchange's maximum order value.",
        ),
      refillMs: millis(0, 86_400_000).default(60_000).describe('Time in which used RFQ capacity is restored.'),
      delayMinMs: millis(0, 600_000).default(200).describe('Minimum duration of an accepted conversion.'),
      delayMaxMs: millis(0, 600_000).default(2_000).describe('Maximum duration of an accepted conversion.'),
      latencyMs: millis(0, 60_000).optional().describe('Request latency each way. If omitted, the order latency.'),
      failedShare: share(0).describe('Share of conversions that fail.'),
      refusedShare: share(0).describe('Share of quote requests and acceptances that are rejected.'),
      lostShare: share(0).describe('Share of requests without an answer; half are executed.'),
    })
    .prefault({})
    .describe('Simulated desk for hedges; uses the seed of the backtest.'),
});
