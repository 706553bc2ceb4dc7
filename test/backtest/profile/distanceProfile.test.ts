import { describe, expect, test } from 'vitest';
import { distanceProfileOf, marketProfileOf, quoteVerdictOf } from '../../../backtest/index.ts';
import { randomOf } from '../../../src/core/index.ts';
import { bestDistance, keptAt, plantedMarket, type Planted } from './plantedMarket.ts';

const TRUTH: Planted = { perMinute: 6, decayPerBps: 0.12, move: 1, moveOfReach: 0.3, volatilityBps: 20 };
// Beside the grid of ticks, so that the mirrored market rounds to the same ones.
const DISTANCES = [2, 4, 6, 8, 10, 12, 15, 18, 22, 26, 30].map(bps => bps + 0.0025);
const OPTIONS = { distancesBps: DISTANCES, orderValue: 1, blockMs: 600_000 };

describe('a profile of distances', () => {
  const profile = distanceProfileOf(plantedMarket(1, 24, TRUTH), OPTIONS);

  test('tells how often an order is met at each distance, and what is left of it', () => {
    for (const { distanceBps, fillsPerHour, fills, edgeBps, markoutBps } of profile.points) {
      const perHour = 2 * 60 * TRUTH.perMinute * Math.exp(-TRUTH.decayPerBps * distanceBps);
      expect(Math.abs(fillsPerHour - perHour) / perHour).toBeLessThan(0.05 + 4 / Math.sqrt(fills));
      expect(edgeBps!).toBeCloseTo(distanceBps, 0);
      const after = markoutBps[1]!;
      expect(Math.abs(after.value - keptAt(TRUTH, distanceBps)) / after.error).toBeLessThan(4);
    }
  });

  test('finds the best distance and says that it pays', () => {
    const verdict = quoteVerdictOf(profile, { feeBps: 4, random: randomOf(1) });
    const best = bestDistance(TRUTH, 4);
    expect(verdict.quote).toBe(true);
    expect(verdict.distanceInterval![0]).toBeLessThanOrEqual(best);
    expect(verdict.distanceInterval![1]).toBeGreaterThanOrEqual(best);
  });

  test('is the same of the mirrored market', () => {
    // Moves so small that a bps stays the same number of ticks.
    const calm: Planted = { ...TRUTH, move: 0.001, moveOfReach: 0.0002, volatilityBps: 1, buyers: 0.8 };
    const [one, other] = [false, true].map(mirror => distanceProfileOf(plantedMarket(2, 3, calm, mirror), OPTIONS));
    one!.points.forEach(({ fills, valuePerHour, markoutBps }, i) => {
      const mirrored = other!.points[i]!;
      expect(fills).toBeGreaterThan(30);
      expect(Math.abs(mirrored.fills - fills)).toBeLessThanOrEqual(1);
      expect(mirrored.valuePerHour / valuePerHour).toBeCloseTo(1, 1);
      markoutBps.forEach((left, h) => expect(mirrored.markoutBps[h]!.value).toBeCloseTo(left!.value, 1));
    });
  });

  test('becomes columns for a model: distance less the move is what was kept', () => {
    const market = marketProfileOf(profile)!;
    market.distancesBps.forEach((bps, i) => {
      const point = profile.points.find(({ distanceBps }) => distanceBps === bps)!;
      expect(bps - market.adverseBps[i]!).toBeCloseTo(point.markoutBps[4]!.value, 9);
      expect(market.fillsPerMinute[i]! * 120).toBeCloseTo(point.valuePerHour / profile.orderValue, 6);
    });
  });
});
