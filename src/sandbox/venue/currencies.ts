/** The currencies of the exchange: those of the books that it lists. */
import type { Instrument } from '../../core/index.ts';

/** Every currency of the listed books. */
export function currenciesOf(venue: {
  readonly books: ReadonlyMap<string, { readonly instrument: Instrument }>;
}): string[] {
  const found = new Set<string>();
  for (const { instrument } of venue.books.values()) found.add(instrument.major).add(instrument.minor);
  return [...found].sort();
}
