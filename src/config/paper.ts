/** Keys of paper trading. */
import { z } from 'zod';
import { decimalText } from '../../strategies/index.ts';
import { balances, millis, rate } from './values.ts';

export const paper = z.strictObject({
  fills: z
    .enum(['pessimistic', 'expected', 'optimistic'])
    .default('pessimistic')
    .describe(
      'How fills are decided: pessimistic (in the queue only trades move an order on), expected (with the stream the true place, else cancels are shared out between ahead and behind), optimistic (every touch fills whole: a bound).',
    ),
  balances: balances.optional().describe('What every run begins with, by currency; puntas run --paper needs it.'),
  volume30d: decimalText
    .default('0')
    .describe(
      'Traded volume of the last 30 days in the currency of the fee tiers, as quoted decimal text: it chooses the tier.',
    ),
  fees: z
    .strictObject({ maker: rate.describe('Maker fee.'), taker: rate.describe('Taker fee.') })
    .optional()
    .describe('Fees as fractions, where the followed exchange lists none.'),
  latencyMs: millis(0, 10_000)
    .default(25)
    .describe('Time in ms that a request takes to the exchange, and its answer back.'),
  stateDir: z
    .string()
    .min(1)
    .max(4_096)
    .default('./state-paper')
    .describe('Folder of what survives a restart, instead of state.dir; from the folder of this file.'),
  only: z.boolean().default(false).describe('With true, puntas run refuses to trade this file without --paper.'),
});
