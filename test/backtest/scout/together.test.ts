/** Joint moves of the books of a scout: planted correlations, the common clock, and what is said of each pair. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  booksTogether,
  ranked,
  scoutPage,
  togetherWords,
  type BookPair,
  type Scouting,
  type TimedBook,
  type JointMoves,
} from '../../../backtest/index.ts';
import { togetherLines } from '../../../backtest/app/scout/togetherText.ts';
import { commonSeconds, impliedBy } from '../../../backtest/scout/together.ts';
import { normal, randomOf } from '../../../src/core/index.ts';
import type { LogSeconds } from '../../../src/tape/index.ts';
import { runsOf, sized } from '../../many.ts';
import { FEE, goodBook } from './plantedBooks.ts';

const HOUR_S = 3_600;

const timed = (name: string, { from, values }: LogSeconds, volatilityBps: number | null = null): TimedBook => ({
  book: { name, book: name, from: 1_000 * from, to: 1_000 * (from + values.length), volatilityBps },
  log: { from, values },
});

/** Prices of btc and usd in mxn with a correlation, at each second, and the third book of their triangle. */
function triangle(seed: number, correlation: number, seconds = 12 * HOUR_S, from = 0): readonly TimedBook[] {
  const random = randomOf(seed);
  for (let i = 0; i < 50; i++) random.next();
  const [btc, usd] = [new Float64Array(seconds), new Float64Array(seconds)];
  for (let i = 1; i < seconds; i++) {
    const [first, second] = [normal(random), normal(random)];
    btc[i] = btc[i - 1]! + 1e-4 * first;
    usd[i] = usd[i - 1]! + 1e-4 * (correlation * first + Math.sqrt(1 - correlation ** 2) * second);
  }
  const across = btc.map((value, i) => value - usd[i]!);
  return [
    timed('btc_mxn', { from, values: btc }),
    timed('usd_mxn', { from, values: usd }),
    timed('btc_usd', { from, values: across }, 10_000 * Math.sqrt(HOUR_S * 2 * (1 - correlation) * 1e-8)),
  ];
}

const pairIn = ({ pairs }: JointMoves, a: string, b: string): BookPair =>
  pairs.find(pair => (pair.a === a && pair.b === b) || (pair.a === b && pair.b === a))!;

describe('a triangle of books', () => {
  test.each([0.6, -0.5])('with a planted correlation of %f shows it and its risks', correlation => {
    const found = booksTogether(triangle(1, correlation))!;
    const pair = pairIn(found, 'btc_mxn', 'usd_mxn');
    expect(pair.correlation!.low).toBeLessThan(correlation);
    expect(pair.correlation!.high).toBeGreaterThan(correlation);
    expect([pair.seconds, pair.horizonS, pair.neededSeconds]).toEqual([12 * HOUR_S - 1, 300, null]);
    expect(pair.usedCorrelation / correlation).toBeGreaterThan(0.7);
    expect(pair.sameSide).toBeCloseTo(Math.sqrt(2 + 2 * pair.usedCorrelation), 12);
    expect(pair.sameSide ** 2 + pair.oppositeSides ** 2).toBeCloseTo(4, 12);
  });

  test('has three variances that give the covariance of two of its books', () => {
    const found = booksTogether(triangle(2, 0.6))!;
    const { implied } = pairIn(found, 'btc_mxn', 'usd_mxn');
    expect(implied).toMatchObject({ book: 'btc_usd', isSecondShort: true });
    // The 144 horizons of 12 h give the volatility with an error of 5%.
    expect(Math.abs(implied!.volatilityBps! / implied!.recordedBps! - 1)).toBeLessThan(0.15);
    expect(pairIn(found, 'btc_mxn', 'btc_usd').implied).toMatchObject({ book: 'usd_mxn', isSecondShort: true });
    expect(pairIn(found, 'usd_mxn', 'btc_usd').implied).toMatchObject({ book: 'btc_mxn', isSecondShort: false });
  });

  test('of which two books are independent has a zero between them in at least 90 of 100 seeds', () => {
    const seeds = sized(100, 20);
    let zeros = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      const pair = pairIn(booksTogether(triangle(seed, 0, 2 * HOUR_S).slice(0, 2))!, 'btc_mxn', 'usd_mxn');
      if (pair.usedCorrelation !== 0) continue;
      zeros++;
      expect([pair.sameSide, pair.oppositeSides]).toEqual([Math.SQRT2, Math.SQRT2]);
      expect(pair.neededSeconds).toBeGreaterThan(pair.seconds);
    }
    expect(zeros).toBeGreaterThanOrEqual(0.9 * seeds);
  });

  test('gives the same results for another order of its books, and at any time', () => {
    const books = triangle(3, 0.4, 3 * HOUR_S);
    const found = booksTogether(books)!;
    fc.assert(
      fc.property(
        fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
        fc.integer({ min: 0, max: 2_000_000_000 }),
        (order, later) => {
          const again = booksTogether(
            order.map(i => {
              const { book, log } = books[i]!;
              return timed(book.name, { from: log.from + later, values: log.values }, book.volatilityBps);
            }),
          )!;
          expect(again.allSameSide).toBeCloseTo(found.allSameSide, 9);
          for (const { a, b, correlation, usedCorrelation, implied } of found.pairs) {
            const other = pairIn(again, a, b);
            expect(other.correlation).toEqual(correlation);
            expect(other.usedCorrelation).toBeCloseTo(usedCorrelation, 9);
            expect(other.implied?.book).toBe(implied?.book);
          }
        },
      ),
      runsOf(20, 5),
    );
  });
});

