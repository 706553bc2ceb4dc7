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
          .describe(
            'How much of the way of the reference our price is expected to come after it: the weight that puntas calibrate writes.',
          ),
        marginBps: z
          .number()
          .min(0)
          .max(500)
          .default(0)
          .describe('What a quote must keep from where our price is expected, in bps: the maker fee, at least.'),
        basisMemoryMs: millis(10_000, 86_400_000)
          .default(600_000)
          .describe('The usual ratio of our book to the reference is followed with this time constant, in ms.'),
        maxAgeMs: millis(100, 3_600_000).default(10_000).describe('A reference older than this many ms pulls nothing.'),
      })
      .optional()
      .describe(
        'A side whose best quote lies beyond where the reference says that our price goes. Needs the section reference. Left out: the reference pulls nothing.',
      ),
    print: z
      .strictObject({
        amount: aboveZero.describe(
          'What takers of one side take within withinMs from which on the side that they take from is pulled; in the major currency, as quoted decimal text.',
        ),
        withinMs: millis(1, 60_000).default(1_000).describe('Trades of one side within so many ms are one, in ms.'),
        holdMs: millis(100, 600_000)
          .default(5_000)
          .describe('How long the side stays away after the last of them, in ms.'),
      })
      .optional()
      .describe('Large trades. They are heard while the stream is there. Left out: no trade pulls anything.'),
  })
  .describe(
    "Takes a side's quotes away at once when the reference has moved past them or a large trade came. Left out: they wait for the next decision.",
  );
