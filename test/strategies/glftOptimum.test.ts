import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FillCurve, type FillProfile } from '../../strategies/fillCurve.ts';
import { exactDistances } from '../../strategies/glft/formula.ts';
import { askedByInventory } from '../../strategies/glft/optimum.ts';
import { between } from '../draws.ts';
import { runsOf } from '../many.ts';

/** Distances of bids and asks at q = 0 … cap - 1 and 1 … cap. */
function quotesOf(profile: FillProfile, fee: number, sigma: number, gamma: number, cap: number) {
  const worth = new FillCurve(profile, fee).worthTo(gamma);
  const asked = [...askedByInventory(worth, sigma, gamma, cap)];
  return {
    asked,
    bids: asked.map(x => worth.best(x).distance),
    asks: asked.map(x => worth.best(-x).distance),
  };
}

describe('an exponential curve with a constant move', () => {
  const cases = fc.record({
    sigma: between(0.01, 5),
    a: between(0.01, 5),
    k: between(0.05, 3),
    adverse: between(0, 1),
    fee: between(0, 2),
    gamma: fc.double({ min: 1e-4, max: 2, noNaN: true }),
    cap: fc.integer({ min: 1, max: 60 }),
    shares: fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 8 }),
  });

  // GLFT's price comes back by xi with the fill on the other side, so that each costs half of it; a markout counts whole.
  test('gives what GLFT gives exactly, its xi being twice the move, to 1e-6', () => {
    fc.assert(
      fc.property(cases, ({ sigma, a, k, adverse, fee, gamma, cap, shares }) => {
        const glft = exactDistances({ sigma, a, k, drift: 0, adverse: 2 * adverse, fee }, gamma, cap);
        const furthest = glft.bids[2 * cap - 1]! + 1;
        const distances = [...shares, 100].sort((x, y) => x - y).map(share => (share / 100) * furthest);
        const profile = {
          distances,
          rates: distances.map(d => a * Math.exp(-k * d)),
          adverse: distances.map(() => adverse),
        };
        const { bids, asks } = quotesOf(profile, fee, sigma, gamma, cap);
        for (let q = 0; q < cap; q++) {
          expect(Math.abs(bids[q]! - glft.bids[cap + q]!)).toBeLessThan(1e-6);
          expect(Math.abs(asks[q]! - glft.asks[cap + q + 1]!)).toBeLessThan(1e-6);
        }
      }),
      runsOf(300, 100),
    );
  });
});

/** Straight lines through the points, the first and the last going on. */
function along(xs: readonly number[], ys: readonly number[], x: number): number {
  let i = 0;
  while (i < xs.length - 2 && x > xs[i + 1]!) i++;
  return ys[i]! + ((ys[i + 1]! - ys[i]!) * (x - xs[i]!)) / (xs[i + 1]! - xs[i]!);
}

/**
 * Dynamic programming on a grid: the value of each inventory, moved by small steps of time until all grow alike, each distance looked for on a grid and
 * then between its neighbours. Shares nothing with the solution but the problem.
 */