describe('the common clock', () => {
  const { NaN: none } = Number;
  const seconds = (from: number, values: readonly number[]): LogSeconds => ({
    from,
    values: Float64Array.from(values),
  });

  test('has only seconds in which both books have a price, without the moves over missing seconds', () => {
    const { x, y } = commonSeconds(seconds(10, [1, 2, none, 7, 8, 8]), seconds(11, [5, 6, 6, 9, none, 3]));
    expect([...x]).toEqual([2, 2, 3]);
    expect([...y]).toEqual([5, 5, 8]);
  });

  test('is empty for recordings of different times, and the pair says so', () => {
    const [first, second] = [triangle(1, 0.6, HOUR_S), triangle(1, 0.6, HOUR_S, 5 * HOUR_S)];
    const found = booksTogether([first[0]!, second[1]!])!;
    expect(found.pairs[0]).toMatchObject({ seconds: 0, correlation: null, usedCorrelation: 0, neededSeconds: 1_800 });
    expect(togetherWords(found).at(-1)).toBe('Not recorded at the same time: btc_mxn and usd_mxn.');
  });

  test('is too short for half an hour, or for prices that move rarely, and the pair says how much is missing', () => {
    const short = booksTogether(triangle(1, 0.6, 1_200).slice(0, 2))!;
    expect(togetherWords(short)).toEqual([
      'How the books move together is unknown.',
      'Too little common time to say: btc_mxn and usd_mxn (20 min of 30 min).',
    ]);
    const rare = triangle(1, 0.6, 2 * HOUR_S).map(({ book, log }, i) => ({
      book,
      log: { ...log, values: log.values.map((_, k) => log.values[k - (k % 60) + (i % 2)]!) },
    }));
    const { horizonS, neededSeconds, correlation } = booksTogether(rare.slice(0, 2))!.pairs[0]!;
    expect(correlation).toBeNull();
    expect(horizonS).toBeGreaterThan(300);
    expect(neededSeconds).toBe(30 * horizonS!);
  });

  test('shows nothing of a price that never moves', () => {
    const [moving] = triangle(1, 0.6, HOUR_S);
    const still = timed('dai_usd', { from: 0, values: new Float64Array(HOUR_S) });
    const found = booksTogether([moving!, still])!;
    expect(found.pairs[0]).toMatchObject({ correlation: null, horizonS: null, neededSeconds: null, implied: null });
    expect(togetherWords(found).at(-1)).toBe('Prices that moved too little to say: btc_mxn and dai_usd.');
  });
});

test.each([
  ['btc_mxn', 'btc_usd', { book: 'usd_mxn', isSecondShort: true }],
  ['btc_mxn', 'eth_mxn', { book: 'btc_eth', isSecondShort: true }],
  ['btc_usd', 'usd_mxn', { book: 'btc_mxn', isSecondShort: false }],
  ['usd_mxn', 'btc_usd', { book: 'btc_mxn', isSecondShort: false }],
  ['btc_mxn', 'btc_mxn', null],
  ['btc_mxn', 'mxn_btc', null],
  ['btc_mxn', 'eth_usd', null],
])('%s and %s imply the right book', (a, b, expected) => {
  expect(impliedBy(a, b)).toEqual(expected);
});

