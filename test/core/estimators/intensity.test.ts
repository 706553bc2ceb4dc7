import { describe, expect, test } from 'vitest';
import {
  addCells,
  amount,
  exponential,
  fitIntensity,
  IntensityMeter,
  price,
  randomOf,
  type Cell,
} from '../../../src/core/index.ts';

const FAIR = 1_000_000;
const DISTANCES = [2, 4, 6, 9, 12, 16, 20].map(bps => bps / 10_000);
/** Twelve a minute on each side; 8 bps further away arrivals are e times fewer. */
const TRUE = { a: 0.2, k: 1_250 };

/** Sweeps on both sides, exponential in depth, around a fair value that stands still. */
function generated(seed: number, seconds: number): readonly Cell[] {
  const random = randomOf(seed);
  const meter = new IntensityMeter({ distances: DISTANCES, windowMs: 20_000, memoryMs: Infinity });
  let [at, open] = [0, 0];
  meter.advanceTo(0, FAIR, () => 0);
  while (at < seconds * 1_000) {
    at += exponential(random, 1_000 / (2 * TRUE.a));
    const side = random.next() < 0.5 ? 'buy' : 'sell';
    const away = FAIR * exponential(random, 1 / TRUE.k);
    while (open + 20_000 <= at) meter.advanceTo((open += 20_000), FAIR, () => 0);
    meter.trade(at, price(Math.round(FAIR + (side === 'buy' ? away : -away))), amount(1), side);
  }
  return meter.cells('both');
}

describe('the fit of A and k', () => {
  test('recovers the parameters of generated arrivals within its errors', () => {
    const fit = fitIntensity(generated(11, 40_000))!;
    expect(Math.abs(Math.log(fit.a / TRUE.a)) / fit.logAError).toBeLessThan(3);
    expect(Math.abs(fit.k - TRUE.k) / fit.kError).toBeLessThan(3);
    expect(fit.kError / TRUE.k).toBeLessThan(0.03);
    expect(fit.rSquared).toBeGreaterThan(0.98);
  });

  test('has errors that are as large as the estimates vary', () => {
    const fits = Array.from({ length: 60 }, (_, seed) => fitIntensity(generated(100 + seed, 3_000))!);
    const deviation = (of: readonly number[]) => Math.sqrt(of.reduce((sum, x) => sum + x * x, 0) / of.length);
    for (const z of [
      fits.map(fit => (fit.k - TRUE.k) / fit.kError),
      fits.map(fit => Math.log(fit.a / TRUE.a) / fit.logAError),
    ]) {
      // The deviation of sixty values has an error of 9%.
      expect(deviation(z)).toBeGreaterThan(0.7);
      expect(deviation(z)).toBeLessThan(1.35);
    }
  });

  test('with a prior and nothing seen it gives the prior back', () => {
    const nothing = DISTANCES.map(distance => ({ distance, reached: 0, exposureS: 0 }));
    const fit = fitIntensity(nothing, { ...TRUE, exposureS: 600 })!;
    expect(fit.a).toBeCloseTo(TRUE.a, 9);
    expect(fit.k).toBeCloseTo(TRUE.k, 6);
    expect(fitIntensity(nothing)).toBeNull();
  });

  test('is refused when arrivals do not fall with distance, or only one distance was reached', () => {
    const cells = [0.001, 0.002].map((distance, i) => ({ distance, reached: 10 * (i + 1), exposureS: 100 }));
    expect(fitIntensity(cells)).toBeNull();
    expect(fitIntensity(cells.slice(0, 1))).toBeNull();
  });
});

describe('a virtual order', () => {
  const meterOf = (displayed: number) => {
    const meter = new IntensityMeter({ distances: [0.001], windowMs: 10_000, memoryMs: Infinity });
    meter.advanceTo(0, 10_000, () => displayed);
    return meter;
  };
  const ended = (meter: IntensityMeter) => {
    meter.advanceTo(10_000, 10_000, () => 0);
    return meter.cells('sell')[0]!;
  };

  test('is reached by a trade through its price, at that moment', () => {
    const meter = meterOf(1_000);
    meter.trade(4_000, price(10_011), amount(1), 'buy');
    expect(ended(meter)).toEqual({ distance: 0.001, reached: 1, exposureS: 4 });
  });

  test('at its price is reached only when all that stood before it has traded', () => {
    const meter = meterOf(5);
    meter.trade(2_000, price(10_010), amount(4), 'buy');
    meter.trade(3_000, price(10_010), amount(1), 'buy');
    expect(ended(meter)).toMatchObject({ reached: 1, exposureS: 3 });
    const behind = meterOf(5);
    behind.trade(2_000, price(10_010), amount(4), 'buy');
    expect(ended(behind)).toMatchObject({ reached: 0, exposureS: 10 });
  });

  test('is not reached by trades of the other side, short of it, or after its window', () => {
    const meter = meterOf(0);
    meter.trade(1_000, price(9_000), amount(1), 'sell');
    meter.trade(2_000, price(10_009), amount(1), 'buy');
    meter.trade(10_000, price(20_000), amount(1), 'buy');
    expect(ended(meter)).toMatchObject({ reached: 0, exposureS: 10 });
  });

  test('of a window in which something may have been missed does not count', () => {
    const meter = meterOf(0);
    meter.trade(1_000, price(20_000), amount(1), 'buy');
    meter.skip();
    expect(ended(meter)).toMatchObject({ reached: 0, exposureS: 0 });
  });

  test('is forgotten with time', () => {
    const meter = new IntensityMeter({ distances: [0.001], windowMs: 10_000, memoryMs: 20_000 });
    for (let at = 0; at <= 400_000; at += 10_000) meter.advanceTo(at, 10_000, () => 0);
    // 10 s each, times 1 / (1 - e^-0.5).
    expect(meter.cells('buy')[0]!.exposureS).toBeCloseTo(25.415, 3);
  });
});

test('cells of several stretches add up, and one without exposure changes nothing', () => {
  const some = [{ distance: 0.001, reached: 2, exposureS: 10 }];
  const none = [{ distance: Number.NaN, reached: 0, exposureS: 0 }];
  expect(addCells([some, none, some])).toEqual([{ distance: 0.001, reached: 4, exposureS: 20 }]);
});
