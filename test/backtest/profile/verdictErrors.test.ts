/** Errors of verdicts in markets that are known: without an edge hardly any is quoted, with one it is found, and days that differ count. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checksWithin,
  endsScouting,
  quoteVerdictOf,
  VERDICT_ERROR,
  type DistanceProfile,
} from '../../../backtest/index.ts';
import { randomOf } from '../../../src/core/index.ts';
import { sized } from '../../many.ts';
import { FEE_BPS, NO_EDGE, plantedProfiles, type PlantedExecutions } from './plantedExecutions.ts';

const SEEDS = Array.from({ length: sized(200, 25) }, (_, i) => i + 1);
/** Number of `SEEDS` that a probability of `VERDICT_ERROR` exceeds in one of ten thousand trials. */
const FALSE_MAX = sized(23, 7);
const HOUR_MS = 3_600_000;

const verdictOn = (profile: DistanceProfile, seed: number, error = VERDICT_ERROR) =>
  quoteVerdictOf(profile, { feeBps: FEE_BPS, random: randomOf(seed), error });

/** Whether a scout that checks on the way quotes the market at any of its checks, within `hours`. */
function isQuoted(seed: number, hours: number, truth: PlantedExecutions): boolean {
  const checks = checksWithin(hours * HOUR_MS);
  const profiles = plantedProfiles(
    seed,
    checks.map(({ atMs }) => atMs / HOUR_MS),
    truth,
  );
  return profiles.some((profile, i) => verdictOn(profile, seed, checks[i]!.error).quote);
}

describe('over all checks of a scout', () => {
  test.each<[string, number, Partial<PlantedExecutions>]>([
    ['heavy tails, changing volatility and runs of takers on one side', 24, {}],
    ['few executions', 24, { perHour: 12 }],
  ])('a market without an edge is quoted in hardly more than one of twenty seeds: %s', (_, hours, over) => {
    const wrong = SEEDS.filter(seed => isQuoted(seed, hours, { ...NO_EDGE, ...over }));
    expect(wrong.length, `seeds ${wrong.join(', ')}`).toBeLessThanOrEqual(FALSE_MAX);
  });

  // A limit, not a promise: where one fill in twenty loses 60 bps, a check that saw none of them cannot know it.
  test('one of the takers in twenty who knows 60 bps more deceives it in no more than one of five seeds', () => {
    const wrong = SEEDS.filter(seed => isQuoted(seed, 24, { ...NO_EDGE, informed: { share: 0.05, bps: 60 } }));
    expect(wrong.length, `seeds ${wrong.join(', ')}`).toBeLessThanOrEqual(sized(47, 11));
  });

  test('days that differ by as much as the edge that is looked for are counted once there are a few', () => {
    const days = { ...NO_EDGE, perHour: 30, dayBps: 3 };
    const wrong = SEEDS.filter(seed => verdictOn(plantedProfiles(seed, [120], days)[0]!, seed).quote);
    expect(wrong.length, `seeds ${wrong.join(', ')}`).toBeLessThanOrEqual(FALSE_MAX);
  });

  test('an edge of 5 bps under noise of 13 bps per fill is quoted within a day in nearly all seeds', () => {
    const missed = SEEDS.filter(seed => !isQuoted(seed, 24, { ...NO_EDGE, marginBps: 5, curvatureBps: 3 }));
    expect(missed.length, `seeds ${missed.join(', ')}`).toBeLessThanOrEqual(SEEDS.length / 20);
  });
});

test('checks double the time, their errors add up to 5%, and the last has at least half of it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 60_000, max: 30 * 24 * HOUR_MS }), forMs => {
      const checks = checksWithin(forMs);
      expect(checks.at(-1)!.atMs).toBe(forMs);
      checks.slice(1).forEach(({ atMs }, i) => expect(atMs).toBe(2 * checks[i]!.atMs));
      expect(checks.reduce((sum, { error }) => sum + error, 0)).toBeCloseTo(VERDICT_ERROR, 12);
      expect(checks.at(-1)!.error).toBeGreaterThan(VERDICT_ERROR / 2 - 1e-12);
      expect(checks.every(({ atMs, error }) => error > 0 && (atMs >= 900_000 || atMs === forMs))).toBe(true);
    }),
  );
});

