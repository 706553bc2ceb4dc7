/** A look at several books: what is measured of each, which comes first, and what is said of it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ranked,
  scoutedBook,
  scoutPage,
  scoutWords,
  type ScoutedBook,
  type Scouting,
} from '../../../backtest/index.ts';
import { marketSeen } from '../../../backtest/scout/marketSeen.ts';
import { verdictDistance } from '../../../backtest/scout/scouting.ts';
import { describeScouting } from '../../../backtest/app/scout/scoutText.ts';
import { amount, price } from '../../../src/core/index.ts';
import { finishTape, SIDE, TapeBuilder } from '../../../src/tape/index.ts';
import { runsOf } from '../../many.ts';
import { plantedMarket } from '../profile/plantedMarket.ts';
import { FEE, goodBook, tenBooks } from './plantedBooks.ts';

const scoutingOf = (books: readonly ScoutedBook[], of: Partial<Scouting> = {}): Scouting => ({
  made: { puntas: '0', node: '0' },
  ...{ looked: 'a test', fees: `${FEE} bps`, cadenceMs: 1_000, latencyMs: 25, horizonS: 60, leftOut: [] },
  ...ranked(books),
  ...of,
});

const books = tenBooks(1);

describe('ten books of which one pays', () => {
  const scouting = scoutingOf(books);

  test('that one comes first and is the only one to be quoted', () => {
    expect(scouting.books.map(({ name, verdict }) => (verdict.quote ? name : '')).join('')).toBe('good');
    expect(scouting.books[0]?.name).toBe('good');
    const { verdict } = scouting.books[0]!;
    expect(verdict.netPerHour!.low).toBeGreaterThan(0);
    expect(verdict.breakEvenFeeBps!).toBeGreaterThan(FEE);
    // What a maker 20 bps away keeps is 13; nothing is known of one beyond the takers.
    expect(verdict.breakEvenFeeBps!).toBeLessThan(40);
  });

  test('its table fits 80 columns and has every book', () => {
    const lines = describeScouting(scouting).split('\n');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    for (const { name } of books) expect(lines.some(line => line.startsWith(name))).toBe(true);
    expect(lines[0]).toMatch(/^Quoting is profitable in 1 of 10 books\. Best: good, /);
  });

  test('at a fee that none can bear, it says in the first words that nothing pays, and at which fee one would', () => {
    const dear = scoutingOf([goodBook(1, 60)]);
    expect(scoutWords(dear)[0]).toMatch(
      /^Quoting is not profitable in any book: .*The closest is good, which would be profitable at a maker fee of [\d.]+ bps or less; the assumed fee is 60\.0 bps\.$/,
    );
  });

  test('its page shows every book and no number that is none, and nothing put into it becomes a tag', () => {
    const parts = { library: '', libraryStyle: '', script: '' };
    const evil = '<img src=x onerror=alert(1)>';
    const html = scoutPage(
      { ...scouting, looked: evil, books: scouting.books.map(book => ({ ...book, name: `${book.name}${evil}` })) },
      parts,
    );
    expect(/NaN|undefined|Infinity/.test(html)).toBe(false);
    expect(html.replace(/<(script|style)[^>]*>.*?<\/\1>/gs, '')).not.toContain('<img');
    for (const { name } of books) expect(html).toContain(`<th>${name}&lt;img`);
    // Net and fees of all, and two plots a book.
    expect(html.match(/class="plot/g)?.length).toBe(
      2 + scouting.books.filter(({ curve }) => curve.length > 0).length * 2,
    );
  });
});

describe('what is measured of a book', () => {
  /** A middle of 100,000 ticks, 10 bps to either side; after 30 s somebody buys a lot at the ask, and after 50 s the book is 20 bps higher. */
  const tape = (gap: boolean) => {
    const rows = new TapeBuilder();
    const book = (at: number, mid: number, before?: number) => {
      for (const [side, sign] of [
        [SIDE.buy, -1],
        [SIDE.sell, 1],
      ] as const) {
        if (before !== undefined) rows.level(at, at, side, price(before + sign * 100), amount(0));
        rows.level(at, at, side, price(mid + sign * 100), amount(5));
      }
    };
    book(0, 100_000);
    rows.trade(30_000, 30_000, SIDE.buy, price(100_100), amount(100_000_000));
    book(50_000, 100_200, 100_000);
    rows.trade(130_000, 130_000, SIDE.buy, price(100_300), amount(100_000_000));
    book(200_000, 100_201, 100_200);
    const made = finishTape({ source: 'a test', book: 'btc_mxn', tick: '1', depth: 1, columns: rows.columns() });
    return gap ? { ...made, gaps: [{ from: 100_000, to: 160_000, why: 'a test' }] } : made;
  };

  test('half the spread, what was traded in an hour, and what was left to the maker', () => {
    const seen = marketSeen(tape(false));
    expect(seen.seconds).toBe(200);
    expect(seen.halfSpreadBps).toBeCloseTo(10, 1);
    expect(seen.tradesPerHour).toBeCloseTo((2 / 200) * 3_600, 6);
    expect(seen.valuePerHour).toBeCloseTo(((100_100 + 100_300) / 200) * 3_600, 3);
    const left = (s: number) => seen.maker.find(({ seconds }) => seconds === s)?.bps;
    expect(left(15)).toBeCloseTo(10, 1);
    // The first maker sold at 100,100 what is worth 100,200 after a minute; the second at 100,300 what is worth 100,200.
    expect(left(60)).toBeCloseTo(0, 1);
  });

  test('without the time of a gap, and without what was traded in it', () => {
    const seen = marketSeen(tape(true));
    expect([seen.seconds, seen.trades, seen.gaps]).toEqual([140, 1, { count: 1, seconds: 60 }]);
    expect(seen.maker.find(({ seconds }) => seconds === 60)?.bps).toBeCloseTo(-10, 1);
  });

  test('of a book without a trade nothing is judged, and it is said', () => {
    const rows = new TapeBuilder();
    for (const at of [0, 60_000]) {
      rows.level(at, at, SIDE.buy, price(99), amount(1 + at));
      rows.level(at, at, SIDE.sell, price(101), amount(1 + at));
    }
    const still = finishTape({ source: 'a test', book: 'btc_mxn', tick: '1', depth: 1, columns: rows.columns() });
    const book = scoutedBook('still', still, {
      cadenceMs: 1_000,
      latencyMs: 25,
      feeBps: 4,
      tiers: [],
      volume30d: 0,
      seed: 1,
    });
    expect(book.verdict.quote).toBe(false);
    expect(scoutWords(scoutingOf([book]))[0]).toMatch(/No book had enough trades to judge/);
  });
});

