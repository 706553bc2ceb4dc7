/** The keys of live markouts: at which horizon fills are judged, how long that is remembered, and how far quotes move out for it. */
import { z } from 'zod';
import { LIVE_HORIZONS } from '../core/index.ts';
import { millis } from './values.ts';

const HORIZONS_MS = LIVE_HORIZONS.filter(seconds => seconds > 0).map(seconds => seconds * 1000);
const bps = z.number().min(0).max(500);

export const markouts = z.strictObject({
  horizonMs: z
    .literal(HORIZONS_MS)
    .default(15_000)
    .describe(
      'Time in ms after a fill at which the market must not have moved against it. Shown are all of them, and the edge at the fill.',
    ),
  halfLifeMs: millis(60_000, 604_800_000)
    .default(21_600_000)
    .describe(
      'Time in ms after which a fill counts for half: so long a side that was moved out takes to come half back.',
    ),
  minFills: z
    .number()
    .min(2)
    .max(10_000)
    .default(20)
    .describe(
      'Up to this many remembered fills of a side nothing follows, beyond them more and more. Fills of one minute count as one.',
    ),
  toleratedBps: bps
    .default(2)
    .describe('Adverse selection up to this is what the quotes are far enough away for, in bps: nothing follows.'),
  widenBpsMax: bps
    .default(10)
    .describe(
      'A side moves out by half of what is beyond toleratedBps, at most by this, in bps. 0: markouts are only shown.',
    ),
});
