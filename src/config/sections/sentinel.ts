/** Keys of the sentinel: whether quoting requires it, and its timeout. */
import { z } from 'zod';
import { AT_RELOAD, ELSEWHERE } from './takesEffect.ts';
import { millis } from './values.ts';

export const sentinelKeys = z.strictObject({
  required: z
    .boolean()
    .default(false)
    .meta(AT_RELOAD)
    .describe('Whether the bot quotes only while a sentinel runs; recommended with real money.'),
  ttlMs: millis(5_000, 600_000)
    .default(30_000)
    .meta(ELSEWHERE)
    .describe(
      "Time without a bot heartbeat, or without account reads by the bot while the exchange answers, after which the sentinel cancels the bot's orders.",
    ),
});
