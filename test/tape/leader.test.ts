import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calibrate } from '../../backtest/app/calibrate/calibrate.ts';
import { latenciesOf } from '../../backtest/app/backtest/latencyFlags.ts';
import { amount, normal, price, randomOf } from '../../src/core/index.ts';
import {
  basisMemoryFor,
  finishTape,
  leaderIn,
  LEADER_HORIZONS,
  SIDE,
  TapeBuilder,
  type LogSeconds,
  type Tape,
} from '../../src/tape/index.ts';
import { NO_PROGRESS } from '../app/noProgress.ts';

const SECONDS = 4 * 3_600;
const BASIS = 0.02;

type World = { readonly own: LogSeconds; readonly leader: LogSeconds };

/** A leader that wanders by one bp a second, and a book that comes after it by this share of their distance each second, and wanders by itself. */
function worldOf(seed: number, share: number, seconds = SECONDS): World {
  const random = randomOf(seed);
  const [own, leader] = [new Float64Array(seconds), new Float64Array(seconds)];
  let [ours, theirs] = [-BASIS, 0];
  for (let i = 0; i < seconds; i++) {
    theirs += 1e-4 * normal(random);
    ours += share * (theirs - BASIS - ours) + 1e-4 * normal(random);
    own[i] = ours;
    leader[i] = theirs;
  }
  return { own: { from: 0, values: own }, leader: { from: 0, values: leader } };
}

const look = ({ own, leader }: World) =>
  leaderIn(own, leader, { ageS: 0, basisMemoryS: basisMemoryFor(own.values.length) });
const seeds = Array.from({ length: 100 }, (_, seed) => seed);

describe('a leader that was planted', () => {
  test('is found: the slope of each horizon lies in its interval in at least 90 of 100 seeds, and the weight is of the longest', () => {
    const inside = LEADER_HORIZONS.map(() => 0);
    for (const seed of seeds) {
      const found = look(worldOf(seed, 0.02));
      expect(found.weight).toBeGreaterThan(0.01);
      found.horizons.forEach(({ seconds, foretold }, h) => {
        const truth = 1 - 0.98 ** seconds;
        if (foretold !== null && foretold.low <= truth && truth <= foretold.high) inside[h]! += 1;
      });
    }
    for (const count of inside.slice(0, 4)) expect(count).toBeGreaterThanOrEqual(90);
    // Five minutes are too long for so short a recording.
    expect(inside[4]).toBe(0);
  });

  test('is not found where there is none, in at least 95 of 100 seeds', () => {
    expect(seeds.filter(seed => look(worldOf(seed, 0)).weight === 0).length).toBeGreaterThanOrEqual(95);
  });

  test('is not taken for one the other way round: who is followed is not foretold by his follower', () => {
    const turned = ({ own, leader }: World): World => ({ own: leader, leader: own });
    expect(seeds.filter(seed => look(turned(worldOf(seed, 0.1))).weight === 0).length).toBeGreaterThanOrEqual(95);
  });

  test('stands still: a dead quote foretells nothing, though our price comes back by itself', () => {
    const { own } = worldOf(3, 0);
    const random = randomOf(4);
    const bouncing = { from: 0, values: own.values.map(value => value + 3e-4 * normal(random)) };
    const dead = { from: 0, values: new Float64Array(SECONDS) };
    const found = look({ own: bouncing, leader: dead });
    expect(found).toMatchObject({ weight: 0, chosen: null });
    expect(found.moving).toBeLessThan(0.001);
    expect(found.horizons.every(({ foretold }) => foretold === null)).toBe(true);
  });
});

