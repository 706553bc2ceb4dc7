import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { fragment } from '../../backtest/app/calibrate/calibrate.ts';
import { amount, exponential, normal, price, randomOf } from '../../src/core/index.ts';
import {
  calibrationOf,
  finishTape,
  imbalanceOf,
  leaderOf,
  logSecondsOf,
  SIDE,
  TapeBuilder,
  type Calibration,
  type Gap,
  type SideCode,
  type Tape,
} from '../../src/tape/index.ts';
import { strategies } from '../../strategies/index.ts';
import { plain } from '../core/market.ts';

type Truth = { volatilityBps: number; perMinute: number; decayPerBps: number; after: number };
/** `after`: bps by which a sweep moves the price. */
const MOVING: Truth = { volatilityBps: 20, perMinute: 12, decayPerBps: 0.12, after: 1.5 };
const STILL: Truth = { ...MOVING, volatilityBps: 2, after: 0 };
const HOUR = 3_600;
const INSTRUMENT = { symbol: 'btc_mxn', tick: '1' };

/** A thin book around a price that wanders each second, swept from both sides; each sweep moves it for good. */
function generated(seed: number, hours: number, truth: Truth): Tape {
  const random = randomOf(seed);
  const tape = new TapeBuilder();
  let mid = 1_000_000;
  let laid: [bid: number, ask: number] | null = null;
  const lay = (at: number) => {
    const touch: [number, number] = [Math.floor(mid) - 1, Math.floor(mid) + 1];
    laid?.forEach((ticks, side) => tape.level(at, at, side === 0 ? SIDE.buy : SIDE.sell, price(ticks), amount(0)));
    touch.forEach((ticks, side) =>
      tape.level(at, at, side === 0 ? SIDE.buy : SIDE.sell, price(ticks), amount(1 + random.integer(0, 9))),
    );
    laid = touch;
  };
  lay(0);
  let second = 1;
  for (let at = 0; at < hours * HOUR * 1_000;) {
    at += exponential(random, 30_000 / truth.perMinute);
    for (; second * 1_000 <= at; second++) {
      mid *= 1 + (truth.volatilityBps / 10_000 / 60) * normal(random);
      lay(second * 1_000);
    }
    const sign = random.next() < 0.5 ? 1 : -1;
    const away = mid * exponential(random, 1 / truth.decayPerBps) * 1e-4;
    tape.trade(at, at, sign > 0 ? SIDE.buy : SIDE.sell, price(Math.round(mid + sign * away)), amount(1));
    mid *= 1 + sign * truth.after * 1e-4;
    lay(at);
  }
  return finishTape({ source: 'generated', book: 'btc_mxn', tick: '1', depth: 1, columns: tape.columns() });
}

const within = ({ value, error }: { value: number; error: number }, expected: number, errors = 3.5): void =>
  expect(Math.abs(value - expected) / error).toBeLessThan(errors);

