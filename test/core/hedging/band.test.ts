/** The band that follows from risk, flow and the cost of the way out: against dynamic programming, its limits, and how it moves. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeBand, type BandInput } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';
import { between } from '../../draws.ts';

/** Relative value iteration of the same control problem on -Q..Q: quotes from a grid of distances, and a jump to any other inventory. */
function solved(
  { riskPerS, fillsPerS, edge, cost }: BandInput,
  most = 28,
): { band: number; earnsPerS: number; marginal: readonly number[] } {
  const grid = Array.from({ length: 300 }, (_, i) => (i * edge) / 40);
  const rate = 2 * fillsPerS * Math.E;
  const share = grid.map(d => (fillsPerS * Math.exp(1 - d / edge)) / rate);
  const states = Array.from({ length: 2 * most + 1 }, (_, i) => i - most);
  let value = states.map(() => 0);
  let gain = 0;
  let stays = value;
  for (let round = 0; round < 4_000; round++) {
    const best = (lost: number): number => grid.reduce((top, d, i) => Math.max(top, share[i]! * (d - lost)), 0);
    stays = states.map((q, i) => {
      const bid = q < most ? best(value[i]! - value[i + 1]!) : 0;
      const ask = q > -most ? best(value[i]! - value[i - 1]!) : 0;
      return value[i]! - (riskPerS * q * q) / rate + bid + ask;
    });
    // Costs are in proportion: one order after the other is as cheap as all at once.
    const left = [...stays];
    for (let i = 1; i <= 2 * most; i++) left[i] = Math.max(left[i]!, left[i - 1]! - cost);
    for (let i = 2 * most - 1; i >= 0; i--) left[i] = Math.max(left[i]!, left[i + 1]! - cost);
    gain = left[most]! - value[most]!;
    value = left.map(v => v - left[most]!);
  }
  const band = states.filter((q, i) => q >= 0 && stays[i]! - gain >= value[i]! - 1e-12).at(-1) ?? 0;
  // The cost of one more order, from none to the most.
  const marginal = value.slice(most, -1).map((v, q) => v - value[most + q + 1]!);
  return { band, earnsPerS: gain * rate, marginal };
}

const inputs: readonly BandInput[] = [
  { riskPerS: 0.02, fillsPerS: 1, edge: 5, cost: 4, ordersMax: 50 },
  { riskPerS: 0.2, fillsPerS: 1, edge: 5, cost: 4, ordersMax: 50 },
  { riskPerS: 0.02, fillsPerS: 0.3, edge: 5, cost: 12, ordersMax: 50 },
  { riskPerS: 0.5, fillsPerS: 2, edge: 2, cost: 7, ordersMax: 50 },
  { riskPerS: 5, fillsPerS: 1, edge: 5, cost: 1, ordersMax: 50 },
  { riskPerS: 0.001, fillsPerS: 0.02, edge: 6, cost: 15, ordersMax: 50 },
];

const log = (from: number, to: number) => between(Math.log10(from), Math.log10(to)).map(x => 10 ** x);
const anyInput = fc.record({
  riskPerS: log(1e-4, 10),
  fillsPerS: log(1e-3, 10),
  edge: log(0.5, 20),
  cost: log(0.5, 40),
  ordersMax: fc.constant(2_000),
});

describe('the band', () => {
  test.each(inputs)('is that of dynamic programming, and so is what is earned: %o', input => {
    const independent = solved(input);
    const { orders, earnsPerS, marginal } = computeBand(input);
    expect(orders).toBe(independent.band);
    expect(Math.abs(earnsPerS / independent.earnsPerS - 1)).toBeLessThan(2e-3);
    // The grid of distances is a fortieth of the edge wide.
    const apart = independent.marginal.map((p, q) => Math.abs(p - marginal[q]!));
    expect(Math.max(...apart)).toBeLessThan(0.01 * input.cost);
  });

  test('follows the cube root while leaning brings little back', () => {
    const input = { riskPerS: 1e-10, fillsPerS: 1, edge: 1, cost: 1e-4, ordersMax: 1_000 };
    const { orders } = computeBand(input);
    expect(orders / Math.cbrt((3 * input.fillsPerS * input.cost) / (2 * input.riskPerS))).toBeCloseTo(1, 1);
  });

  test('is near the cost over the lean of the quotes where it costs as much as the edge or more', () => {
    const input = { riskPerS: 1e-5, fillsPerS: 1, edge: 1, cost: 1, ordersMax: 5_000 };
    const { orders } = computeBand(input);
    const ratio = orders / (input.cost * Math.sqrt(input.fillsPerS / (input.riskPerS * input.edge)));
    expect(ratio).toBeGreaterThan(0.9);
    expect(ratio).toBeLessThan(1.6);
  });

  test('widens with flow and with the cost of the way out, and narrows with risk', () => {
    fc.assert(
      fc.property(anyInput, between(1.01, 30), (input, times) => {
        const { orders } = computeBand(input);
        expect(computeBand({ ...input, fillsPerS: input.fillsPerS * times }).orders).toBeGreaterThanOrEqual(orders);
        expect(computeBand({ ...input, cost: input.cost * times }).orders).toBeGreaterThanOrEqual(orders);
        expect(computeBand({ ...input, riskPerS: input.riskPerS * times }).orders).toBeLessThanOrEqual(orders);
      }),
      runsOf(300, 100),
    );
  });

  test('makes each further order dearer to hold than the one before, up to what leaving costs', () => {
    fc.assert(
      fc.property(anyInput, input => {
        const { marginal, orders } = computeBand(input);
        expect(marginal).toHaveLength(input.ordersMax);
        expect(marginal.findIndex((p, q) => !(p > 0 && p >= (marginal[q - 1] ?? 0)))).toBe(-1);
        expect(new Set(marginal.slice(orders))).toEqual(new Set(orders < input.ordersMax ? [input.cost] : []));
        expect(Math.max(...marginal)).toBeLessThanOrEqual(input.cost * (1 + 1e-12));
      }),
      runsOf(100, 40),
    );
  });

  test('is everything without risk, and nothing without flow', () => {
    const [input] = inputs as [BandInput];
    const free = new Array<number>(50).fill(0);
    // Five at each fill, one fill a second on each side.
    expect(computeBand({ ...input, riskPerS: 0 })).toEqual({ orders: 50, marginal: free, earnsPerS: 10 });
    expect(computeBand({ ...input, fillsPerS: 0 })).toEqual({ orders: 0, marginal: free, earnsPerS: 0 });
    expect(computeBand({ ...input, cost: 0 })).toMatchObject({ orders: 0, marginal: free });
    expect(computeBand({ ...input, cost: -1 })).toMatchObject({ orders: 0, marginal: free });
    expect(computeBand({ ...input, riskPerS: 1e-12 }).orders).toBe(50);
  });

  test('has no order of which a part is left over, and none below zero', () => {
    const [input] = inputs as [BandInput];
    for (const [ordersMax, whole] of [
      [3.9, 3],
      [0, 0],
      [-2, 0],
    ] as const) {
      const { orders, marginal } = computeBand({ ...input, riskPerS: 1e-12, ordersMax });
      expect([orders, marginal.length]).toEqual([whole, whole]);
      expect(computeBand({ ...input, riskPerS: 0, ordersMax }).marginal).toHaveLength(whole);
    }
  });
});
