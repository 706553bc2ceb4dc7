/** The keys of hedging: when inventory leaves by a conversion, by which interfaces, and what that may cost. */
import { z } from 'zod';
import { aboveZero, decimalText, millis } from './values.ts';

const bps = (fallback: number) => z.number().min(0).max(5_000).default(fallback);

export const hedge = z.strictObject({
  band: aboveZero.describe(
    'Inventory this far from its target leaves as soon as a way within costMaxBps is offered; in the major currency, as quoted decimal text. Below limits.positionMax.',
  ),
  rest: decimalText
    .default('0')
    .describe('What is left of it then; in the major currency, as quoted decimal text. Below the band.'),
  ways: z
    .array(z.enum(['rfq', 'conversion']))
    .min(1)
    .max(2)
    .default(['rfq', 'conversion'])
    .describe('Interfaces that are asked for a price: quotes (rfq), and the conversions of the REST interface.'),
  costMaxBps: bps(50).describe(
    'The most that leaving may cost, in bps of what leaves, against the middle of the book.',
  ),
  carryBpsPerHour: bps(0).describe(
    'What carrying inventory as large as the band costs in an hour, in bps of its value. Above 0, inventory beyond rest leaves also below the band when that is cheaper than carrying it.',
  ),
  unwindMs: millis(1_000, 86_400_000)
    .default(600_000)
    .describe('Time in ms that quotes are expected to take to bring inventory of the size of the band back.'),
  everyMs: millis(500, 600_000).default(2_000).describe('Time between two looks at the inventory, in ms.'),
  pauseMs: millis(1_000, 3_600_000)
    .default(30_000)
    .describe('Time in ms after a look that led to questions until the next one: each asks for quotes.'),
  marginMs: millis(0, 60_000).default(5_000).describe('An offer that ends in less than this many ms is not accepted.'),
});
