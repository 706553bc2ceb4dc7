import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cyclesOf, legsOf, pairOf, priceAcross } from '../../../src/core/index.ts';

test.each([
  [['btc_usd', 'usd_mxn'], [80_000, 18.5], 1_480_000],
  [['btc_usd', 'mxn_usd'], [80_000, 0.05], 1_600_000],
  [['usd_btc', 'usd_mxn'], [0.0000125, 18.5], 1_480_000],
  [['btc_eth', 'eth_usd', 'usd_mxn'], [20, 4_000, 18.5], 1_480_000],
])('btc_mxn is reached through %j: each book multiplies or divides', (books, middles, price) => {
  expect(priceAcross(legsOf('btc_mxn', books)!, middles)).toBeCloseTo(price, 6);
});

test.each([[['usd_mxn', 'btc_usd']], [['btc_usd']], [['eth_usd', 'usd_mxn']], [[]]])(
  'btc_mxn is not reached through %j',
  books => {
    expect(legsOf('btc_mxn', books)).toBeNull();
  },
);

test('a missing middle makes no price', () => {
  expect(priceAcross(legsOf('btc_mxn', ['btc_usd', 'usd_mxn'])!, [80_000])).toBeNaN();
});

test('the cycles of three books are both ways round them, whatever the order of the books', () => {
  const found = cyclesOf(['usd_mxn', 'eth_mxn', 'btc_mxn', 'btc_usd']);
  expect(found).toHaveLength(2);
  expect(found.map(cycle => cycle.map(({ book, divides }) => `${divides ? '/' : '*'}${book}`).join(' '))).toEqual([
    '/btc_usd *btc_mxn /usd_mxn',
    '*usd_mxn /btc_mxn *btc_usd',
  ]);
});

test('each cycle comes back to its first currency, and is worth 1 at prices that agree', () => {
  const currencies = ['btc', 'eth', 'usd', 'mxn', 'brl'];
  const pairs = currencies.flatMap((base, i) => currencies.slice(i + 1).map(quote => [base, quote] as const));
  const books = fc
    .shuffledSubarray(pairs)
    .chain(chosen => fc.tuple(fc.constant(chosen), fc.array(fc.boolean(), { minLength: 10, maxLength: 10 })))
    .map(([chosen, turned]) => chosen.map(([a, b], i) => (turned[i] ? `${b}_${a}` : `${a}_${b}`)));
  const values = fc.array(fc.double({ min: 0.01, max: 1_000, noNaN: true }), { minLength: 5, maxLength: 5 });
  fc.assert(
    fc.property(books, values, (names, worth) => {
      const valueOf = (currency: string) => worth[currencies.indexOf(currency)]!;
      const cycles = cyclesOf(names);
      for (const cycle of cycles) {
        const ends = cycle.map(({ book, divides }) => (divides ? pairOf(book).toReversed() : pairOf(book)));
        for (const [i, [, to]] of ends.entries()) expect(to).toBe(ends[(i + 1) % 3]![0]);
        const mids = cycle.map(({ book }) => valueOf(pairOf(book)[0]) / valueOf(pairOf(book)[1]));
        expect(priceAcross(cycle, mids)).toBeCloseTo(1, 9);
      }
      // Each three currencies with all three books between them are one cycle, in two directions.
      const joined = (a: string, b: string) => names.some(name => [`${a}_${b}`, `${b}_${a}`].includes(name));
      const triples = currencies.flatMap((a, i) =>
        currencies.slice(i + 1).flatMap((b, j) => currencies.slice(i + j + 2).map(c => [a, b, c] as const)),
      );
      const whole = triples.filter(([a, b, c]) => joined(a, b) && joined(b, c) && joined(a, c));
      expect(cycles).toHaveLength(2 * whole.length);
      expect(new Set(cycles.map(cycle => JSON.stringify(cycle))).size).toBe(cycles.length);
    }),
  );
});
