/** Quotes of a book whose price the other books of the account contradict: pulled, or moved to the safer price. */
import type { Level, Quote } from './strategy.ts';

/**
 * Doubt about the price of a book. `isPulled`: whether the book must not quote; if false, its quotes are only moved,
 * because either price may be right. `distance`: logarithm of the price of this book divided by the price that the
 * other books imply. `books`: symbols of all compared books.
 */
export type PriceDoubt = { readonly isPulled: boolean; readonly distance: number; readonly books: readonly string[] };

/** Reason for a side that is empty because of a doubt. The text of the decision starts with this reason. */
export const CROSS_RATES_DISAGREE = 'pulled: the cross rates disagree';

/** Returns the compared books and the distance of the prices in bps, as text. */
export const disagreementText = ({ books, distance }: PriceDoubt): string =>
  `${books.join(', ')}: ${(Math.abs(distance) * 10_000).toFixed(1)} bps`;

/**
 * Returns the quote under a doubt. A pulled book has no quotes. Otherwise, one side moves by the difference of both
 * prices: the bids down if the implied price is lower, the asks up if it is higher. That side would trade at a loss if
 * the implied price is right.
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