test('the tier that a month of quoting reaches is the first whose bound is at least the volume, at worst the last, and is worth the difference of the fees', () => {
  const truth = { perMinute: 6, decayPerBps: 0.1, move: 1, moveOfReach: 0.2, volatilityBps: 40 };
  const market = plantedMarket(5, 0.5, truth);
  const scouted = (tiers: readonly (readonly [bound: number, makerBps: number])[], volume30d: number): ScoutedBook =>
    scoutedBook('one', market, {
      ...{ cadenceMs: 1_000, latencyMs: 25, feeBps: FEE, volume30d, seed: 1 },
      tiers: tiers.map(([bound, bps]) => ({ volume: String(bound), maker: String(bps / 1e4), taker: '0.01' })),
    });
  const one = scouted([], 7_000);
  const { valuePerHour } = one.curve.find(({ distanceBps }) => distanceBps === verdictDistance(one.verdict))!;
  expect([one.reached, valuePerHour > 0]).toEqual([null, true]);
  // Thirty days have 720 hours.
  const volume = 7_000 + 720 * valuePerHour;
  for (const [bounds, makerBps] of [
    [[0.5, 1, 2], 5],
    [[0.5, 0.999, 2], 3],
    [[1.001, 2, 3], 6],
    [[0.3, 0.4, 0.5], 3],
  ] as const) {
    const { reached } = scouted(
      bounds.map((share, i) => [volume * share, [6, 5, 3][i]!] as const),
      7_000,
    );
    expect(reached!.volume30d).toBe(volume);
    expect(reached!.feeBps).toBeCloseTo(makerBps, 9);
    expect(reached!.worthPerHour).toBeCloseTo(((FEE - makerBps) / 1e4) * valuePerHour, 6);
  }
});

