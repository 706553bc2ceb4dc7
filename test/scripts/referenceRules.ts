/** The rules of the book of the reference tape, an event file: it says neither itself. */
import type { BookRules } from '../../src/core/index.ts';

export const REFERENCE_RULES: BookRules = {
  book: 'btc_usd',
  tickSize: '0.1',
  minimumAmount: '0.001',
  maximumAmount: '500',
  minimumPrice: '0.1',
  maximumPrice: '1000000',
  minimumValue: '1',
  maximumValue: '200000000',
};