describe('a calibration', () => {
  const found = calibrationOf(generated(5, 8, MOVING));

  test('recovers the arrivals of a generated recording within its errors, where the price stands still in a window', () => {
    const { perMinute, decayPerBps } = calibrationOf(generated(6, 8, STILL)).arrivals!;
    within(perMinute, STILL.perMinute);
    within(decayPerBps, STILL.decayPerBps);
    expect(perMinute.error / STILL.perMinute).toBeLessThan(0.1);
  });

  test('recovers the volatility, which sweeps add to', () => {
    // Moves of sweeps are independent of each other: their variances add.
    const sweeps = 2 * MOVING.perMinute * 60 * MOVING.after ** 2;
    within(found.volatilityBps!, Math.sqrt(MOVING.volatilityBps ** 2 + sweeps));
    expect(found.volatilityBps!.error).toBeLessThan(5);
  });

  test('recovers how far a trade moves the price for good', () => {
    within(found.adverseBps!, MOVING.after);
  });

  test('as YAML is a market that a model takes', () => {
    const text = fragment(found, INSTRUMENT, 'generated');
    const { market } = parse(text) as { market: object };
    const read = strategies.glft.parameters.parse({ amount: '0.01', risk: { amount: '500 mxn' }, market });
    expect(read.market.decayPerBps).toBeCloseTo(found.arrivals!.decayPerBps.value, 3);
    expect(text).toMatch(/volatilityBps: [\d.]+ # \+- [\d.]+;/);
  });
});

test('what a recording cannot tell is said, and is no number', () => {
  const tape = new TapeBuilder();
  for (let s = 0; s < 10; s++) {
    tape.level(s * 1_000, s * 1_000, SIDE.buy, price(99), amount(1 + s));
    tape.level(s * 1_000, s * 1_000, SIDE.sell, price(101), amount(1));
  }
  const found: Calibration = calibrationOf(
    finishTape({ source: 'short', book: 'btc_mxn', tick: '1', depth: 1, columns: tape.columns() }),
  );
  expect(found).toMatchObject({ arrivals: null, adverseBps: null, microprice: null, trades: 0 });
  const text = fragment(found, INSTRUMENT, 'short');
  expect(text).toContain('# arrivalsPerMinute: cannot be measured from this recording');
  expect(text).not.toMatch(/NaN|Infinity|null/);
});

test('the slope on the imbalance is more than chance in a market that leans with it, and both slopes are chance in one that does not', () => {
  const random = randomOf(9);
  const tape = new TapeBuilder();
  const PER_COIN = 3;
  const COIN = 100_000_000;
  let mid = 1_000_000;
  let bias = 0;
  let laid: readonly (readonly [side: SideCode, ticks: number])[] = [];
  for (let second = 0; second < 4 * HOUR; second++) {
    const at = second * 1_000;
    for (const [side, ticks] of laid) tape.level(at, at, side, price(ticks), amount(0));
    const [bids, asks] = [random.next(), random.next()];
    // What was heavier for a while pulls the middle after it.
    bias = Math.exp(-0.1) * bias + (bids - asks) * 0.5;
    laid = [
      [SIDE.buy, Math.floor(mid) - 1],
      [SIDE.sell, Math.floor(mid) + 1],
    ];
    [bids + Math.max(0, bias), asks + Math.max(0, -bias)].forEach((coins, i) => {
      const [side, ticks] = laid[i]!;
      tape.level(at, at, side, price(ticks), amount(1 + Math.round(coins * COIN)));
    });
    mid += (bias * PER_COIN * mid) / 1e5 + 5 * normal(random);
  }
  const found = calibrationOf(
    finishTape({ source: 'leaning', book: 'btc_mxn', tick: '1', depth: 1, columns: tape.columns() }),
  ).signals!;
  for (const { foretold } of found.imbalances) {
    expect(foretold!.slope.value / foretold!.slope.error).toBeGreaterThan(5);
    expect(foretold!.rLater).toBeGreaterThan(0.05);
  }
  expect(imbalanceOf(found)!.slope).toBeGreaterThan(0);
  const without = calibrationOf(generated(5, 2, STILL)).signals!;
  for (const { foretold } of without.imbalances)
    expect(Math.abs(foretold!.slope.value / foretold!.slope.error)).toBeLessThan(4);
  expect(Math.abs(without.orderFlow!.slope.value / without.orderFlow!.slope.error)).toBeLessThan(4);
  expect(imbalanceOf(without)).toBeNull();
  const terms = {
    instrument: plain,
    price: 1,
    volatilityBps: 1,
    arrivalsPerMinute: 1,
    decayPerBps: 1,
    adverseBps: 9,
    riskPerHour: '1',
  };
  expect(strategies.imbalance.fromMarket(terms, 1)).toMatchObject({ bpsPerDeviation: 0 });
});

/** A market in pieces with gaps between them, in which the price moves. Each piece but the first begins by one of the ways. */
const AFTER_A_GAP = ['book at its end', 'book later', 'trade before the book', 'the same book at its end'] as const;
function inPieces(after: (typeof AFTER_A_GAP)[number], moves: readonly number[], gapMs = 600_000): Tape {
  const random = randomOf(3);
  const tape = new TapeBuilder();
  const gaps: Gap[] = [];
  const put = (at: number, [bid, bids, ask, asks]: readonly number[]) => {
    tape.clear(at, at);
    tape.level(at, at, SIDE.buy, price(bid!), amount(bids!));
    tape.level(at, at, SIDE.sell, price(ask!), amount(asks!));
  };
  let laid: readonly number[] = [];
  let [at, mid] = [1_700_000_000_000, 1_000_000];
  moves.forEach((move, piece) => {
    if (piece > 0) {
      gaps.push({ from: at, to: at + gapMs, why: 'by the test' });
      at += gapMs;
      if (after === 'the same book at its end') put(at, laid);
      if (after !== 'book at its end') at += 700;
      if (after === 'trade before the book') tape.trade(at, at, SIDE.buy, price(mid + move), amount(1));
      if (after === 'book later' || after === 'trade before the book') at += 3_000;
    }
    mid += move;
    for (let second = 0; second < 500; second++) {
      if (second > 0) at += 1_000;
      const bid = (mid += random.integer(-300, 300));
      laid = [bid, 1 + random.integer(0, 9), bid + 1 + random.integer(0, 2), 1 + random.integer(0, 9)];
      put(at, laid);
      if (second % 7 !== 3) continue;
      tape.trade(at, at, SIDE.buy, price(bid + 3), amount(1));
      mid += 500;
    }
  });
  const about = { source: 'pieces', book: 'btc_mxn', tick: '1', depth: 1 };
  return finishTape({ ...about, columns: tape.columns(), gaps });
}

test.each(AFTER_A_GAP)('no estimate knows how far the price moved in a gap of the recording (after it: %s)', after => {
  const still = calibrationOf(inPieces(after, [0, 0, 0]));
  const moved = calibrationOf(inPieces(after, [0, 20_000, -50_000]));
  expect(still.microprice!.samples).toBeGreaterThan(1_480);
  expect(moved.microprice).toEqual(still.microprice);
  // In bps of another price: at most 5% more or less.
  for (const of of ['volatilityBps', 'adverseBps'] as const)
    expect(Math.abs(moved[of]!.value / still[of]!.value - 1)).toBeLessThan(0.05);
});

test.each(AFTER_A_GAP)('predictions do not depend on how long the recording had gaps (after them: %s)', after => {
  const [short, ...longer] = [601_000, 660_000, 3_600_000, 100_000_000].map(gapMs => {
    const tape = inPieces(after, [0, 700, -300], gapMs);
    return {
      signals: calibrationOf(tape).signals!,
      leader: leaderOf(tape, [{ book: 'btc_mxn', divides: false }], [tape], 1),
    };
  });
  expect(short!.signals.orderFlow).not.toBeNull();
  for (const { foretold } of short!.signals.imbalances) expect(foretold).not.toBeNull();
  expect(short!.leader.horizons[0]!.foretold).not.toBeNull();
  for (const one of longer) expect(one).toEqual(short);
});

test('a second has no price from the start of a gap to the first price after it, also after the end of the gap', () => {
  const tape = inPieces('trade before the book', [0, 700], 60_000);
  const { from, values } = logSecondsOf(tape);
  const missing = [...values.keys()].filter(i => Number.isNaN(values[i]!)).map(i => 1_000 * (from + i));
  expect(missing[0]).toBe(tape.gaps[0]!.from);
  // A trade comes 0.7 s after the gap, and the book 3.7 s after it.
  expect(missing.at(-1)).toBe(tape.gaps[0]!.to + 2_000);
});
