/** The covariance over shifts has the check values of formulas-desk E13, and finds a planted lead. */
import { describe, expect, test } from 'vitest';
import { sized } from '../../many.ts';
import { leadLagOf, normal, overlappingChanges, randomOf, type PriceReads } from '../../../src/core/index.ts';

const reads = (at: readonly number[], log: readonly number[]): PriceReads => ({ at, log });

function hayashiYoshida(x: PriceReads, y: PriceReads, lagMs = 0): number {
  let sum = 0;
  overlappingChanges(x, y, lagMs, product => (sum += product));
  return sum;
}

describe('check values of E13', () => {
  const x = reads([0, 1, 3, 6, 7, 10], [0, 2, 1, 4, 6, 5]);
  const y = reads([0, 2, 4, 5, 9, 10], [0, 1, 3, 2, 6, 7]);

  test('check A: 17, with y later by one 6, with y earlier by one 12', () => {
    expect(hayashiYoshida(x, y)).toBe(17);
    expect(hayashiYoshida(x, y, -1)).toBe(6);
    expect(hayashiYoshida(x, y, 1)).toBe(12);
  });

  test('check C: .6550080382906 of two asynchronous paths with a correlation of .6', () => {
    const next = mulberry32(42);
    const gauss = () => {
      const [u, v] = [next(), next()];
      return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
    };
    const [xs, ys]: [[number, number][], [number, number][]] = [[[0, 0]], [[0, 0]]];
    const paths = [[0, 0]];
    for (let i = 1; i <= 36_000; i++) {
      const [first, second] = [gauss(), gauss()];
      const [a = 0, b = 0] = paths[i - 1]!;
      paths.push([a + Math.sqrt(0.1) * first, b + Math.sqrt(0.1) * (0.6 * first + 0.8 * second)]);
    }
    for (let i = 1; i <= 36_000; i++) {
      const [a = 0, b = 0] = paths[i]!;
      if (next() < 0.05) xs.push([100 * i, a + 0.5 * gauss()]);
      if (next() < 0.02) ys.push([100 * i, b + 0.5 * gauss()]);
    }
    expect([xs.length, ys.length]).toEqual([1_837, 741]);
    const of = (list: [number, number][]) =>
      reads(
        list.map(([at]) => at),
        list.map(([, log]) => log),
      );
    expect(hayashiYoshida(of(xs), of(ys)) / 3_600).toBeCloseTo(0.6550080382906, 12);
  });
});

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One price read at random seconds on two exchanges; the second shows what the first did `lagS` before. */
function linked(seed: number, lagS: number, correlation = 1): readonly [PriceReads, PriceReads] {
  const random = randomOf(seed);
  // The first numbers of neighboring seeds are alike.
  for (let i = 0; i < 50; i++) random.next();
  const seconds = 7_200;
  const path = [0];
  const other = [0];
  for (let i = 1; i <= seconds; i++) {
    path.push(path[i - 1]! + 1e-4 * normal(random));
    other.push(other[i - 1]! + 1e-4 * normal(random));
  }
  const of = (share: number, valueAt: (i: number) => number): PriceReads => {
    const times = Array.from({ length: seconds - 60 }, (_, i) => i + 30).filter(() => random.next() < share);
    return reads(
      times.map(i => 1_000 * i),
      times.map(i => valueAt(i) + 0.5e-4 * normal(random)),
    );
  };
  return [
    of(0.7, i => path[i]!),
    of(0.3, i => correlation * path[i - lagS]! + Math.sqrt(1 - correlation ** 2) * other[i]!),
  ];
}

test('a planted lead is found within two seconds and lies in the interval, in at least 9 of 10 seeds', () => {
  const seeds = sized(40, 10);
  let [near, held] = [0, 0];
  for (let seed = 1; seed <= seeds; seed++) {
    const [x, y] = linked(seed, 8);
    const { lagMs, lowMs, highMs } = leadLagOf(x, y, { stepMs: 1_000, lagMaxMs: 30_000, random: randomOf(seed) })!;
    if (Math.abs(lagMs - 8_000) <= 2_000) near++;
    if (lowMs <= 8_000 && 8_000 <= highMs) held++;
  }
  expect(near).toBeGreaterThanOrEqual(0.9 * seeds);
  expect(held).toBeGreaterThanOrEqual(0.9 * seeds);
});

test('swapped prices have the opposite lead', () => {
  const [x, y] = linked(3, 8);
  const options = { stepMs: 1_000, lagMaxMs: 30_000 };
  const ahead = leadLagOf(x, y, { ...options, random: randomOf(1) })!;
  const behind = leadLagOf(y, x, { ...options, random: randomOf(1) })!;
  expect(behind.lagMs).toBe(-ahead.lagMs);
  expect(behind.correlation.value).toBeCloseTo(ahead.correlation.value, 12);
});

test('independent prices have no lead: the interval contains 0 in at least 9 of 10 seeds', () => {
  const seeds = sized(40, 10);
  let held = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const [x, y] = linked(seed, 0, 0);
    const found = leadLagOf(x, y, { stepMs: 1_000, lagMaxMs: 30_000, random: randomOf(seed) });
    if (found === null || (found.lowMs <= 0 && found.highMs >= 0)) held++;
  }
  expect(held).toBeGreaterThanOrEqual(0.9 * seeds);
});

test('a change over a gap does not count, and few reads have no lead', () => {
  const of = (log: readonly number[]) => reads([0, 1_000, 2_000, 5_000_000, 5_001_000], log);
  expect(hayashiYoshida(of([0, 1, 2, 90, 91]), of([0, 1, 2, -70, -69]))).toBe(3);
  const few = reads([0, 1_000], [0, 1]);
  expect(leadLagOf(few, few, { stepMs: 1_000, random: randomOf(1) })).toBeNull();
});
