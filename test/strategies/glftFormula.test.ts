import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  askDistance,
  bidDistance,
  closedForm,
  exactDistances,
  groundState,
  shiftPerOrder,
} from '../../strategies/glft/formula.ts';
import { between } from '../draws.ts';

/** The example of the paper: sigma .3, A .9, k .3, gamma .01. */
const MARKET = { sigma: 0.3, a: 0.9, k: 0.3, drift: 0, adverse: 0, fee: 0 };
const GAMMA = 0.01;

const near = (value: number, expected: number): void => expect(Math.abs(value - expected)).toBeLessThanOrEqual(0.001);

describe('the published table', () => {
  test.each([
    [0, 3.398, 3.398, 3.313, 3.313],
    [3, 4.451, 2.589, 3.517, 3.109],
    [4, 5.488, 2.107, 3.584, 3.041],
    [5, Infinity, 1.07, 3.652, 2.974],
  ])('q = %d: exact under a cap of 5 %d / %d, closed form %d / %d', (q, bid, ask, closedBid, closedAsk) => {
    const { bids, asks } = exactDistances(MARKET, GAMMA, 5);
    if (bid === Infinity) expect(bids[q + 5]).toBe(Infinity);
    else near(bids[q + 5]!, bid);
    near(asks[q + 5]!, ask);
    const closed = closedForm(MARKET, GAMMA, q);
    near(bidDistance(closed.bid), closedBid);
    near(askDistance(closed.ask), closedAsk);
  });

  test('with a cap of 60 the exact and the closed form agree to 0.001 around the middle, with drift, xi and fee', () => {
    for (const m of [
      MARKET,
      { ...MARKET, drift: 0.001 },
      { ...MARKET, adverse: 0.2 },
      { ...MARKET, fee: 0.5 },
      { ...MARKET, drift: -0.001, adverse: 0.1, fee: 0.3 },
    ]) {
      const { bids, asks } = exactDistances(m, GAMMA, 60);
      for (const q of [-1, 0, 1]) {
        const closed = closedForm(m, GAMMA, q);
        near(bids[q + 60]!, bidDistance(closed.bid));
        near(asks[q + 60]!, askDistance(closed.ask));
      }
    }
  });
});

const markets = fc.record({
  sigma: between(0.01, 5),
  a: between(0.01, 5),
  k: between(0.05, 3),
  drift: fc.constant(0),
  adverse: between(0, 1),
  fee: between(0, 2),
});
const gammas = fc.double({ min: 1e-4, max: 2, noNaN: true });
const caps = fc.integer({ min: 1, max: 60 });

describe('the exact solution', () => {
  test('is a positive vector, and times the matrix it is a multiple of itself: the one ground state', () => {
    fc.assert(
      fc.property(fc.array(between(-5, 50), { minLength: 2, maxLength: 30 }), diagonal => {
        const beside = 0.7;
        const logs = groundState(Float64Array.from(diagonal), beside);
        // Each entry over its own f: the same number everywhere.
        const values = diagonal.map((d, i) => {
          const after = i < logs.length ? Math.exp(logs[i]!) : 0;
          const before = i > 0 ? Math.exp(-logs[i - 1]!) : 0;
          return d - beside * (after + before);
        });
        for (const value of values) expect(value).toBeCloseTo(values[0]!, 5);
      }),
    );
  });

  test('leans against inventory, is symmetric without drift, and pays for a round trip at least both fees', () => {
    fc.assert(
      fc.property(markets, gammas, caps, (m, gamma, cap) => {
        const { bids, asks } = exactDistances(m, gamma, cap);
        for (let i = 0; i < 2 * cap; i++) {
          if (i + 1 < 2 * cap) {
            expect(bids[i + 1]! - bids[i]!).toBeGreaterThan(-1e-9);
            expect(asks[i + 2]! - asks[i + 1]!).toBeLessThan(1e-9);
          }
          expect(bids[i]!).toBeCloseTo(asks[2 * cap - i]!, 6);
          // Buying at q and selling again at q + 1 earns the edge on both sides.
          expect(bids[i]! + asks[i + 1]! - 2 * m.fee).toBeGreaterThan(0);
        }
      }),
    );
  });

  test('no aversion is the limit of little', () => {
    expect(shiftPerOrder(MARKET, 0)).toBe(0);
    const [none, little] = [0, 1e-9].map(gamma => bidDistance(closedForm(MARKET, gamma, 0).bid));
    expect(little! - none!).toBeLessThan(1e-3);
    expect(exactDistances(MARKET, 0, 3).bids[3]!).toBeCloseTo(exactDistances(MARKET, 1e-9, 3).bids[3]!, 5);
  });
});