describe('what is said', () => {
  const found = booksTogether(triangle(1, 0.6))!;

  test('names the strongest pair with its risks, all books, and implied books, in lines of 80 columns', () => {
    const words = togetherWords(found);
    expect(words[0]).toMatch(
      /^\w+ and \w+ move (?:together|against each other): long in both carries \d\.\d\d times the risk of one, and long in one and short in the other \d\.\d\d times\.$/,
    );
    expect(words[1]).toBe(
      `Inventory of equal risk on the same side of all 3 books carries ${found.allSameSide.toFixed(2)} times the risk of one; 1.73 if they were independent.`,
    );
    const isOneUnknown = found.pairs.map((pair, i) => (i === 2 ? { ...pair, correlation: null } : pair));
    expect(togetherWords({ ...found, pairs: isOneUnknown })[1]).toBe(`${words[1]} Unknown pairs count as unrelated.`);
    expect(words.slice(2)).toContainEqual(
      expect.stringMatching(
        /^Long btc_mxn and short usd_mxn of the same value is a position in btc_usd, with a volatility of [\d.]+ bps per hour \(recorded there: [\d.]+ bps\)\.$/,
      ),
    );
    const lines = togetherLines(found);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    expect(lines[0]).toMatch(/^pair +corr +low +high +time +over +both +opp\. +needs$/);
    for (const { a, b } of found.pairs) expect(lines.some(line => line.startsWith(`${a} ${b} `))).toBe(true);
  });

  test('names an implied book of unrelated books only if it was recorded', () => {
    const pair: BookPair = { ...pairIn(found, 'btc_mxn', 'usd_mxn'), usedCorrelation: 0 };
    const implied = { ...pair.implied!, recordedBps: null };
    const said = (of: BookPair) => togetherWords({ pairs: [of], allSameSide: Math.SQRT2 }).join(' ');
    expect(said(pair)).toContain('is a position in btc_usd');
    expect(said({ ...pair, implied })).not.toContain('is a position in');
    expect(said({ ...pair, implied, usedCorrelation: 0.5 })).toContain('is a position in btc_usd');
    expect(said({ ...pair, implied: { ...pair.implied!, volatilityBps: null } })).not.toContain('is a position in');
  });

  test('names zero as zero: the pair counts as unrelated, with the time that would show its correlation', () => {
    const pair: BookPair = {
      ...pairIn(found, 'btc_mxn', 'usd_mxn'),
      ...{ correlation: { value: 0.1, low: -0.1, high: 0.3 }, usedCorrelation: 0, neededSeconds: 90 * HOUR_S },
      ...{ sameSide: Math.SQRT2, oppositeSides: Math.SQRT2, implied: null },
    };
    const words = togetherWords({ pairs: [pair], allSameSide: Math.SQRT2 });
    expect(words).toEqual(['No two books move together beyond chance (1 pair).']);
    const lines = togetherLines({ pairs: [pair], allSameSide: Math.SQRT2 });
    expect(lines[1]).toMatch(/^btc_mxn usd_mxn 0\.10 -0\.10 0\.30 12 h 5 min 1\.41 1\.41 3 d 18 h$/);
  });

  test('is on the page, with a color for each known correlation, and nothing put into it becomes a tag', () => {
    const evil = '<img src=x onerror=alert(1)>';
    const [a, b] = [`a${evil}`, 'b'];
    const together: JointMoves = { ...found, pairs: [{ ...found.pairs[0]!, a, b }] };
    const book = goodBook(1);
    const scouting: Scouting = {
      made: { puntas: '0', node: '0' },
      ...{ looked: 'a test', fees: `${FEE} bps`, cadenceMs: 1_000, latencyMs: 25, horizonS: 60, leftOut: [] },
      ...ranked([
        { ...book, name: a },
        { ...book, name: b },
      ]),
      together,
    };
    const page = scoutPage(scouting, { library: '', libraryStyle: '', script: '' });
    const visible = page.replace(/<(script|style)[^>]*>.*?<\/\1>/gs, '');
    expect(visible).toContain('How the books move together');
    expect(
      visible.match(/style="background:color-mix\(in srgb,var\(--(?:buy|sell)\) \d+%,transparent\)"/g),
    ).toHaveLength(2);
    expect(visible).not.toContain('<img');
    expect(/NaN|undefined|Infinity/.test(visible)).toBe(false);
  });

  test('is nothing for a single book', () => {
    expect(booksTogether(triangle(1, 0.6).slice(0, 1))).toBeNull();
  });
});