describe('the order of books', () => {
  const good = books.find(({ name }) => name === 'good')!;
  const of = (name: string, minor: string, net: number, more: Partial<ScoutedBook> = {}): ScoutedBook => ({
    ...good,
    ...{ name, minor, mid: 20, capital: 100 },
    verdict: {
      ...good.verdict,
      netPerHour: { value: net, low: net / 2, high: 2 * net, error: 1 },
    },
    ...more,
  });

  test('is that of net an hour in one currency, through books that were seen at the same time', () => {
    const three = [
      of('small', 'mxn', 100),
      of('large', 'usd', 10, { major: 'eth' }),
      of('rate', 'mxn', 1, { major: 'usd' }),
    ];
    expect(ranked(three, 'mxn').books.map(({ name, rate }) => [name, rate])).toEqual([
      ['large', 20],
      ['small', 1],
      ['rate', 1],
    ]);
    const later = { major: 'usd', from: good.to + 1, to: good.to + 2 };
    const [a, b, c] = ranked([three[0]!, three[1]!, of('rate', 'mxn', 1, later)], 'mxn').books;
    expect([a?.name, b?.name, c?.name, c?.rate]).toEqual(['small', 'rate', 'large', null]);
  });

  test('a large sum that may be chance comes behind a small one that is none', () => {
    const chance = {
      quote: false,
      why: 'chance',
      ...{ isKnown: false, hoursMissing: 5 },
      bestDistanceBps: 20,
      distanceInterval: [10, 30],
      netPerHour: { value: 1e6, low: -1, high: 3e6, error: 1 },
      breakEvenFeeBps: 1,
    } as const;
    expect(ranked([of('much', 'mxn', 0, { verdict: chance }), of('little', 'mxn', 1)]).books[0]?.name).toBe('little');
  });

  test('is: those that pay by their net in one currency, those without a rate by their capital, then by what the fee lacks', () => {
    const number = fc.integer({ min: 1, max: 9 });
    const drawn = fc.record({
      ...{
        minor: fc.constantFrom('mxn', 'usd', 'eur'),
        quote: fc.boolean(),
        net: number,
        capital: number,
        fee: number,
      },
      left: fc.option(number),
    });
    fc.assert(
      fc.property(fc.uniqueArray(drawn, { maxLength: 9, selector: one => JSON.stringify(one) }), all => {
        const made = all.map(({ minor, quote, net, capital, fee, left }, n) => {
          const verdict = quote ? { ...good.verdict } : { ...books.find(each => !each.verdict.quote)!.verdict };
          const at = verdictDistance(verdict);
          const point = { ...good.curve[0]!, distanceBps: at ?? 0 };
          return of(String(n), minor, 0, {
            ...{
              major: `base${n}`,
              feeBps: fee,
              capital,
              verdict: { ...verdict, netPerHour: { value: net, low: 1, high: 2, error: 1 } },
            },
            curve: [{ ...point, left: left === null ? null : { value: left, low: left, high: left } }],
          });
        });
        const rate = of('rate', 'mxn', 0, { major: 'usd', verdict: books.find(each => !each.verdict.quote)!.verdict });
        const rates: Readonly<Record<string, number | null>> = { mxn: 1, usd: 20, eur: null };
        const order = ranked([...made, rate], 'mxn').books.filter(({ name }) => name !== 'rate');
        expect(order.map(book => [book.name, book.rate])).toEqual(order.map(({ name, minor }) => [name, rates[minor]]));
        /** Rank by group, and the worth within the group. */
        const placeOf = ({ name }: ScoutedBook): readonly [number, number] => {
          const { minor, quote, net, capital, fee, left } = all[Number(name)]!;
          if (!quote) return [2, left === null ? -1e9 : left - fee];
          const rate = rates[minor] ?? null;
          return rate === null ? [1, net / capital] : [0, net * rate];
        };
        for (const [i, book] of order.entries()) {
          if (i === 0) continue;
          const [[group, worth], [before, more]] = [placeOf(book), placeOf(order[i - 1]!)];
          expect(group > before || (group === before && worth <= more)).toBe(true);
        }
        expect(order).toHaveLength(all.length);
      }),
      runsOf(300, 60),
    );
  });
});