test('a scout of more than a day ends a book to quote only after a day, whatever the time of day of its start', () => {
  const [profile] = plantedProfiles(1, [24], { ...NO_EDGE, marginBps: 10 });
  const verdict = verdictOn(profile!, 1);
  expect(verdict.quote).toBe(true);
  const day = 24 * HOUR_MS;
  for (const hour of [0, 0.1, 12, 22, 23.99]) {
    const from = 5 * day + hour * HOUR_MS;
    const ends = (ms: number, forMs: number): boolean => endsScouting({ verdict, from, to: from + ms }, forMs);
    expect([ends(1, day), ends(day - 1, 2 * day), ends(day, 2 * day)], `started at ${hour} h`).toEqual([
      true,
      false,
      true,
    ]);
  }
  const known = verdictOn(plantedProfiles(1, [24], { ...NO_EDGE, marginBps: -12 })[0]!, 1);
  expect(endsScouting({ verdict: known, from: 0, to: 1 }, 2 * day)).toBe(true);
});

test('a smaller error never turns a verdict into one to quote, and lowers the fee at which quoting pays', () => {
  for (const seed of SEEDS.slice(0, 5)) {
    const [profile] = plantedProfiles(seed, [8], { ...NO_EDGE, marginBps: 4, curvatureBps: 3 });
    const fees = [0.05, 0.025, 0.01, 0.003].map(error => verdictOn(profile!, seed, error).breakEvenFeeBps!);
    fees.slice(1).forEach((fee, i) => expect(fee).toBeLessThanOrEqual(fees[i]!));
  }
});

test('a distance whose blocks are all equal has no error, and the verdict has numbers', () => {
  const [profile] = plantedProfiles(1, [4], NO_EDGE);
  const equal = (of: number) => profile!.points[0]!.blocks.at.map(() => of);
  const [value, left] = [equal(1), equal(10)];
  const still = { fills: value, value, edge: left, known: [value], markout: [left] };
  const points = profile!.points.map(point => ({ ...point, fills: value.length, valuePerHour: 10 }));
  const [near] = points.map(point => ({ ...point, blocks: { ...point.blocks, ...still } }));
  const verdict = verdictOn({ ...profile!, points: [near!, ...profile!.points.slice(1)] }, 1);
  expect(verdict.quote).toBe(true);
  expect(Number.isFinite(verdict.breakEvenFeeBps)).toBe(true);
});

