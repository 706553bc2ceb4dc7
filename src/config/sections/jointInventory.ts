/** Keys of the joint inventory: several books skew their quotes by what they hold together. */
import { z } from 'zod';
import { millis } from './values.ts';

export const jointInventory = z
  .strictObject({
    currency: z
      .string()
      .regex(/^[a-z0-9]{2,12}$/, 'expected a currency like "mxn"')
      .optional()
      .describe('Currency in which you value the account. If omitted, the quote currency of the first book.'),
    sampleMs: millis(10_000, 3_600_000)
      .default(60_000)
      .describe('Time between two samples of the mid prices. Short intervals hide joint moves.'),
    halfLifeMs: millis(600_000, 2_592_000_000).default(21_600_000).describe("Half-life of a sample's weight."),
  })
  .describe('Several books skew their quotes by their joint inventory. If omitted, each book uses its own inventory.');
