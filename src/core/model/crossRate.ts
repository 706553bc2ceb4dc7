/**
 * Price of a book across other books: a chain of books that leads from the base to the quote currency; and cycles
 * through three books.
 */
import { pairOf } from './bookName.ts';

/**
 * One book of the chain. A chain that converts the book's base currency to its quote currency multiplies by the book's
 * price. If `divides` is true, the chain converts quote to base currency, and divides by the price.
 */
export type Leg = { readonly book: string; readonly divides: boolean };

/**
 * Returns the legs from the base to the quote currency of `symbol` (<base>_<quote>) through `books`, in the order of
 * `books`; `null` if the books do not form such a chain.
 */
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

/** Returns the price across a chain of books, given the mid price of each leg. */
export const priceAcross = (legs: readonly Leg[], mids: readonly number[]): number =>
  legs.reduce((price, { divides }, i) => {
    const mid = mids[i] ?? Number.NaN;
    return divides ? price / mid : price * mid;
  }, 1);

/**
 * Returns all cycles through three of `books`, each in both directions. A cycle is a chain that ends with the currency
 * that it starts with.
 */
export function cyclesOf(books: readonly string[]): readonly (readonly Leg[])[] {
  const cycles: (readonly Leg[])[] = [];
  books.forEach((book, i) => {
    const later = books.slice(i + 1);
    later.forEach((second, j) => {
      for (const third of later.slice(j + 1)) {
        const legs = legsOf(book, [second, third]) ?? legsOf(book, [third, second]);
        if (legs === null) continue;
        const back = legs.toReversed().map(leg => ({ ...leg, divides: !leg.divides }));
        cycles.push([...legs, { book, divides: true }], [{ book, divides: false }, ...back]);
      }
    });
  });
  return cycles;
}