function programmed(
  { distances, rates, adverse }: FillProfile,
  fee: number,
  sigma: number,
  gamma: number,
  cap: number,
) {
  const [first, last] = [distances[0]!, distances.at(-1)!];
  const inwards = Math.log(rates[0]! / rates.at(-1)!) / (last - first);
  const low = first - 12 / inwards;
  const xs = [low, ...distances];
  const logs = [Math.log(rates[0]!) + 12, ...rates.map(rate => Math.log(rate))];
  const moves = [adverse[0]!, ...adverse];
  const gain = (d: number, asked: number): number => {
    const net = d - along(xs, moves, d) - fee - asked;
    return (Math.exp(along(xs, logs, d)) * (1 - Math.exp(-gamma * net))) / gamma;
  };
  const grid = [...new Set([...xs, ...Array.from({ length: 400 }, (_, i) => low + ((last - low) * i) / 400)])].sort(
    (x, y) => x - y,
  );
  const best = (asked: number): { worth: number; distance: number; rate: number } => {
    const values = grid.map(d => gain(d, asked));
    let distance = grid[values.indexOf(Math.max(...values))]!;
    if (!(gain(distance, asked) > 0)) return { worth: 0, distance: Infinity, rate: 0 };
    // Each place that is higher than those beside it.
    for (let i = 0; i < grid.length; i++) {
      if (!(values[i]! > 0) || values[i]! < (values[i - 1] ?? 0) || values[i]! < (values[i + 1] ?? 0)) continue;
      for (let [from, to] of [
        [grid[Math.max(0, i - 1)]!, grid[i]!],
        [grid[i]!, grid[Math.min(grid.length - 1, i + 1)]!],
      ] as [number, number][]) {
        for (let turn = 0; turn < 60; turn++) {
          const [a, b] = [from + (to - from) / 3, to - (to - from) / 3];
          if (gain(a, asked) < gain(b, asked)) from = a;
          else to = b;
        }
        if (gain(from, asked) > gain(distance, asked)) distance = from;
      }
    }
    return { worth: gain(distance, asked), distance, rate: Math.exp(along(xs, logs, distance)) };
  };
  const orders = Array.from({ length: 2 * cap + 1 }, (_, i) => i - cap);
  let theta = orders.map(() => 0);
  for (let turn = 0; turn < 20_000; turn++) {
    const sides = orders.map((q, i) => [
      q < cap ? best(theta[i]! - theta[i + 1]!) : NONE,
      q > -cap ? best(theta[i]! - theta[i - 1]!) : NONE,
    ]);
    const growth = orders.map(
      (q, i) => sides[i]![0]!.worth + sides[i]![1]!.worth - 0.5 * gamma * sigma * sigma * q * q,
    );
    const flat = growth[cap]!;
    // A step as short as the fills at this inventory, and at none, ask for.
    const rates = sides.map(([bid, ask]) => bid!.rate + ask!.rate);
    theta = theta.map((x, i) => x + (0.8 * (growth[i]! - flat)) / (rates[i]! + rates[cap]! + 0.05));
    if (Math.max(...growth.map(x => Math.abs(x - flat))) < 1e-11) break;
  }
  return orders.slice(cap, -1).map((_, q) => {
    const asked = theta[cap + q]! - theta[cap + q + 1]!;
    return { asked, bid: best(asked).distance, ask: best(-asked).distance };
  });
}
const NONE = { worth: 0, distance: Infinity, rate: 0 };

describe('fills and moves that depend on the distance in any way', () => {
  test.each([
    ['moves that grow', [4, 8, 12, 20, 30], [0.9, 0.5, 0.24, 0.06, 0.01], [3, 5, 6.5, 8, 9], 1, 1.5, 0.05, 3],
    ['two places that pay', [3, 6, 9, 14, 25], [0.8, 0.3, 0.28, 0.25, 0.02], [0.5, 4, 7, 8, 9], 1, 2, 0.03, 4],
    ['moves that outgrow the distance', [2, 5, 10, 20], [0.9, 0.4, 0.2, 0.05], [0, 1, 5, 17], 0.5, 1, 0.1, 2],
    ['nothing pays', [5, 10, 20], [0.6, 0.3, 0.1], [6, 9, 17], 4, 2, 0.05, 2],
  ] as const)(
    '%s: as dynamic programming on a grid finds it, to 1e-6',
    (_, distances, rates, adverse, fee, sigma, gamma, cap) => {
      const profile = { distances, rates, adverse };
      const found = quotesOf(profile, fee, sigma, gamma, cap);
      for (const [q, { asked, bid, ask }] of programmed(profile, fee, sigma, gamma, cap).entries()) {
        expect(Math.abs(found.asked[q]! - asked)).toBeLessThan(1e-6);
        if (bid === Infinity) expect(found.bids[q]).toBe(Infinity);
        else expect(Math.abs(found.bids[q]! - bid)).toBeLessThan(1e-6);
        expect(Math.abs(found.asks[q]! - ask)).toBeLessThan(1e-6);
      }
    },
  );

  const points = fc.array(fc.record({ step: between(1, 6), fall: between(0.2, 0.95), move: between(-1, 1.3) }), {
    minLength: 2,
    maxLength: 7,
  });
  const cases = fc.record({
    points,
    fee: between(0, 4),
    sigma: between(0.5, 2),
    gamma: between(0.02, 0.2),
    cap: fc.integer({ min: 1, max: 3 }),
  });
  test('the same for any of them', () => {
    fc.assert(
      fc.property(cases, ({ points, fee, sigma, gamma, cap }) => {
        let [d, rate, move] = [0, 0.6, 0];
        const at = points.map(point => [(d += point.step), (rate *= point.fall), (move += point.move * point.step)]);
        const profile = { distances: at.map(x => x[0]!), rates: at.map(x => x[1]!), adverse: at.map(x => x[2]!) };
        const found = quotesOf(profile, fee, sigma, gamma, cap);
        for (const [q, { asked }] of programmed(profile, fee, sigma, gamma, cap).entries())
          expect(Math.abs(found.asked[q]! - asked)).toBeLessThan(1e-6);
      }),
      { ...runsOf(40, 15), seed: 5 },
    );
  });
});
