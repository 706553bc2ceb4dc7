/** Configuration keys of recordings: length of a run, and maximum size of all recordings. */
import { z } from 'zod';

export const journalKeys = z.strictObject({
  rollHours: z
    .number()
    .min(0.01)
    .max(168)
    .default(24)
    .describe('Time after which the bot starts a new run; quoting pauses briefly.'),
  keepMb: z
    .number()
    .min(0.1)
    .max(1_000_000)
    .default(2_048)
    .describe('Maximum size of all recordings; the oldest are deleted.'),
});
