/** The model has the gains of formulas-desk E17, and its filter follows a planted basis closer than usual mistakes. */
import { describe, expect, test } from 'vitest';
import { few } from '../../many.ts';
import {
  BasisFilter,
  basisGain,
  basisModelFor,
  basisModelOf,
  longRunVariance,
  normal,
  randomOf,
  type BasisModel,
} from '../../../src/core/index.ts';

/** Model of E17: 2 bps of mispricing that returns with a time of 60 s, steps of 1 s. */
const E17: BasisModel = {
  driftVariance: 1e-13,
  deviation: 2e-4,
  persistence: Math.exp(-1 / 60),
  noiseVariance: 0,
};

/** Differences with their basis: the model's, drawn. */
function drawn(model: BasisModel, steps: number, seed: number) {
  const random = randomOf(seed);
  // The first numbers of neighboring seeds are alike.
  for (let i = 0; i < 50; i++) random.next();
  const { driftVariance, deviation, persistence: a, noiseVariance } = model;
  let [basis, away] = [0, deviation * normal(random)];
  const truth = new Float64Array(steps);
  const values = new Float64Array(steps);
  for (let i = 0; i < steps; i++) {
    basis += Math.sqrt(driftVariance) * normal(random);
    away = a * away + deviation * Math.sqrt(1 - a * a) * normal(random);
    truth[i] = basis;
    values[i] = basis + away + Math.sqrt(noiseVariance) * normal(random);
  }
  return { truth, values };
}

function rmsErrorOf(filter: BasisFilter, { truth, values }: ReturnType<typeof drawn>): number {
  let [sum, n] = [0, 0];
  values.forEach((value, i) => {
    filter.observe(1_000 * i, value, Infinity);
    if (i < 10_000) return;
    sum += (filter.log - truth[i]!) ** 2;
    n++;
  });
  return Math.sqrt(sum / n);
}

describe('check values of E17', () => {
  test('variance to assume and gain', () => {
    expect(longRunVariance(E17) / 4e-8).toBeCloseTo(120.0027777649, 9);
    expect(basisGain(E17).gain).toBeCloseTo(0.0001443254807108, 15);
    const rules = { sdBps: 2, revertMs: 60_000, driftBps: Math.sqrt(1e-13 * 3_600) * 1e4 };
    expect(basisGain(basisModelFor(rules)).gain).toBeCloseTo(0.0001443254807108, 15);
    expect(-1 / Math.log(1 - basisGain(E17).gain)).toBeCloseTo(6_928.28, 1);
  });

  test('with the plain variance the gain would be eleven times as large', () => {
    const plain = { ...E17, persistence: 0 };
    expect(basisGain(plain).gain).toBeCloseTo(0.00157988932419, 14);
    expect(-1 / Math.log(1 - basisGain(plain).gain)).toBeCloseTo(632.46, 1);
  });
});

test('the filter follows the basis within 0.3 bps, and the one of the plain variance misses it by twice as much', () => {
  const seeds = few([1, 2, 3, 4, 5, 6, 7, 8], 2);
  const mean = (model: BasisModel) =>
    seeds.reduce((sum, seed) => sum + rmsErrorOf(new BasisFilter(model), drawn(E17, 40_000, seed)), 0) / seeds.length;
  const [right, plain] = [mean(E17), mean({ ...E17, persistence: 0 })];
  // E17 has .243 and .572 bps over 20 seeds.
  expect(right * 1e4).toBeLessThan(0.35);
  expect(plain / right).toBeGreaterThan(1.6);
});

test('its error is that of its estimates, from the first difference on', () => {
  const model = { ...E17, driftVariance: 1e-11 };
  for (const steps of few([2_000, 200, 20_000], 2)) {
    const away: number[] = [];
    let error = 0;
    for (let seed = 1; seed <= 60; seed++) {
      const { truth, values } = drawn(model, steps, seed);
      const filter = new BasisFilter(model);
      values.forEach((value, i) => filter.observe(1_000 * i, value, Infinity));
      away.push((filter.log - truth[steps - 1]!) ** 2);
      error = filter.errorBps(1_000 * (steps - 1)) / 1e4;
    }
    const rms = Math.sqrt(away.reduce((sum, x) => sum + x, 0) / away.length);
    expect(rms / error).toBeGreaterThan(0.6);
    expect(rms / error).toBeLessThan(1.4);
  }
});

describe('the fit to a variogram', () => {
  const cases: readonly (readonly [name: string, model: BasisModel])[] = [
    ['mispricing of a minute', { ...E17, driftVariance: 1e-11 }],
    ['with the noise of last prices', { ...E17, driftVariance: 1e-11, noiseVariance: 4e-8 }],
  ];
  test.each(cases)(
    '%s: finds the gain within a factor of two in the median, and never a tenth or four times of it',
    (_name, model) => {
      const ratios = Array.from({ length: 12 }, (_, i) => {
        const found = basisModelOf(drawn(model, 20_000, 100 + i).values)!;
        return basisGain(found).gain / basisGain(model).gain;
      }).sort((a, b) => a - b);
      expect(ratios[6]).toBeGreaterThan(0.5);
      expect(ratios[6]).toBeLessThan(2);
      expect(ratios[0]).toBeGreaterThan(0.1);
      expect(ratios[11]).toBeLessThan(4);
    },
  );

  test('differences that only drift have no mispricing: the filter follows them at once', () => {
    const model = basisModelOf(drawn({ ...E17, driftVariance: 1e-9, deviation: 0 }, 20_000, 5).values)!;
    expect(basisGain(model).gain).toBeGreaterThan(0.3);
  });

  test('there is none of too few differences, and none of constant ones', () => {
    expect(basisModelOf(new Float64Array(50))).toBeNull();
    expect(basisModelOf(new Float64Array(5_000))).toBeNull();
    expect(basisModelOf(new Float64Array(5_000).fill(Number.NaN))).toBeNull();
  });
});
