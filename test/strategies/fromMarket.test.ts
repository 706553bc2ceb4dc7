import { describe, expect, test } from 'vitest';
import { modelFromMarket, spreadFromMarket } from '../../strategies/fromMarket.ts';
import { glftParameters } from '../../strategies/glft/parameters.ts';
import { instrument } from './examples.ts';

const TERMS = {
  ...{ instrument, price: 1_500_000, riskPerHour: '500', volatilityBps: 57 },
  ...{ arrivalsPerMinute: 6, decayPerBps: 0.1, adverseBps: 4 },
};
/** Rates fall by e in 10 bps as those of the terms do; the moves eat up what is further out. */
const DISTANCES = [6, 12, 18, 24, 40];
const profileWith = (adverseBps: readonly number[]) => ({
  distancesBps: DISTANCES,
  fillsPerMinute: DISTANCES.map(d => 6 * Math.exp(-0.1 * d)),
  adverseBps,
});

describe('parameters from what fills were worth', () => {
  test('stand at the distance that was found, fee and all, instead of 1/k + xi/2 and the fee', () => {
    expect(spreadFromMarket(TERMS, 4)).toMatchObject({ halfSpreadBps: 16, skewBpsAtLimit: 12, levels: 3 });
    expect(spreadFromMarket({ ...TERMS, distanceBps: 18 }, 4)).toMatchObject({ halfSpreadBps: 18, skewBpsAtLimit: 14 });
  });

  test('lay levels along the profile: as far apart as fills decay there, and only where one pays', () => {
    const at = (adverseBps: readonly number[], distanceBps = 18) =>
      spreadFromMarket({ ...TERMS, distanceBps, profile: profileWith(adverseBps) }, 4);
    const constant = at([4, 4, 4, 4, 4]);
    expect(constant.levels).toBe(3);
    expect(constant.levelSpacingBps).toBeCloseTo(5, 2);
    // At 23 bps a fill earns 1.5, at 28 it loses 0.5.
    expect(at([4, 6, 10, 19, 41]).levels).toBe(2);
    expect(at([4, 6, 10, 24, 37]).levels).toBe(1);
    // Further out than 40 nothing was measured.
    expect(at([4, 4, 4, 4, 4], 34).levels).toBe(2);
  });

  test('of a model are the fills themselves, as its configuration takes them', () => {
    const profile = profileWith([4, 6, 10, 18, 37]);
    const { profile: taken } = glftParameters.parse(modelFromMarket({ ...TERMS, profile }, 4)).market;
    expect(taken?.distancesBps).toEqual(DISTANCES);
    expect(taken?.adverseBps).toEqual(profile.adverseBps);
    for (const [i, rate] of taken!.fillsPerMinute.entries())
      expect(rate / profile.fillsPerMinute[i]!).toBeCloseTo(1, 3);
    expect(glftParameters.parse(modelFromMarket(TERMS, 4)).market.profile).toBeUndefined();
  });
});
