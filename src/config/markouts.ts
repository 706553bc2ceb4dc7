/** Keys of live markouts: the horizon of a fill, the weight of past fills, and how far quotes move out. */
import { z } from 'zod';
import { LIVE_HORIZONS } from '../core/index.ts';
import { millis } from './values.ts';

const HORIZONS_MS = LIVE_HORIZONS.filter(seconds => seconds > 0).map(seconds => seconds * 1000);
const bps = z.number().min(0).max(500);

export const markouts = z
  .strictObject({
    horizonMs: z
      .literal(HORIZONS_MS)
      .default(5_000)
      .describe(
        'Time in ms after a fill at which the market must not have moved against it. Shown are all of them, and the edge at the fill.',
      ),
    halfLifeMs: millis(60_000, 604_800_000)
      .default(86_400_000)
      .describe(
        'Time in ms after which a fill counts for half: so long a side that was moved out takes to come half back.',
      ),
    minFills: z
      .number()
      .min(2)
      .max(10_000)
      .default(8)
      .describe(
        'With fewer remembered fills of a side than this nothing follows. Fills of one minute count as one, fills of unequal value as fewer.',
      ),
    standardErrors: z
      .number()
      .min(0)
      .max(10)
      .default(2.5)
      .describe(
        'What the adverse selection of a side is beyond toleratedBps by fewer of its standard errors than this is taken for chance: nothing follows.',
      ),
    toleratedBps: bps
      .default(2)
      .describe('Adverse selection up to this is what the quotes are far enough away for, in bps: nothing follows.'),
    widenBpsMax: bps
      .default(10)
      .describe(
        'A side moves out by half of what is beyond toleratedBps, less where its error is large, at most by this, in bps. 0: markouts are only shown.',
      ),
  })
  .describe(
    'Follows what the price does after our fills, and moves a side out whose fills are followed by moves against them. Left out: neither.',
  );