describe('seconds without a price', () => {
  const MEMORY = 40;
  const LONG = 700;
  type Stretch = { readonly known: number; readonly missing: number; readonly whose: 'own' | 'leader' | 'both' };
  /** Fewer seconds than the averages need before a prediction is tried, though in several stretches. */
  const stretches = (missing: fc.Arbitrary<number>) =>
    fc.array(
      fc.record({
        known: fc.integer({ min: 1, max: 9 }),
        missing,
        whose: fc.constantFrom<Stretch['whose']>('own', 'leader', 'both'),
      }),
      { minLength: 1, maxLength: 4 },
    );
  const short = fc.integer({ min: 1, max: MEMORY });

  /** The prediction of a long stretch behind stretches of another basis, each followed by seconds in which a price is missing. */
  function found(before: readonly Stretch[], seed: number, ageS: number, from: number) {
    const world = worldOf(seed, 0.05, LONG + 36);
    const [own, leader]: [number[], number[]] = [[], []];
    const add = (i: number, offset: number, whose?: Stretch['whose']) => {
      own.push(whose === 'own' || whose === 'both' ? Number.NaN : world.own.values[i]! + offset);
      leader.push(whose === 'leader' || whose === 'both' ? Number.NaN : world.leader.values[i]!);
    };
    // Each known second has the same prices, wherever the stretches end.
    let i = 36 - before.reduce((sum, { known }) => sum + known, 0);
    for (const { known, missing, whose } of before) {
      for (const end = i + known; i < end; i++) add(i, 0.01);
      for (let n = 0; n < missing; n++) add(n, 1, whose);
    }
    for (; i < 36 + LONG; i++) add(i, 0);
    return leaderIn(
      { from, values: Float64Array.from(own) },
      // As much earlier as it is old when it is used.
      { from: from - ageS, values: Float64Array.from(leader) },
      { ageS, basisMemoryS: MEMORY },
    );
  }
  const seed = fc.integer({ min: 1, max: 1_000 });
  const age = fc.integer({ min: 0, max: 3 });
  const from = fc.integer({ min: -5, max: 1_000_000 });

  test('count for nothing while there are no more in a row than the memory, however many rows there are', () => {
    fc.assert(
      fc.property(stretches(short), seed, age, from, (before, world, ageS, first) => {
        const gapless = before.map(stretch => ({ ...stretch, missing: 0 }));
        const wanted = found(gapless, world, 0, 0);
        expect(wanted.horizons[0]!.foretold).not.toBeNull();
        expect(found(before, world, ageS, first)).toEqual({ ...wanted, ageS });
      }),
      { numRuns: 100 },
    );
  });

  test('let everything before them be forgotten when there are more in a row than the memory', () => {
    const longer = fc.integer({ min: MEMORY + 1, max: 3 * MEMORY });
    fc.assert(
      fc.property(stretches(short), longer, seed, age, from, (before, missing, world, ageS, first) => {
        const forgotten = [...before.slice(0, -1), { ...before.at(-1)!, missing }];
        const wanted = found([], world, 0, 0).horizons.map(({ foretold }) => foretold?.slope.value);
        found(forgotten, world, ageS, first).horizons.forEach(({ foretold }, h) => {
          if (wanted[h] === undefined) expect(foretold).toBeNull();
          else expect(foretold!.slope.value).toBeCloseTo(wanted[h], 9);
        });
      }),
      { numRuns: 100 },
    );
  });
});

const TICKS = 1_000_000;
function tapeOf(book: string, { values }: LogSeconds, ticks: number): Tape {
  const tape = new TapeBuilder();
  let laid: readonly number[] = [];
  values.forEach((log, i) => {
    const at = i * 1_000 + 500;
    laid.forEach((tick, side) => tape.level(at, at, side === 0 ? SIDE.buy : SIDE.sell, price(tick), amount(0)));
    const mid = Math.round(ticks * Math.exp(log));
    laid = [mid - 10, mid + 10];
    laid.forEach((tick, side) => tape.level(at, at, side === 0 ? SIDE.buy : SIDE.sell, price(tick), amount(5)));
  });
  return finishTape({ source: 'generated', book, tick: '1', depth: 1, columns: tape.columns() });
}

test('puntas calibrate writes the weight of a chain of books, and none of one that foretells nothing', async () => {
  const latencies = latenciesOf({ latencyMs: '25', feedLatencyMs: '0' });
  const asked = { cadenceMs: 60_000, latencies, feesBps: null, seed: 1, json: false };
  const { own, leader } = worldOf(5, 0.05, 7_200);
  const fixed = { from: 0, values: new Float64Array(7_200).map((_, i) => (i % 7) * 1e-6) };
  const ours = tapeOf('btc_mxn', own, TICKS);
  const tapes = new Map([
    ['btc_usd', tapeOf('btc_usd', leader, TICKS)],
    ['usd_mxn', tapeOf('usd_mxn', fixed, TICKS)],
  ]);
  const text = await calibrate(ours, NO_PROGRESS, asked, { tapes, ageS: 1 });
  const [, weight = ''] =
    /reference: # also add the section reference: \{ books: \[btc_usd, usd_mxn\] \}\n    weight: ([\d.]+)/.exec(text) ??
    [];
  expect(Number(weight)).toBeGreaterThan(0.5);
  expect(text).toContain('basisMemory: 12m');
  const none = new Map([['btc_mxn', tapeOf('btc_mxn', worldOf(6, 0, 7_200).leader, TICKS)]]);
  expect(await calibrate(ours, NO_PROGRESS, asked, { tapes: none, ageS: 1 })).toContain('# reference: weight 0');
  const wrong = new Map([['eth_usd', ours]]);
  await expect(calibrate(ours, NO_PROGRESS, asked, { tapes: wrong, ageS: 1 })).rejects.toThrow(
    '--reference: expected books that form a chain from the base to the quote currency of btc_mxn, found eth_usd',
  );
});
