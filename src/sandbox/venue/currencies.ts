/** Base and quote currencies of the books that the exchange lists. */
import type { Instrument } from '../../core/index.ts';

/** Returns all currencies of the listed books, sorted. */
export function currenciesOf(venue: {
  readonly books: ReadonlyMap<string, { readonly instrument: Instrument }>;
}): string[] {
  const found = new Set<string>();
  for (const { instrument } of venue.books.values()) found.add(instrument.major).add(instrument.minor);
  return [...found].sort();
}
