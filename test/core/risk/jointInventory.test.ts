import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normal, randomOf } from '../../../src/core/index.ts';
import { booksApartFrom, JointInventory, skewMatrix, type JointBook } from '../../../src/core/risk/jointInventory.ts';
import { between } from '../../draws.ts';
import { runsOf } from '../../many.ts';
import { DESK, DESK_BOOKS, deskDay } from './deskDay.ts';

const RULES = { currency: 'mxn', sampleMs: 60_000, halfLifeMs: 21_600_000 };
const MXN_BOOKS = ['btc_mxn', 'eth_mxn'];

const book = (mid: number | null, isActive = true): JointBook => ({ mid: () => mid, isActive });

/** Observes random moves of the currencies' values, of which the second repeats a share of the first. */
function observed(
  symbols: readonly string[],
  midsOf: (first: number, second: number) => readonly number[],
  share: number,
  isActive: readonly boolean[] = [],
): { readonly joint: JointInventory; readonly mids: readonly number[] } {
  const joint = new JointInventory(symbols, RULES);
  const random = randomOf(7);
  let [first, second] = [Math.log(1_000_000), Math.log(20)];
  let mids: readonly number[] = [];
  for (let k = 0; k < 600; k++) {
    mids = midsOf(Math.exp(first), Math.exp(second));
    const now = mids.map((mid, i) => book(mid, isActive[i] ?? true));
    joint.observe(k * RULES.sampleMs, now);
    const [u, v] = [normal(random), normal(random)];
    first += 0.001 * u;
    second += 0.001 * (share * u + Math.sqrt(1 - share ** 2) * v);
  }
  return { joint, mids };
}

describe('the matrix of the skew', () => {
  test('has the published values for four books of four currencies (formulas-desk E12, check 2)', () => {
    const gamma = 2e-4;
    const g = skewMatrix(
      DESK.covariance,
      DESK.holds.map((holds, i) => ({ weight: DESK_BOOKS[i]!.flow, holds })),
    ).map(row => row.map(value => (value * Math.sqrt(gamma)) / 2));
    const expected = [
      [1.532064651058e-9, 0.0151990536e-9, 1.100822637034e-9],
      [0.0151990536e-9, 0.26414536381e-9, -0.05263253695e-9],
      [1.100822637034e-9, -0.05263253695e-9, 3.20611479707e-9],
    ];
    for (const [a, row] of expected.entries())
      for (const [b, value] of row.entries()) expect(Math.abs(g[a]![b]! - value)).toBeLessThan(2e-19);
    const held = [0.03 * 1.2e6, -2_000 * 18, 0.5 * 45_000];
    const skews = DESK.holds.map(
      holds =>
        -2 * holds.reduce((sum, own, a) => sum + own * g[a]!.reduce((row, value, b) => row + value * held[b]!, 0), 0),
    );
    const published = [-1.587513416834e-4, -1.790439401809e-4, 2.029259849748e-5, -2.27323938395e-4];
    for (const [i, skew] of skews.entries()) expect(skew / published[i]!).toBeCloseTo(1, 10);
  });

  test('a book that cannot reduce inventory leaves the other books the part that moves with their own prices', () => {
    const [own, both, other] = [4e-8, 3e-8, 9e-8];
    const covariance = [
      [own, both],
      [both, other],
    ];
    const g = skewMatrix(covariance, [
      { weight: 1, holds: [1, 0] },
      { weight: 1e-8, holds: [0, 1] },
    ]);
    expect(g[0]![1]! / g[0]![0]!).toBeCloseTo(both / own, 3);
  });
});

