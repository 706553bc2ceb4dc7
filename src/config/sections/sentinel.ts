/** Keys of the sentinel: whether quoting requires it, and its timeout. */
import { z } from 'zod';
import { AT_RELOAD, ELSEWHERE } from './takesEffect.ts';
import { millis } from './values.ts';

export const sentinelKeys = z.strictObject({
  required: z
    .boolean()
    .default(false)
    .meta(AT_RELOAD)
    .describe('Whether quoting requires a sentinel; recommended with real money.'),
  ttlMs: millis(5_000, 600_000)
    .default(30_000)
    .meta(ELSEWHERE)
    .describe("Timeout for the bot's heartbeat, and for the bot's reads of a reachable exchange."),
});
