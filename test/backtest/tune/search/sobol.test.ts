/** The Sobol sequence is the published one, and scrambled it is as even. */
import { expect, test } from 'vitest';
import { directionNumbers, SOBOL_DIMENSIONS } from '../../../../backtest/tune/search/directionNumbers.ts';
import { scrambledSobol, sobolBits } from '../../../../backtest/tune/search/sobolSearch.ts';

test('unscrambled it is that of another program with the same direction numbers (scipy 1.17, qmc.Sobol)', () => {
  const tables = Array.from({ length: SOBOL_DIMENSIONS }, (_, i) => directionNumbers(i));
  const at = (index: number) => tables.map(table => sobolBits(table, index) / 2 ** 32);
  REFERENCE.forEach(([index, ...coordinates]) => expect(at(index!)).toEqual(coordinates));
});

test('of the first 2^k scrambled points each of 2^k equal stretches has one, in every dimension', () => {
  for (const seed of [1, 2, 3]) {
    const at = scrambledSobol(SOBOL_DIMENSIONS, seed);
    const points = Array.from({ length: 256 }, (_, i) => at(i));
    for (let d = 0; d < SOBOL_DIMENSIONS; d++)
      expect(new Set(points.map(point => Math.floor(point[d]! * 256))).size).toBe(256);
  }
});

test('beyond the table coordinates are even draws', () => {
  const at = scrambledSobol(SOBOL_DIMENSIONS + 2, 4);
  const last = Array.from({ length: 400 }, (_, i) => at(i).at(-1)!);
  expect(last.every(x => x >= 0 && x < 1)).toBe(true);
  expect(last.reduce((sum, x) => sum + x, 0) / 400).toBeCloseTo(0.5, 1);
});

/** Number of the point and its 32 coordinates. */
const REFERENCE: readonly (readonly number[])[] = [
  [
    1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5,
    0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5,
  ],
  [
    2, 0.75, 0.25, 0.25, 0.25, 0.75, 0.75, 0.25, 0.75, 0.75, 0.75, 0.75, 0.75, 0.25, 0.25, 0.75, 0.25, 0.75, 0.25, 0.75,
    0.25, 0.25, 0.75, 0.25, 0.25, 0.25, 0.75, 0.25, 0.75, 0.25, 0.75, 0.25, 0.25,
  ],
  [
    5, 0.875, 0.875, 0.125, 0.375, 0.875, 0.625, 0.875, 0.375, 0.375, 0.125, 0.375, 0.875, 0.875, 0.125, 0.875, 0.375,
    0.875, 0.375, 0.375, 0.625, 0.625, 0.625, 0.875, 0.375, 0.375, 0.375, 0.875, 0.125, 0.625, 0.625, 0.875, 0.625,
  ],
  [
    37, 0.921875, 0.640625, 0.578125, 0.921875, 0.765625, 0.296875, 0.171875, 0.796875, 0.609375, 0.171875, 0.015625,
    0.078125, 0.578125, 0.859375, 0.109375, 0.484375, 0.796875, 0.421875, 0.046875, 0.140625, 0.953125, 0.078125,
    0.546875, 0.640625, 0.296875, 0.359375, 0.796875, 0.390625, 0.515625, 0.109375, 0.359375, 0.140625,
  ],
  [
    63, 0.015625, 0.796875, 0.359375, 0.453125, 0.859375, 0.140625, 0.578125, 0.140625, 0.828125, 0.578125, 0.421875,
    0.671875, 0.546875, 0.765625, 0.328125, 0.765625, 0.078125, 0.390625, 0.953125, 0.234375, 0.234375, 0.546875,
    0.390625, 0.546875, 0.953125, 0.640625, 0.203125, 0.296875, 0.296875, 0.453125, 0.015625, 0.921875,
  ],
];
