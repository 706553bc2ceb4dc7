/** Keys of pulled quotes: the move of the reference, or the trade, that cancels a side's quotes immediately. */
import { z } from 'zod';
import { aboveZero } from '../../strategies/index.ts';
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
          .describe('Share of a reference move that the book follows, from puntas calibrate.'),
        marginBps: z
          .number()
          .min(0)
          .max(500)
          .default(0)
          .describe('Minimum distance from the expected price (bps); at least the maker fee.'),
        basisMemoryMs: millis(10_000, 86_400_000)
          .default(600_000)
          .describe('Time constant of the ratio between book and reference (ms).'),
        maxAgeMs: millis(100, 3_600_000).default(10_000).describe('Maximum age of the reference (ms).'),
      })
      .optional()
      .describe('Pulls a side that the reference has passed. Needs reference. If omitted, off.'),
    print: z
      .strictObject({
        amount: aboveZero.describe('Amount taken from one side within withinMs that pulls it (base currency).'),
        withinMs: millis(1, 60_000).default(1_000).describe('Window for adding trades of one side (ms).'),
        holdMs: millis(100, 600_000).default(5_000).describe('Time without quotes after the last trade (ms).'),
      })
      .optional()
      .describe('Pulls a side after large trades; needs the stream. If omitted, off.'),
  })
  .describe('Cancels a side immediately after a reference move or large trade. If omitted, the next decision does.');
