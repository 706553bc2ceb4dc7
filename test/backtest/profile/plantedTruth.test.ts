/** Over many seeds: the profile finds the best distance of a market where it is known, and does not quote where none pays. */
import { expect, test } from 'vitest';
import { distanceProfileOf, quoteVerdictOf } from '../../../backtest/index.ts';
import { randomOf } from '../../../src/core/index.ts';
import { bestDistance, plantedMarket, type Planted } from './plantedMarket.ts';

const SEEDS = Array.from({ length: 100 }, (_, i) => i + 1);
const HOURS = 4;
const PAYS: Planted = { perMinute: 3, decayPerBps: 0.12, move: 1, moveOfReach: 0.3, volatilityBps: 20 };

const verdictOn = (seed: number, truth: Planted, feeBps: number) =>
  quoteVerdictOf(distanceProfileOf(plantedMarket(seed, HOURS, truth), { orderValue: 1, horizons: [60] }), {
    feeBps,
    random: randomOf(seed),
  });

const countOf = (test: (seed: number) => boolean): number => SEEDS.filter(test).length;

test('the best distance is within its interval in at least 90 of 100 markets, and it is said to pay', () => {
  const best = bestDistance(PAYS, 4);
  let quoted = 0;
  let width = 0;
  const found = countOf(seed => {
    const verdict = verdictOn(seed, PAYS, 4);
    const [low, high] = verdict.distanceInterval!;
    width += (high - low) / SEEDS.length;
    if (verdict.quote) quoted++;
    return low <= best && best <= high;
  });
  expect(found).toBeGreaterThanOrEqual(90);
  expect(quoted).toBeGreaterThanOrEqual(90);
  // An interval that holds everything would be true as well.
  expect(width).toBeLessThan(best);
});

test.each<[string, Planted]>([
  // What a taker knows is all that he reaches: at every distance exactly nothing is left.
  ['no distance keeps anything', { ...PAYS, move: -1 / 0.12, moveOfReach: 1 }],
  [
    'few takers know much, and take what the others leave',
    { ...PAYS, move: -1 / 0.12 - 1, moveOfReach: 1, informed: { share: 0.02, bps: 50 } },
  ],
])('"do not quote" is said in at least 95 of 100 markets where %s', (_, truth) => {
  expect(countOf(seed => !verdictOn(seed, truth, 0).quote)).toBeGreaterThanOrEqual(95);
});
