/**
 * Keys of regimes: when the spread widens, and when the bot becomes reduce-only. Without these keys, neither happens
 * automatically.
 */
import { z } from 'zod';
import { aboveZero } from '../../../strategies/index.ts';
import { millis } from './values.ts';

const bps = z.number().gt(0).max(5_000);

const wide = z.strictObject({
  factor: z.number().min(1).max(20).default(2).describe('Spread factor.'),
  volatilityBps: z.number().gt(0).max(10_000).optional().describe('Volatility per hour above which quotes are wide.'),
  volatilityMemoryMs: millis(10_000, 86_400_000).default(300_000).describe('Time constant of the volatility estimate.'),
  marketSpreadBps: bps.optional().describe('Market spread above which quotes are wide.'),
  depthMin: aboveZero.optional().describe('Depth per side below which quotes are wide (base).'),
  depthBps: bps.default(50).describe('Distance from the mid price within which depth is summed.'),
});

const reduceOnly = z.strictObject({
  positionShare: z
    .number()
    .gt(0)
    .max(0.99)
    .optional()
    .describe('Share of limits.positionMax at which reduce-only starts.'),
  drawdownShare: z
    .number()
    .min(0.001)
    .max(0.99)
    .optional()
    .describe('Share of limits.drawdownMax at which reduce-only starts; puntas resume ends it.'),
});

export const regimes = z.strictObject({
  leaveShare: z.number().gt(0).max(0.99).default(0.8).describe('Share of a threshold below which a regime can end.'),
  calmMs: millis(0, 86_400_000)
    .default(60_000)
    .describe('Time below leaveShare of the threshold before the wide regime ends.'),
  wide: wide.optional().describe('Wider quotes in a volatile, wide or thin market.'),
  reduceOnly: reduceOnly.optional().describe('Quotes that only reduce inventory.'),
});
