/**
 * Rates between any two currencies: the mid price of the book that joins them, or the product of the mid prices along
 * the shortest chain of books.
 */
import type { DeskBook, DeskWorld } from './deskWorld.ts';

/** Units of the target currency per unit of the source currency, as the exact fraction `over` / `under`. */
export type Rate = { readonly over: bigint; readonly under: bigint };
export type Cross = { readonly rate: Rate; readonly path: readonly Hop[] };

/** One book on the path. Selling converts its base currency to its quote currency. */
export type Hop = { readonly book: DeskBook; readonly selling: boolean };

/** Maximum number of books on a path between two currencies. */
export const HOPS_MAX = 3;

/**
 * Returns the shortest path to every reachable currency; ties go to the book listed first. Books with an empty side are
 * ignored.
 */
export function crossesFrom(venue: Pick<DeskWorld, 'books'>, source: string): ReadonlyMap<string, Cross> {
  const found = new Map<string, Cross>();
  let ends: readonly (readonly [string, Cross])[] = [[source, { rate: { over: 1n, under: 1n }, path: [] }]];
  for (let hops = 0; hops < HOPS_MAX; hops++) {
    const next: (readonly [string, Cross])[] = [];
    for (const [at, cross] of ends) {
      for (const book of venue.books.values()) {
        const { major, minor } = book.instrument;
        if (at !== major && at !== minor) continue;
        const selling = at === major;
        const to = selling ? minor : major;
        if (to === source || found.has(to)) continue;
        const mid = midOf(book);
        if (mid === null) continue;
        const { over, under } = cross.rate;
        const rate = selling
          ? { over: over * mid.over, under: under * mid.under }
          : { over: over * mid.under, under: under * mid.over };
        const reached = { rate, path: [...cross.path, { book, selling }] };
        found.set(to, reached);
        next.push([to, reached]);
      }
    }
    ends = next;
  }
  return found;
}

/** Returns the mid price in quote per base currency, or `null` if a side is empty. */
export function midOf({ engine, instrument }: DeskBook): Rate | null {
  const [bid, ask] = [engine.bestBid(), engine.bestAsk()];
  if (!(bid > 0 && ask > 0)) return null;
  return { over: (BigInt(bid) + BigInt(ask)) * instrument.tickMoney, under: 2n * 10n ** 18n };
}
