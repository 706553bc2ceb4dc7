import { describe, expect, test } from 'vitest';
import { randomOf } from '../../src/core/index.ts';
import { trendOf } from './trend.ts';

/** A sample every half minute for an hour; loads come in waves, and more of them towards the end. */
const random = randomOf(7);
const hours = Array.from({ length: 120 }, (_, i) => i / 120);
const load = hours.map((at, i) => at + (Math.floor(i / 10) % 2) * 0.5);
const noise = hours.map(() => random.next() - 0.5);

describe('a trend', () => {
  test('is within its interval, which is around nothing where nothing grows', () => {
    const grows = trendOf(
      hours.map((at, i) => [at, 3 * at + noise[i]!] as const),
      12,
    );
    expect(grows.low).toBeLessThan(3);
    expect(grows.high).toBeGreaterThan(3);
    expect(grows.low).toBeGreaterThan(2);
    const flat = trendOf(
      hours.map((at, i) => [at, noise[i]!] as const),
      12,
    );
    expect(flat.low).toBeLessThan(0);
    expect(flat.high).toBeGreaterThan(0);
  });

  test('of what goes with the load is none at equal loads, and shows itself without them', () => {
    const waits = hours.map((at, i) => [at, 10 * load[i]! + noise[i]!] as const);
    expect(trendOf(waits, 12).low).toBeGreaterThan(4);
    const equal = trendOf(
      waits.map(([at, value], i) => [at, value, load[i]!] as const),
      12,
    );
    expect(Math.abs(equal.slope)).toBeLessThan(0.6);
    expect(equal.high).toBeLessThan(1);
  });

  test('is not hidden by a load that grows beside it', () => {
    const both = trendOf(
      hours.map((at, i) => [at, 10 * load[i]! + 3 * at + noise[i]!, load[i]!] as const),
      12,
    );
    expect(both.low).toBeGreaterThan(2);
    expect(both.high).toBeLessThan(4);
  });
});
