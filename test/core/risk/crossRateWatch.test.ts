import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CrossRateWatch, pairOf } from '../../../src/core/index.ts';
import { between } from '../../draws.ts';
import { runsOf } from '../../many.ts';

const RULES = { withinMs: 1_000 };
const TRIANGLE = ['btc_mxn', 'btc_usd', 'usd_mxn'];
const STALE_MS = 15_000;
const FIVE = [...TRIANGLE, 'eth_mxn', 'eth_btc'];
const VALUES: Readonly<Record<string, number>> = { btc: 1_200_000, usd: 18, eth: 45_000, eur: 20, brl: 3.5, mxn: 1 };
const HALF_SPREAD = 3e-4;
const FEE = 0.001;
/** Books of FIVE that are in exactly the same cycles: data cannot tell which of them is wrong. */
const SAME_CYCLES = [['btc_mxn'], ['btc_usd', 'usd_mxn'], ['eth_mxn', 'eth_btc']];
/** A triangle that shares only the peso with the others. */
const APART = ['eur_mxn', 'eur_brl', 'brl_mxn'];
/** Cycles of FIVE and of APART. */
const CYCLES = [TRIANGLE, ['btc_mxn', 'eth_mxn', 'eth_btc'], ['btc_usd', 'usd_mxn', 'eth_mxn', 'eth_btc'], APART];
/** More than the half-spreads and fees of three books. */
const FAR = 0.02;

/** Reads of books, one after another, with prices that agree except for the errors (logarithms) of some books. */
class Reads {
  at = 1_000_000;
  readonly watch: CrossRateWatch;
  readonly #symbols: readonly string[];
  readonly #halfSpreads: Readonly<Record<string, number>>;

  constructor(symbols: readonly string[], halfSpreads: Readonly<Record<string, number>> = {}) {
    this.#symbols = symbols;
    this.#halfSpreads = halfSpreads;
    this.watch = new CrossRateWatch(symbols, RULES, STALE_MS);
  }

  mid(symbol: string, error = 0): number {
    const [base, quote] = pairOf(symbol);
    return (VALUES[base]! / VALUES[quote]!) * Math.exp(error);
  }

  /** Reads one book. `ageMs`: time since the start of the read. */
  one(symbol: string, error = 0, ageMs = 0): readonly string[] {
    const mid = this.mid(symbol, error);
    const half = this.#halfSpreads[symbol] ?? HALF_SPREAD;
    const read = { readAt: this.at - ageMs, bid: mid * (1 - half), ask: mid * (1 + half), fee: FEE };
    return this.watch.read(this.#symbols.indexOf(symbol), this.at, read).map(i => this.#symbols[i]!);
  }

  /** Reads all books, `apartMs` apart, five seconds after the last. */
  round(errors: Readonly<Record<string, number>> = {}, apartMs = 10, order = this.#symbols): this {
    this.at += 5_000;
    for (const symbol of order) {
      this.at += apartMs;
      this.one(symbol, errors[symbol]);
    }
    return this;
  }

  rounds(n: number, errors: Readonly<Record<string, number>> = {}, apartMs = 10, order = this.#symbols): this {
    for (let k = 0; k < n; k++) this.round(errors, apartMs, order);
    return this;
  }

  /** Correction of a book's price, as the relative distance from its mid price. */
  correction(symbol: string, error = 0, maxAgeMs = 15_000): number {
    const mid = this.mid(symbol, error);
    return this.watch.correction(this.#symbols.indexOf(symbol), mid, this.at, maxAgeMs) / mid;
  }

  doubt(symbol: string) {
    return this.watch.doubt(this.#symbols.indexOf(symbol));
  }

  /** Effect of the doubt about each book. */
  get doubts(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.#symbols.flatMap(symbol => {
        const doubt = this.doubt(symbol);
        return doubt === null ? [] : [[symbol, doubt.isPulled ? 'pulled' : 'moved']];
      }),
    );
  }
}

