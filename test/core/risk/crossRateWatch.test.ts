import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CrossRateWatch, pairOf } from '../../../src/core/index.ts';
import { between } from '../../draws.ts';
import { runsOf } from '../../many.ts';

const RULES = { withinMs: 1_000 };
const TRIANGLE = ['btc_mxn', 'btc_usd', 'usd_mxn'];
const FIVE = [...TRIANGLE, 'eth_mxn', 'eth_btc'];
const VALUES: Readonly<Record<string, number>> = { btc: 1_200_000, usd: 18, eth: 45_000, mxn: 1 };
const HALF_SPREAD = 3e-4;
const FEE = 0.001;
/** More than the half-spreads and fees of three books. */
const FAR = 0.02;

/** Reads of books, one after another, with prices that agree except for the errors (logarithms) of some books. */
class Reads {
  at = 1_000_000;
  readonly watch: CrossRateWatch;
  readonly #symbols: readonly string[];

  constructor(symbols: readonly string[]) {
    this.#symbols = symbols;
    this.watch = new CrossRateWatch(symbols, RULES);
  }

  mid(symbol: string, error = 0): number {
    const [base, quote] = pairOf(symbol);
    return (VALUES[base]! / VALUES[quote]!) * Math.exp(error);
  }

  /** Reads one book. `ageMs`: time since the start of the read. */
  one(symbol: string, error = 0, ageMs = 0): readonly string[] {
    const mid = this.mid(symbol, error);
    const read = { readAt: this.at - ageMs, bid: mid * (1 - HALF_SPREAD), ask: mid * (1 + HALF_SPREAD), fee: FEE };
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

  test('no more than the error is corrected, a doubtful book is not corrected, and old reads change nothing', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), events => {
        const reads = new Reads(FIVE);
        for (const { symbol, error, passed, ageMs } of events) {
          reads.at += passed;
          const before = JSON.stringify(reads.doubts);
          const changed = reads.one(symbol, error, ageMs);
          if (ageMs > RULES.withinMs) expect(changed).toEqual([]);
          if (changed.length === 0) expect(JSON.stringify(reads.doubts)).toBe(before);
          for (const each of FIVE) {
            const correction = reads.correction(each, 0, Infinity);
            expect(Math.abs(correction)).toBeLessThan(0.25);
            if (reads.doubt(each) !== null) expect(correction).toBe(0);
          }
        }
      }),
      runsOf(500, 60),
    );
  });

  test('a book that is wrong beyond its costs is the only one pulled, whatever the order of the reads', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('btc_mxn'),
        between(FAR, 0.2),
        fc.boolean(),
        fc.shuffledSubarray(FIVE, { minLength: 5 }),
        (wrong, size, isUp, order) => {
          const error = isUp ? size : -size;
          const reads = new Reads(FIVE).rounds(2, { [wrong]: error }, 10, order);
          expect(reads.doubts).toEqual({ [wrong]: 'pulled' });
          expect(reads.doubt(wrong)!.distance).toBeCloseTo(error, 6);
          expect(reads.rounds(3, {}, 10, order).doubts).toEqual({});
        },
      ),
      runsOf(200, 40),
    );
  });
});
