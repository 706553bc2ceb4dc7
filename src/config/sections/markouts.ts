/** Keys of live markouts: the horizon of a fill, the weight of past fills, and how far quotes move out. */
import { z } from 'zod';
import { LIVE_HORIZONS } from '../../core/index.ts';
import { millis } from './values.ts';

const HORIZONS_MS = LIVE_HORIZONS.filter(seconds => seconds > 0).map(seconds => seconds * 1000);
const bps = z.number().min(0).max(500);

export const markouts = z
  .strictObject({
    horizonMs: z.literal(HORIZONS_MS).default(5_000).describe('Time after a fill at which its markout is measured.'),
    halfLifeMs: millis(60_000, 604_800_000)
      .default(86_400_000)
      .describe("Half-life of a fill's weight and of the widening."),
    minFills: z
      .number()
      .min(2)
      .max(10_000)
      .default(8)
      .describe('Minimum fills before a side widens; fills within one minute count as one.'),
    standardErrors: z
      .number()
      .min(0)
      .max(10)
      .default(2.5)
      .describe('Standard errors by which adverse selection must exceed toleratedBps.'),
    toleratedBps: bps.default(2).describe('Adverse selection up to which no side widens.'),
    widenBpsMax: bps.default(10).describe('Maximum widening of a side. 0: markouts are only reported.'),
  })
  .describe('Measures markouts, and widens a side that suffers adverse selection.');
