/** Keys of pulled quotes: the move of the reference, or the trade, that cancels a side's quotes immediately. */
import { z } from 'zod';
import { aboveZero } from '../../../strategies/index.ts';
import { millis } from './values.ts';

export const pull = z
  .strictObject({
    leader: z
      .strictObject({
        share: z
          .number()
          .gt(0)
          .max(1)
          .default(1)
          .describe('Share of a reference price move that the book price follows, from puntas calibrate.'),
        marginBps: z
          .number()
          .min(0)
          .max(500)
          .default(0)
          .describe('Minimum quote distance from the expected price; set at least the maker fee.'),
        basisMemoryMs: millis(10_000, 86_400_000)
          .default(600_000)
          .describe('Time constant of the book-to-reference ratio.'),
        maxAgeMs: millis(100, 3_600_000).default(10_000).describe('Maximum age of the reference.'),
      })
      .optional()
      .describe('Cancels a side if the expected price comes within marginBps of its best quote.'),
    print: z
      .strictObject({
        amount: aboveZero.describe(
          'Cancels a side if takers trade this amount (base) against this side within withinMs.',
        ),
        withinMs: millis(1, 60_000).default(1_000).describe('Window for summing trades of one side.'),
        holdMs: millis(100, 600_000).default(5_000).describe('Pause of a canceled side after the last such trade.'),
      })
      .optional()
      .describe('Cancels a side after large trades; needs the stream.'),
  })
  .describe("Cancels a side's quotes before the next decision.");
