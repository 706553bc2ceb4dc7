/** Keys of paper trading. */
import { z } from 'zod';
import { decimalText } from '../../../strategies/index.ts';
import { balances, millis, rate } from './values.ts';

export const paper = z.strictObject({
  fills: z
    .enum(['pessimistic', 'expected', 'optimistic', 'fitted'])
    .default('pessimistic')
    .describe(
      'Fill model: pessimistic (last in the queue), expected (estimated queue position), optimistic (any trade at the price fills), fitted (fittedFile).',
    ),
  fittedFile: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe('Parameters from puntas calibrate --fills, relative to this file; required by fills: fitted.'),
  fittedSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe('Expected SHA-256 hash of fittedFile. If omitted, any file is accepted.'),
  balances: balances.optional().describe('Opening balances by currency; required for paper runs.'),
  volume30d: decimalText.default('0').describe('30-day volume (quote), for the fee tier.'),
  fees: z
    .strictObject({ maker: rate.describe('Maker fee.'), taker: rate.describe('Taker fee.') })
    .optional()
    .describe('Fees as fractions if the exchange lists none.'),
  latencyMs: millis(0, 10_000).default(25).describe('Request latency each way.'),
  stateDir: z
    .string()
    .min(1)
    .max(4_096)
    .default('./state-paper')
    .describe('State directory of paper runs, relative to this file.'),
  only: z.boolean().default(false).describe('Whether puntas run requires --paper.'),
});
