/** The price of a book through other books: a chain from its major to its minor currency. */
import { pairOf } from './bookName.ts';

/** One book of the chain; its price multiplies, or divides where the chain goes from its minor to its major. */
export type Leg = { readonly book: string; readonly divides: boolean };

/** How these books lead, in their order, from the major to the minor currency of `symbol` (<major>_<minor>); null when they do not. */
export function legsOf(symbol: string, books: readonly string[]): readonly Leg[] | null {
  const [major, minor] = pairOf(symbol);
  const legs: Leg[] = [];
  let at = major;
  for (const book of books) {
    const [from, to] = pairOf(book);
    if (at !== from && at !== to) return null;
    legs.push({ book, divides: at === to });
    at = at === from ? to : from;
  }
  return legs.length > 0 && at === minor ? legs : null;
}

/** The price at the end of the chain, of the middles of its books in their order. */
export const priceAcross = (legs: readonly Leg[], mids: readonly number[]): number =>
  legs.reduce((price, { divides }, i) => {
    const mid = mids[i] ?? Number.NaN;
    return divides ? price / mid : price * mid;
  }, 1);
