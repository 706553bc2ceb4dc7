/**
 * Configuration keys of hard limits, of limits on activity above which trading halts, and of the joint inventory and
 * the cross rates of several books.
 */
import { z } from 'zod';
import { aboveZero } from '../../../strategies/index.ts';
import { CURRENCY, millis } from './values.ts';

export const limitKeys = z.strictObject({
  positionMax: aboveZero.describe(
    'Maximum distance of inventory from its target if all live and unknown orders fill (base).',
  ),
  orderValueMax: aboveZero.describe('Maximum value of one order (quote).'),
  orderAmountMax: aboveZero.optional().describe('Maximum amount of one order (base).'),
  ordersMax: z.int().min(1).max(500).describe('Maximum open orders, including pending and unknown orders.'),
  collarBps: z.number().gt(0).max(5_000).describe('Maximum distance of an order from the mid price.'),
  priceMove: z
    .strictObject({
      bps: z
        .int()
        .min(1)
        .max(5_000)
        .describe('Maximum distance of the mid price and each order from the median mid price.'),
      windowMs: millis(60_000, 86_400_000).default(3_600_000).describe('Window of the median mid price.'),
    })
    .optional()
    .describe('Pauses quoting while the mid price is too far from its time-weighted median.'),
  drawdownMax: aboveZero.describe('Drawdown at which trading halts (quote).'),
  dayLossMax: aboveZero.describe('Loss per UTC day at which trading halts (quote).'),
});

const perMinute = (fallback: number) => z.int().min(1).max(100_000).default(fallback);
export const haltKeys = z.strictObject({
  fillsPer10Min: z.int().min(1).max(100_000).default(300).describe('Maximum fills in 10 minutes.'),
  refusalsPerMinute: perMinute(20).describe('Maximum rejected placements per minute.'),
  unknownsPerMinute: perMinute(20).describe('Maximum placements with unknown outcome per minute.'),
  messagesPerMinute: perMinute(600).describe('Maximum placements and cancels per minute.'),
});

const currency = (example: string) => z.string().regex(CURRENCY, `expected a currency like "${example}"`);

/** Limits on all books of the account together. */
export const accountLimits = z
  .strictObject({
    value: z
      .strictObject({
        currency: currency('mxn').describe('Currency in which you value the account.'),
        max: aboveZero.describe('Maximum value.'),
      })
      .optional()
      .describe(
        'Maximum value of the distances of all base currencies from their targets, if all live orders fill, at the prices at which they could be bought.',
      ),
    currencies: z
      .record(currency('btc'), aboveZero)
      .refine(limits => Object.keys(limits).length > 0, 'expected at least one currency, like { btc: "0.3" }')
      .describe(
        'Maximum distance of a base currency from its target over all books, even if all live orders fill: `{ btc: "0.3" }`.',
      )
      .optional(),
  })
  .refine(({ value, currencies }) => value !== undefined || currencies !== undefined, 'expected currencies or value')
  .describe('Limits on the inventory of all books together.');

/** Cross rates: comparison of the prices of several books. */
export const crossRates = z
  .strictObject({
    withinMs: millis(100, 60_000).default(1_000).describe('Maximum age of each price that is compared.'),
  })
  .describe(
    'Compares books that form a cycle, like btc_mxn, btc_usd and usd_mxn. If omitted, each book has only its own price.',
  );

/** Joint inventory: several books skew their quotes by the inventory that they hold together. */
export const jointInventory = z
  .strictObject({
    currency: currency('mxn')
      .optional()
      .describe('Currency in which you value the account. If omitted, the quote currency of the first book.'),
    sampleMs: millis(10_000, 3_600_000)
      .default(60_000)
      .describe('Time between two samples of the mid prices. Short intervals hide joint moves.'),
    halfLifeMs: millis(600_000, 2_592_000_000).default(21_600_000).describe("Half-life of a sample's weight."),
  })
  .describe('Several books skew their quotes by their joint inventory. If omitted, each book uses its own inventory.');
