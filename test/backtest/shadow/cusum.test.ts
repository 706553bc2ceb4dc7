/** False alarms and misses of the detectors, on observations that are drawn from a seed. */
import { describe, expect, test } from 'vitest';
import { DETECTORS } from '../../../backtest/shadow/causes.ts';
import { ALARM_THRESHOLD, newCusum, addObservation, type Detection } from '../../../backtest/shadow/cusum.ts';
import { normal, randomOf, type Random } from '../../../src/core/index.ts';
import { sized } from '../../many.ts';

/** Number of alarms in `count` observations. */
function alarmsIn(detection: Detection, count: number, value: () => number): number {
  const state = newCusum();
  let alarms = 0;
  for (let i = 0; i < count; i++) if (addObservation(state, detection, value())) alarms++;
  return alarms;
}

const FIXED: Detection = { slack: 0.5, mean: 10, deviation: 2 };
const exponential = (random: Random): number => -Math.log(1 - random.next());

describe('a detector', () => {
  test('with a fixed normal raises no alarm in a million normal observations', () => {
    const random = randomOf(1);
    expect(alarmsIn(FIXED, sized(10_000_000, 300_000), () => 10 + 2 * normal(random))).toBe(0);
  });

  test('with a learned normal raises no alarm on any of 100 samples, normal or skewed', () => {
    for (const name of ['placements', 'cancels', 'tradesOffBook', 'fills'] as const) {
      for (let seed = 1; seed <= sized(100, 10); seed++) {
        const random = randomOf(seed);
        const draws = [() => 50 + 9 * normal(random), () => 20 + 30 * exponential(random)];
        for (const draw of draws) expect(alarmsIn(DETECTORS[name], 10_000, draw), `${name}, seed ${seed}`).toBe(0);
      }
    }
  });

  test('raises one alarm for a lasting shift of two deviations, within fifteen observations, in both directions', () => {
    for (const shift of [4, -4]) {
      expect(alarmsIn(FIXED, 9, () => 10 + shift)).toBe(0);
      expect(alarmsIn(FIXED, 15, () => 10 + shift)).toBe(1);
      expect(alarmsIn(FIXED, 1_000, () => 10 + shift)).toBe(1);
    }
  });

  test('needs at least five observations, however large they are, and ignores those that are no number', () => {
    expect(alarmsIn(FIXED, 4, () => 1e9)).toBe(0);
    expect(alarmsIn(FIXED, 5, () => 1e9)).toBe(1);
    expect(alarmsIn(FIXED, 100, () => Number.NaN)).toBe(0);
  });

  test('ends its alarm when the observations are normal again, and can raise it anew', () => {
    const state = newCusum();
    const rounds = [];
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 100; i++) if (addObservation(state, FIXED, 20)) rounds.push('raised');
      expect(Math.max(state.above, state.below)).toBeGreaterThanOrEqual(ALARM_THRESHOLD);
      for (let i = 0; i < 100; i++) addObservation(state, FIXED, 10);
      rounds.push(state.isRaised);
    }
    expect(rounds).toEqual(['raised', false, 'raised', false, 'raised', false]);
  });
});
