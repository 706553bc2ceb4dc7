/**
 * Keys of regimes: when the spread widens, and when the bot becomes reduce-only. Without them, neither happens
 * automatically.
 */
import { z } from 'zod';
import { aboveZero } from '../../strategies/index.ts';
import { millis } from './values.ts';

const bps = z.number().gt(0).max(5_000);

const wide = z.strictObject({
  factor: z
    .number()
    .min(1)
    .max(20)
    .default(2)
    .describe('The spread between our first levels is multiplied by this: both sides move away from their middle.'),
  volatilityBps: z
    .number()
    .gt(0)
    .max(10_000)
    .optional()
    .describe(
      'Wide from here on: one standard deviation of the middle over an hour, in bps, followed while running. Left out: the speed of the market changes nothing.',
    ),
  volatilityMemoryMs: millis(10_000, 86_400_000)
    .default(300_000)
    .describe('The volatility forgets exponentially with this time constant, in ms.'),
  marketSpreadBps: bps
    .optional()
    .describe("Wide from here on: distance between everybody's best prices, in bps of their middle."),
  depthMin: aboveZero
    .optional()
    .describe(
      'Wide when either side of the book has less than this within depthBps of the middle; in the major currency, as quoted decimal text.',
    ),
  depthBps: bps.default(50).describe('How far from the middle depthMin is counted, in bps.'),
});

const reduceOnly = z.strictObject({
  positionShare: z
    .number()
    .gt(0)
    .max(0.99)
    .optional()
    .describe(
      'Only inventory is closed from this share of limits.positionMax on, until it is below leaveShare of that: 0.9. Left out: only at the limit, where one side is not quoted.',
    ),
  drawdownShare: z
    .number()
    .min(0.001)
    .max(0.99)
    .optional()
    .describe(
      'Only inventory is closed once the profit has fallen by this share of limits.drawdownMax from its highest, until puntas resume: a soft stop before the halt.',
    ),
});

export const regimes = z.strictObject({
  leaveShare: z
    .number()
    .gt(0)
    .max(0.99)
    .default(0.8)
    .describe('What made a regime must be below this share of where it began, so that it does not flap.'),
  calmMs: millis(0, 86_400_000)
    .default(60_000)
    .describe('The market must have been below that for this many ms before the spread is narrow again.'),
  wide: wide.optional().describe('Quotes with a wider spread in a market that moves fast, or is wide or thin.'),
  reduceOnly: reduceOnly.optional().describe('Quotes only what brings inventory back to its target.'),
});
