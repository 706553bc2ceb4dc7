/** Quotes of a book whose price the other books of the account contradict: pulled, or moved to the safer price. */
import type { Level, Quote } from './strategy.ts';

/**
 * Doubt about the price of a book. `isPulled`: whether the book must not quote; otherwise the other books imply a price
 * `distance` away (logarithm of the price of this book over the implied one), and either price may be right.
 */
export type PriceDoubt = { readonly isPulled: boolean; readonly distance: number; readonly books: readonly string[] };

/** Reason for a side that is empty because of a doubt. The text of the decision starts with it. */
export const CROSS_RATES_DISAGREE = 'pulled: the cross rates disagree';

/** Returns the books that disagree, and by how much, as text. */
export const disagreementText = ({ books, distance }: PriceDoubt): string =>
  `${books.join(', ')}: ${(Math.abs(distance) * 10_000).toFixed(1)} bps`;

/**
 * Returns the quote under a doubt. A pulled book shows nothing. Otherwise, the side that trades badly if the implied
 * price is right moves by the difference of both prices: bids down if the implied price is lower, asks up if it is
 * higher.
 */
export function doubtedQuote(quote: Quote, doubt: PriceDoubt, mid: number): Quote {
  if (doubt.isPulled) {
    const words = `${CROSS_RATES_DISAGREE} (${disagreementText(doubt)})`;
    return {
      ...quote,
      ...(quote.bids.length === 0 ? {} : { bids: [], noBid: words }),
      ...(quote.asks.length === 0 ? {} : { asks: [], noAsk: words }),
    };
  }
  const shift = mid * Math.expm1(-doubt.distance);
  const moved = (levels: readonly Level[]): readonly Level[] =>
    levels.map(level => ({
      ...level,
      price: level.price + shift,
      why: [...level.why, { name: 'cross rates disagree', ticks: shift }],
    }));
  return shift < 0 ? { ...quote, bids: moved(quote.bids) } : { ...quote, asks: moved(quote.asks) };
}
