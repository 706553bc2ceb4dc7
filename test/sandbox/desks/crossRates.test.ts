/** Rates through several books, beside a search that tries every chain of books. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crossesFrom, HOPS_MAX } from '../../../src/sandbox/desks/crossRates.ts';
import { moneyOf } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const CURRENCIES = ['btc', 'eth', 'mxn', 'usd', 'brl', 'xrp'];
const book = fc
  .record({
    major: fc.constantFrom(...CURRENCIES),
    minor: fc.constantFrom(...CURRENCIES),
    bid: fc.nat(50),
    ask: fc.nat(50),
    tick: fc.constantFrom('0.01', '1', '25'),
  })
  .filter(({ major, minor }) => major !== minor);
type Book = typeof book extends fc.Arbitrary<infer T> ? T : never;

type Chain = { readonly books: readonly number[]; readonly to: string; readonly rate: number };

/** All chains of up to so many books that visit no currency twice, the earlier books first. */
function chainsFrom(books: readonly Book[], at: string, visited: readonly string[]): readonly Chain[] {
  if (visited.length > HOPS_MAX) return [];
  return books.flatMap(({ major, minor, bid, ask, tick }, i) => {
    const to = at === major ? minor : at === minor ? major : null;
    if (to === null || visited.includes(to) || bid === 0 || ask === 0) return [];
    const mid = ((bid + ask) / 2) * Number(tick);
    const step = at === major ? mid : 1 / mid;
    const rest = chainsFrom(books, to, [...visited, to]);
    return [
      { books: [i], to, rate: step },
      ...rest.map(chain => ({ books: [i, ...chain.books], to: chain.to, rate: step * chain.rate })),
    ];
  });
}

test('a rate is that of the shortest chain of books with both sides, and of equal ones of the books that are listed first', () => {
  const hops = new Set<number>();
  fc.assert(
    fc.property(fc.array(book, { minLength: 1, maxLength: 9 }), fc.constantFrom(...CURRENCIES), (books, source) => {
      const listed = books.map(({ major, minor, bid, ask, tick }) => ({
        engine: { bestBid: () => bid, bestAsk: () => ask },
        instrument: { major, minor, tickMoney: moneyOf(tick) },
      }));
      const venue = { books: new Map(listed.map((each, i) => [String(i), each])) };
      const found = crossesFrom(venue as never, source);
      const chains = chainsFrom(books, source, [source]);
      for (const to of CURRENCIES) {
        const all = chains.filter(chain => chain.to === to);
        const shortest = Math.min(...all.map(chain => chain.books.length));
        const wanted = all.find(chain => chain.books.length === shortest);
        const cross = found.get(to);
        expect(cross?.path.map(hop => listed.indexOf(hop.book as never))).toEqual(wanted?.books);
        if (cross === undefined) continue;
        hops.add(shortest);
        expect(Number(cross.rate.over) / Number(cross.rate.under) / wanted!.rate).toBeCloseTo(1, 9);
        let at = source;
        for (const {
          book: { instrument },
          selling,
        } of cross.path) {
          expect(at).toBe(selling ? instrument.major : instrument.minor);
          at = selling ? instrument.minor : instrument.major;
        }
      }
    }),
    runsOf(500, 200),
  );
  expect([...hops].sort()).toEqual([1, 2, 3]);
});
