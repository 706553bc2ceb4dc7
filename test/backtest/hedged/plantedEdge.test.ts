/** A planted lead is found and a planted edge is earned; where there is none, the verdict is not to quote. */
import { describe, expect, test } from 'vitest';
import {
  hedgedProfileOf,
  hedgedVerdictsOf,
  PAIR_HORIZON_S,
  payingFeeOf,
  type HedgedVerdict,
} from '../../../backtest/index.ts';
import { few, isMany } from '../../many.ts';
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

const measured = (seed: number, truth: PlantedPair) => {
  const { quoted, hedge } = plantedPair(seed, HOURS, truth);
  return hedgedProfileOf(quoted, hedge, { seed });
};

/** Whether a verdict against quoting was made from fills: neither part of the time had too few of them. */
const isJudged = ({ quote, heldOutBps }: HedgedVerdict): boolean => !quote && heldOutBps !== null;

/** Counts the seeds for which each claim holds, prints the counts of many seeds, and fails if one holds for too few seeds. */
function holdsForNearlyAll(title: string, claimsOf: (seed: number) => Readonly<Record<string, boolean>>): void {
  const failed = new Map<string, number[]>();
  for (const seed of SEEDS)
    for (const [claim, holds] of Object.entries(claimsOf(seed))) {
      const seeds = failed.get(claim) ?? [];
      failed.set(claim, holds ? seeds : [...seeds, seed]);
    }
  if (isMany)
    for (const [claim, seeds] of failed)
      console.log(
        `${title}: ${claim}: ${SEEDS.length - seeds.length} of ${SEEDS.length} seeds, not ${seeds.join(' ')}`,
      );
  for (const [claim, seeds] of failed)
    expect(seeds.length, `${claim}: not for seeds ${seeds.join(', ')}`).toBeLessThanOrEqual(FAILURES_MAX);
}

describe('two recordings on one clock', () => {
  test('a planted lead of two seconds is found, and the planted edge is earned on another day', () => {
    holdsForNearlyAll('planted', seed => {
      const profile = measured(seed, PAYING);
      const { lead } = profile;
      const isFound = lead !== null && Math.abs(lead.lagMs - 2_000) <= 500 && lead.lowMs > 0;
      const verdict = hedgedVerdictsOf(profile, [FEE], seed)[0]!;
      if (!verdict.quote) return { 'lead found': isFound, 'edge found': false, 'edge earned': false };
      const { quoted, hedge } = plantedPair(1_000 + seed, HOURS, PAYING);
      const later = hedgedProfileOf(quoted, hedge, { seed, distancesBps: [verdict.distanceBps!] }).heldOut;
      const earned = later.points[0]!.markoutBps[later.horizonsS.indexOf(PAIR_HORIZON_S)]!.value - FEE;
      return { 'lead found': isFound, 'edge found': true, 'edge earned': earned > 0 };
    });
  }, 1_800_000);

  test('where takers know more than they pay, the verdict is not to quote, even without fees', () => {
    holdsForNearlyAll('takers know more', seed => {
      const verdicts = hedgedVerdictsOf(measured(seed, LOSING), [0, FEE], seed);
      return { 'do not': verdicts.every(({ quote }) => !quote), 'from fills': verdicts.every(isJudged) };
    });
  }, 1_800_000);

  test('of two markets that have nothing in common, the verdict is not to quote, even without fees', () => {
    holdsForNearlyAll('nothing in common', seed => {
      const { quoted, hedge } = independentPair(seed, HOURS);
      const profile = hedgedProfileOf(quoted, hedge, { seed });
      const verdict = hedgedVerdictsOf(profile, [0], seed)[0]!;
      return {
        'do not': !verdict.quote && !((payingFeeOf(profile, seed) ?? -1) > 0),
        'from fills': isJudged(verdict),
      };
    });
  }, 1_800_000);
});
