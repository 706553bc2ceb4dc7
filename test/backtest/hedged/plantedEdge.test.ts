/** A planted lead is found and a planted edge is earned; where there is none, the verdict is not to quote. */
import { describe, expect, test } from 'vitest';
import { hedgedProfileOf, hedgedVerdictsOf, PAIR_HORIZON_S, payingFeeOf } from '../../../backtest/index.ts';
import { few } from '../../many.ts';
import { independentPair, LOSING, PAYING, plantedPair, type PlantedPair } from './pairedMarkets.ts';

const SEEDS = few(
  Array.from({ length: 100 }, (_, i) => i + 1),
  1,
);
const HOURS = 4;
/** Fees of both exchanges together, in bps. */
const FEE = 4;

/** Number of seeds that may fail: 5 in 100. */
const FAILURES_MAX = Math.floor(SEEDS.length / 20);

const failing = (holds: (seed: number) => boolean): readonly number[] => SEEDS.filter(seed => !holds(seed));

const measured = (seed: number, truth: PlantedPair) => {
  const { quoted, hedge } = plantedPair(seed, HOURS, truth);
  return hedgedProfileOf(quoted, hedge, { seed });
};

describe('two recordings on one clock', () => {
  test('a planted lead of two seconds is found, and the planted edge is earned on another day', () => {
    const failures = failing(seed => {
      const profile = measured(seed, PAYING);
      const [verdict] = hedgedVerdictsOf(profile, [FEE], seed);
      const { lead } = profile;
      if (lead === null || verdict === undefined || !verdict.quote || verdict.distanceBps === null) return false;
      const isFound = Math.abs(lead.lagMs - 2_000) <= 500 && lead.lowMs > 0;
      const { quoted, hedge } = plantedPair(1_000 + seed, HOURS, PAYING);
      const later = hedgedProfileOf(quoted, hedge, { seed, distancesBps: [verdict.distanceBps] }).heldOut;
      const earned = later.points[0]!.markoutBps[later.horizonsS.indexOf(PAIR_HORIZON_S)]!.value - FEE;
      return isFound && earned > 0;
    });
    expect(failures.length, `seeds ${failures.join(', ')}`).toBeLessThanOrEqual(FAILURES_MAX);
  }, 1_800_000);

  test('where takers know more than they pay, the verdict is not to quote, even without fees', () => {
    const failures = failing(seed => {
      const profile = measured(seed, LOSING);
      return hedgedVerdictsOf(profile, [0, FEE], seed).every(({ quote }) => !quote);
    });
    expect(failures.length, `seeds ${failures.join(', ')}`).toBeLessThanOrEqual(FAILURES_MAX);
  }, 1_800_000);

  test('of two markets that have nothing in common, the verdict is not to quote, even without fees', () => {
    const failures = failing(seed => {
      const { quoted, hedge } = independentPair(seed, HOURS);
      const profile = hedgedProfileOf(quoted, hedge, { seed });
      return (
        hedgedVerdictsOf(profile, [0], seed).every(({ quote }) => !quote) && !((payingFeeOf(profile, seed) ?? -1) > 0)
      );
    });
    expect(failures.length, `seeds ${failures.join(', ')}`).toBeLessThanOrEqual(FAILURES_MAX);
  }, 1_800_000);
});