describe('the watch over cross rates', () => {
  test('corrects each price towards what the others imply, after two comparisons', () => {
    const reads = new Reads(TRIANGLE).round({ btc_mxn: 0.0009 });
    expect(reads.correction('btc_mxn', 0.0009)).toBe(0);
    reads.round({ btc_mxn: 0.0009 });
    expect(reads.doubts).toEqual({});
    const corrections = TRIANGLE.map((symbol, i) => Math.log1p(reads.correction(symbol, i === 0 ? 0.0009 : 0)));
    expect(corrections[0]).toBeLessThan(-0.0002);
    expect(corrections[1]).toBeGreaterThan(0.0002);
    expect(corrections[0]! - corrections[1]! - corrections[2]!).toBeCloseTo(-0.0009, 9);
  });

  test('subtracts what the book has moved since, and ends with the age of the comparison', () => {
    const reads = new Reads(TRIANGLE).rounds(2, { btc_mxn: 0.0009 });
    const full = reads.correction('btc_mxn', 0.0009);
    expect(reads.correction('btc_mxn', 0.0008)).toBeCloseTo(full + 0.0001, 6);
    expect(reads.correction('btc_mxn', 0.0001)).toBeCloseTo(0, 12);
    expect(reads.correction('btc_mxn', 0.002)).toBeCloseTo(full, 12);
    reads.at += 15_001;
    expect(reads.correction('btc_mxn', 0.0009)).toBe(0);
  });

  test('one triangle far apart: the oldest read is pulled, and the others move away, until they agree for ten seconds', () => {
    const reads = new Reads(TRIANGLE).rounds(2).round({ btc_usd: FAR });
    expect(reads.doubts).toEqual({});
    expect(reads.correction('btc_usd', FAR)).toBe(0);
    reads.round({ btc_usd: FAR });
    expect(reads.doubts).toEqual({ btc_mxn: 'pulled', btc_usd: 'moved', usd_mxn: 'moved' });
    expect(reads.doubt('btc_usd')?.distance).toBeCloseTo(FAR, 9);
    expect(reads.doubt('btc_mxn')?.distance).toBeCloseTo(-FAR, 9);
    // A later comparison with another oldest read keeps the pulled book.
    reads.round({ btc_usd: FAR }, 10, TRIANGLE.toReversed());
    expect(reads.doubts).toMatchObject({ btc_mxn: 'pulled' });
    reads.rounds(2);
    expect(reads.doubts).toMatchObject({ btc_mxn: 'pulled' });
    expect(reads.correction('usd_mxn')).toBe(0);
    reads.round();
    expect(reads.doubts).toEqual({});
  });

  test('with two cycles the wrong book is found, and the others still correct each other', () => {
    const errors = { btc_mxn: FAR, eth_mxn: 0.0009 };
    const reads = new Reads(FIVE).rounds(2, errors);
    expect(reads.doubts).toEqual({ btc_mxn: 'pulled' });
    expect(reads.doubt('btc_mxn')?.distance).toBeGreaterThan(FAR - 0.001);
    expect(reads.correction('eth_mxn', 0.0009)).toBeLessThan(-0.0001);
  });

  test('a moved quote returns if the pulled book can no longer be compared, and the pulled one stays pulled', () => {
    const reads = new Reads(TRIANGLE).rounds(2, { btc_usd: FAR });
    const comparedAt = reads.at;
    const [pulled, ...moved] = TRIANGLE;
    reads.watch.read(0, reads.at, null);
    const ended: string[] = [];
    while (reads.at + 5_000 <= comparedAt + 3 * STALE_MS) {
      reads.at += 5_000;
      for (const symbol of moved) ended.push(...reads.one(symbol));
    }
    expect(ended).toEqual([]);
    expect(Object.keys(reads.doubts)).toEqual(TRIANGLE);
    reads.at += 5_000;
    expect(reads.one('usd_mxn')).toEqual(moved);
    expect(reads.doubts).toEqual({ [pulled!]: 'pulled' });
    expect(reads.rounds(2).doubts).toEqual({ [pulled!]: 'pulled' });
    expect(reads.round().doubts).toEqual({});
  });

  test('a book that is never read in time is left out, and its absence for a while changes nothing', () => {
    const four = FIVE.filter(symbol => symbol !== 'btc_mxn');
    const reads = new Reads(FIVE).rounds(2, { btc_mxn: FAR, eth_mxn: 0.0009 });
    const before = reads.correction('eth_mxn', 0.0009, Infinity);
    for (let k = 0; k < 8; k++) reads.round({ eth_mxn: 0.002 }, 10, four);
    expect(reads.doubts).toEqual({ btc_mxn: 'pulled' });
    expect(reads.correction('eth_mxn', 0.0009, Infinity)).toBe(before);
    for (let k = 0; k < 3; k++) reads.round({ eth_mxn: 0.002 }, 10, four);
    expect(reads.doubts).toEqual({ btc_mxn: 'pulled' });
    expect(reads.correction('eth_mxn', 0.002)).toBeLessThan(-0.0004);
  });

  test('comparisons with a gap between them are not in a row', () => {
    const reads = new Reads(TRIANGLE).round({ btc_usd: FAR });
    for (const gapMs of [STALE_MS + 1, STALE_MS + 1]) {
      reads.at += gapMs;
      expect(reads.round({ btc_usd: FAR }).doubts).toEqual({});
    }
    expect(reads.round({ btc_usd: FAR }).doubts).not.toEqual({});
    reads.round();
    reads.at += STALE_MS;
    expect(reads.round().doubts).not.toEqual({});
    expect(reads.rounds(2).doubts).toEqual({});
  });

  test('an unrelated error does not hide others, nor correct books that share no cycle with it', () => {
    const wide = Object.fromEntries(APART.map(symbol => [symbol, 0.01]));
    const all = [...FIVE, ...APART];
    const reads = new Reads(all, wide).rounds(2, { btc_mxn: FAR, eur_mxn: 0.02 });
    expect(reads.doubts).toEqual({ btc_mxn: 'pulled' });
    const apart = new Reads(APART, wide).rounds(2, { eur_mxn: 0.02 });
    for (const symbol of APART) expect(reads.correction(symbol)).toBeCloseTo(apart.correction(symbol), 12);
  });

  test('an error beyond the threshold whose cycles lose does not hide one whose cycles gain', () => {
    // The tight books have the largest error in deviations; only a cycle through the free ones gains.
    const spreads = { ...Object.fromEntries(FIVE.map(symbol => [symbol, 1e-5])), eth_mxn: 0.004, eth_btc: 0.004 };
    const reads = new Reads(FIVE, spreads).rounds(2, { btc_usd: 0.0029, eth_mxn: 0.03 });
    expect(Object.values(reads.doubts)).toContain('pulled');
    expect(Object.keys(reads.doubts).toSorted()).toEqual(['eth_btc', 'eth_mxn']);
  });

  test('reports the books whose doubt began or ended, once', () => {
    const reads = new Reads(TRIANGLE).round({ usd_mxn: FAR });
    reads.at += 5_000;
    expect(reads.one('btc_mxn')).toEqual([]);
    expect(reads.one('btc_usd')).toEqual([]);
    expect(reads.one('usd_mxn', FAR)).toEqual(TRIANGLE);
    reads.at += 100;
    expect(reads.one('usd_mxn', FAR)).toEqual([]);
  });

  test('reads further apart than the limit, slow reads and books that cannot be quoted compare nothing', () => {
    expect(new Reads(TRIANGLE).rounds(5, { btc_usd: FAR }, 501).doubts).toEqual({});
    expect(new Reads(TRIANGLE).rounds(2, { btc_usd: FAR }, 500).doubts).not.toEqual({});
    const reads = new Reads(TRIANGLE);
    for (let k = 0; k < 5; k++) {
      reads.at += 5_000;
      for (const symbol of TRIANGLE) reads.one(symbol, symbol === 'btc_usd' ? FAR : 0, 1_001);
    }
    expect(reads.doubts).toEqual({});
    reads.round({ btc_usd: FAR });
    expect(reads.watch.read(2, reads.at, null)).toEqual([]);
    for (let k = 0; k < 5; k++) {
      reads.at += 100;
      reads.one('btc_usd', FAR);
      reads.one('btc_mxn');
    }
    expect(reads.doubts).toEqual({});
  });

  test('the same reads are one comparison, however often one of them is repeated', () => {
    const reads = new Reads(TRIANGLE).round({ btc_usd: FAR });
    for (let k = 0; k < 9; k++) {
      reads.at += 50;
      reads.one('btc_usd', FAR);
    }
    expect(reads.doubts).toEqual({});
  });
});