describe('a verdict that is not known yet', () => {
  /** The same blocks again and again, as if more hours of the same day were like them. */
  const repeated = (profile: DistanceProfile, times: number): DistanceProfile => ({
    ...profile,
    points: profile.points.map(point => {
      const again = <T>(of: readonly T[]): readonly T[] => Array.from({ length: times }, () => of).flat();
      const { at, seconds, fills, value, edge, known, markout } = point.blocks;
      return {
        ...point,
        fills: times * point.fills,
        blocks: {
          ...{ at: again(at), seconds: again(seconds), fills: again(fills), value: again(value), edge: again(edge) },
          ...{ known: known.map(again), markout: markout.map(again) },
        },
      };
    }),
  });

  test('is known after the hours that it names, if these are like the hours before', () => {
    let [tried, known] = [0, 0];
    for (const seed of SEEDS)
      for (const marginBps of [-6, 3]) {
        const [profile] = plantedProfiles(seed, [4], { ...NO_EDGE, marginBps, curvatureBps: 3 });
        const verdict = verdictOn(profile!, seed);
        if (verdict.quote || verdict.isKnown || verdict.hoursMissing === null || verdict.hoursMissing > 36) continue;
        tried++;
        // Rounding of the hours, the draws and the errors of neighboring blocks need a little more.
        const later = verdictOn(repeated(profile!, Math.ceil(1.2 * (1 + verdict.hoursMissing / 4))), seed);
        if (later.quote || later.isKnown) known++;
      }
    // The error from neighboring blocks reaches further with more blocks, so a few need still longer.
    expect(known).toBeGreaterThanOrEqual(0.9 * tried);
    expect(tried).toBeGreaterThan(SEEDS.length / 4);
  });

  test('names the hours until the last check decides, which has more of the error than this one', () => {
    const [profile] = plantedProfiles(6, [4], { ...NO_EDGE, marginBps: 3, curvatureBps: 3 });
    const hoursAt = (error: number, lastError: number): number => {
      const verdict = quoteVerdictOf(profile!, { feeBps: FEE_BPS, random: randomOf(6), error, lastError });
      return (!verdict.quote && verdict.hoursMissing) || Number.NaN;
    };
    expect(hoursAt(0.003, 0.025)).toBe(hoursAt(0.025, 0.025));
    expect(hoursAt(0.003, 0.025)).toBeLessThan(hoursAt(0.003, 0.003));
  });

  test('is not to quote where every fill loses, once there are hours enough', () => {
    for (const seed of SEEDS.slice(0, 10)) {
      const [profile] = plantedProfiles(seed, [24], { ...NO_EDGE, marginBps: -12 });
      expect(verdictOn(profile!, seed)).toMatchObject({ quote: false, isKnown: true, hoursMissing: 0 });
    }
  });

  // Every margin nearer than 25 bps is below -2 bps, and 28 bps has +7 bps, on two fills per hour.
  const FAR: PlantedExecutions = { ...NO_EDGE, marginBps: -20, curvatureBps: -15 };

  test('does not become "do not quote" because of distances with too few fills, one of which pays', () => {
    const [known, named]: [string[], string[]] = [[], []];
    for (const seed of SEEDS.slice(0, 25))
      for (const profile of plantedProfiles(seed, [1, 2, 4, 8], FAR)) {
        const verdict = verdictOn(profile, seed);
        if (verdict.quote) continue;
        if (verdict.isKnown) known.push(`seed ${seed} after ${profile.seconds / 3_600} h`);
        if (/^[\d.]+ (to 28\.0 )?bps from the mid price has too few fills/.test(verdict.why)) named.push(verdict.why);
      }
    // Ten fills that lost by chance make a wrong verdict in at most one of twenty.
    expect(known.length, known.join(', ')).toBeLessThanOrEqual(5);
    expect(named.length).toBeGreaterThan(25);
  });

  test('leaves out a distance that hardly any taker reaches, because whole fills there would be worth nothing', () => {
    for (const seed of SEEDS.slice(0, 5)) {
      const [profile] = plantedProfiles(seed, [48], { ...NO_EDGE, marginBps: -12 });
      const [first, ...rest] = profile!.points;
      const numbers = first!.blocks.at.map(() => 0);
      const empty = {
        ...{ fills: 0, fillsPerHour: 0, valuePerHour: 0, edgeBps: null, distanceBps: 30 },
        blocks: {
          ...first!.blocks,
          fills: numbers,
          value: numbers,
          edge: numbers,
          known: [numbers],
          markout: [numbers],
        },
      };
      const withFar = (distanceBps: number): DistanceProfile => ({
        ...profile!,
        points: [first!, ...rest, { ...first!, ...empty, distanceBps }],
      });
      expect(verdictOn(withFar(30), seed)).toMatchObject({ quote: false, isKnown: true });
      expect(verdictOn(withFar(3_000), seed)).toMatchObject({ quote: false, isKnown: false, hoursMissing: null });
    }
  });

  test('without fills enough names the hours until there are', () => {
    const [profile] = plantedProfiles(1, [0.5], { ...NO_EDGE, perHour: 12 });
    const verdict = verdictOn(profile!, 1);
    expect(verdict).toMatchObject({ quote: false, isKnown: false, netPerHour: null });
    expect(verdict.quote ? null : verdict.hoursMissing).toBeGreaterThan(0);
    const empty = { ...profile!, points: [], limits: ['The recording has no executions.'] };
    expect(verdictOn(empty, 1)).toMatchObject({ isKnown: false, hoursMissing: null });
  });
});