describe('the inventory by which a book skews its quotes', () => {
  test('is its own, to the digit, while joint moves are unknown, and if prices do not move together', () => {
    const fresh = new JointInventory(MXN_BOOKS, RULES);
    const { joint } = observed(MXN_BOOKS, (btc, eth) => [btc, eth], 0);
    fc.assert(
      fc.property(between(-9, 9), between(-9, 9), (x, y) => {
        const books = [x, y];
        for (const i of [0, 1]) {
          expect(fresh.inventoryOf(i, books)).toBe(books[i]);
          expect(joint.inventoryOf(i, books)).toBe(books[i]);
        }
      }),
      runsOf(100, 50),
    );
  });

  test('includes what moves with it: long in one coin is long in the other', () => {
    const { joint, mids } = observed(MXN_BOOKS, (btc, eth) => [btc, eth], 0.9);
    const inEth = joint.inventoryOf(1, [1, 0]);
    // Equal weights and volatilities: a correlation of 0.9 counts by tan(asin(0.9) / 2) = 0.63, less the shrinkage.
    expect((inEth * mids[1]!) / mids[0]!).toBeGreaterThan(0.5);
    expect((inEth * mids[1]!) / mids[0]!).toBeLessThan(0.66);
    const hedged = joint.inventoryOf(0, [1, -mids[0]! / mids[1]!]);
    expect(Math.abs(hedged)).toBeLessThan(0.5);
  });

  test('long in btc_mxn and short in btc_usd of one value is dollars against pesos, and no bitcoin', () => {
    const symbols = ['btc_mxn', 'btc_usd'];
    // The dollar moves alone: bitcoin has no exposure, and each book skews by the dollars only.
    const { joint } = observed(symbols, (btc, usd) => [btc, btc / usd], 0);
    const books = [1, -1];
    const [inMxn, inUsd] = [joint.inventoryOf(0, books), joint.inventoryOf(1, books)];
    // Long in dollars: the book of bitcoin against dollars buys bitcoin, and so sells dollars.
    expect(inUsd).toBeLessThan(0);
    expect(inUsd).toBeGreaterThan(-1);
    expect(Math.abs(inMxn)).toBeLessThan(Math.abs(inUsd));
    const flat = [0, 0];
    expect(joint.inventoryOf(0, flat)).toBe(0);
  });

  test('is linear: twice the inventory counts twice, and its opposite with the opposite sign', () => {
    const { joint } = observed(['btc_mxn', 'usd_mxn', 'btc_usd'], (btc, usd) => [btc, usd, btc / usd], 0.5);
    fc.assert(
      fc.property(between(-9, 9), between(-900, 900), (x, y) => {
        const of = (factor: number): number => joint.inventoryOf(0, [factor * x, factor * y, 0]);
        expect(of(2)).toBeCloseTo(2 * of(1), 6);
        expect(of(-1)).toBeCloseTo(-of(1), 6);
      }),
      runsOf(100, 50),
    );
  });

  test('includes the inventory of a halted book as far as it moves with this book', () => {
    const { joint, mids } = observed(MXN_BOOKS, (btc, eth) => [btc, eth], 0.9, [true, false]);
    const inBtc = joint.inventoryOf(0, [0, mids[0]! / mids[1]!]);
    // With equal volatilities, bitcoin explains a part of ether that equals the correlation.
    expect(inBtc).toBeGreaterThan(0.75);
    expect(inBtc).toBeLessThan(0.95);
  });

  test('a book whose currencies lead to no other skews by its own inventory', () => {
    const symbols = ['btc_mxn', 'eth_mxn', 'sol_eur'];
    const apart = booksApartFrom('mxn', symbols);
    expect(symbols.filter(symbol => !apart.includes(symbol))).toEqual(MXN_BOOKS);
    const { joint, mids } = observed(symbols, (btc, eth) => [btc, eth, 100], 0.9);
    expect(
      joint.inventoryOf(
        2,
        mids.map(() => 3),
      ),
    ).toBe(3);
  });

  test('a currency that never moved, or whose value is unknown, leaves the other books as they are', () => {
    const symbols = ['btc_mxn', 'eth_mxn', 'pax_mxn', 'sol_mxn'];
    const { joint, mids } = observed(symbols, (btc, eth) => [btc, eth, 17, Number.NaN], 0.9);
    const positions = [1, 0, 5, 5];
    expect(joint.inventoryOf(2, positions)).toBe(5);
    expect(joint.inventoryOf(3, positions)).toBe(5);
    expect((joint.inventoryOf(1, positions) * mids[1]!) / mids[0]!).toBeGreaterThan(0.5);
  });

  test('a halt counts at the next event, and a restored state before the first sample', () => {
    const { joint, mids } = observed(MXN_BOOKS, (btc, eth) => [btc, eth], 0.9);
    const at = 599 * RULES.sampleMs + 1;
    const positions = [0, mids[0]! / mids[1]!];
    const before = joint.inventoryOf(0, positions);
    joint.observe(at, [book(mids[0]!), book(mids[1]!, false)]);
    expect(joint.inventoryOf(0, positions)).toBeGreaterThan(before + 0.1);
    const next = new JointInventory(MXN_BOOKS, RULES);
    next.restore(joint.state!, at);
    expect(next.inventoryOf(0, positions)).toBeCloseTo(before, 9);
  });

  test('an unknown mid price is not sampled, and the last known values stay', () => {
    const { joint, mids } = observed(MXN_BOOKS, (btc, eth) => [btc, eth], 0.9);
    const before = joint.inventoryOf(
      1,
      mids.map(() => 1),
    );
    joint.observe(601 * RULES.sampleMs, [book(null), book(mids[1]!)]);
    expect(joint.inventoryOf(1, [1, 1])).toBeCloseTo(before, 3);
  });
});

describe('what joint inventory is worth', () => {
  test('the desk of E12 holds less risk than with each book for itself, at no loss of spread', () => {
    for (const seed of [1, 2, 3]) {
      const [own, joint] = [deskDay(seed, 'own', 21_600), deskDay(seed, 'joint', 21_600)];
      expect(joint.risk / own.risk, `seed ${seed}`).toBeLessThan(1);
      expect(joint.spread / own.spread, `seed ${seed}`).toBeGreaterThan(0.97);
    }
  });
});