describe('for any reads', () => {
  const event = fc.record({
    symbol: fc.constantFrom(...FIVE),
    error: fc.oneof(fc.constant(0), between(-0.05, 0.05)),
    passed: fc.nat(900),
    ageMs: fc.nat(1_500),
  });

  test('a doubtful book is not corrected, and old reads change nothing', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), events => {
        const reads = new Reads(FIVE);
        for (const { symbol, error, passed, ageMs } of events) {
          reads.at += passed;
          const before = JSON.stringify(reads.doubts);
          const changed = reads.one(symbol, error, ageMs);
          if (ageMs > RULES.withinMs) expect(changed).toEqual([]);
          if (changed.length === 0) expect(JSON.stringify(reads.doubts)).toBe(before);
          for (const each of FIVE) if (reads.doubt(each) !== null) expect(reads.correction(each, 0, Infinity)).toBe(0);
        }
      }),
      runsOf(500, 60),
    );
  });

  test('no price is corrected by more than the costs of its cheapest cycle', () => {
    const all = [...FIVE, ...APART];
    const perBook = (one: fc.Arbitrary<number>) => fc.array(one, { minLength: all.length, maxLength: all.length });
    let corrected = 0;
    fc.assert(
      fc.property(
        perBook(fc.oneof(fc.constant(0), between(-0.05, 0.05))),
        perBook(between(1e-5, 0.02)),
        (drawn, halves) => {
          const of = (numbers: readonly number[]) => Object.fromEntries(all.map((symbol, i) => [symbol, numbers[i]!]));
          const [errors, halfSpreads] = [of(drawn), of(halves)];
          const reads = new Reads(all, halfSpreads).rounds(2, errors);
          for (const symbol of all) {
            const away = Math.abs(Math.log1p(reads.correction(symbol, errors[symbol])));
            const sound = CYCLES.filter(cycle => cycle.every(one => reads.doubt(one) === null));
            const costs = sound
              .filter(cycle => cycle.includes(symbol))
              .map(cycle => cycle.reduce((sum, one) => sum + Math.atanh(halfSpreads[one]!) - Math.log1p(-FEE), 0));
            expect(away).toBeLessThanOrEqual((costs.length === 0 ? 0 : Math.min(...costs)) + 1e-9);
            if (away > 1e-4) corrected++;
          }
        },
      ),
      runsOf(500, 60),
    );
    expect(corrected).toBeGreaterThan(60);
  });

  test('a book that is wrong beyond its costs is the only one pulled where data can tell, in any order of reads', () => {
    const order = fc.shuffledSubarray(FIVE, { minLength: FIVE.length });
    /** A round in which a book may not be read. */
    const round = fc.record({ order, missing: fc.option(fc.constantFrom(...FIVE)) });
    fc.assert(
      fc.property(
        ...([fc.constantFrom(...FIVE), fc.constantFrom(...FIVE), between(FAR, 0.2), fc.boolean()] as const),
        fc.array(round, { maxLength: 6 }),
        fc.array(order, { minLength: 2, maxLength: 2 }),
        (wrong, other, size, isUp, some, last) => {
          const errors = { [other]: 0.0009, [wrong]: isUp ? size : -size };
          const cannotTell = SAME_CYCLES.find(books => books.includes(wrong))!;
          const reads = new Reads(FIVE);
          for (const { order: books, missing } of some) {
            reads.round(errors, 10, missing === null ? books : books.filter(symbol => symbol !== missing));
            for (const symbol of Object.keys(reads.doubts)) expect(cannotTell).toContain(symbol);
          }
          for (const books of last) reads.round(errors, 10, books);
          expect(Object.keys(reads.doubts).toSorted()).toEqual(cannotTell.toSorted());
          expect(Object.values(reads.doubts).filter(effect => effect === 'pulled')).toHaveLength(1);
          expect(Math.abs(reads.doubt(wrong)!.distance - errors[wrong]!)).toBeLessThan(0.0019);
          // Every order of the reads gives the same corrections.
          const sorted = new Reads(FIVE).rounds(2, errors);
          for (const symbol of FIVE)
            expect(reads.correction(symbol, errors[symbol])).toBeCloseTo(sorted.correction(symbol, errors[symbol]), 9);
          expect(reads.rounds(3, {}, 10, last[0]).doubts).toEqual({});
        },
      ),
      runsOf(200, 40),
    );
  });
});
