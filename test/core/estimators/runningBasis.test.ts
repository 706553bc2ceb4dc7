/** The filter has the gains of formulas-desk E17, and follows a planted basis closer than its usual mistakes. */
import { describe, expect, test } from 'vitest';
import { few } from '../../many.ts';
import {
  basisGain,
  basisModelOf,
  longRunVariance,
  normal,
  randomOf,
  RunningBasis,
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

function rmsErrorOf(filter: RunningBasis, { truth, values }: ReturnType<typeof drawn>): number {
  let [sum, n] = [0, 0];
  values.forEach((value, i) => {
    filter.add(value);
    if (i < 10_000) return;
    sum += (filter.basis - truth[i]!) ** 2;
    n++;
  });
  return Math.sqrt(sum / n);
}

describe('check values of E17', () => {
  test('variance to assume and gain', () => {
    expect(longRunVariance(E17) / 4e-8).toBeCloseTo(120.0027777649, 9);
    expect(basisGain(E17).gain).toBeCloseTo(0.0001443254807108, 15);
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
    seeds.reduce((sum, seed) => sum + rmsErrorOf(new RunningBasis(model), drawn(E17, 40_000, seed)), 0) / seeds.length;
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
      const filter = new RunningBasis(model);
      values.forEach(value => filter.add(value));
      away.push((filter.basis - truth[steps - 1]!) ** 2);
      error = filter.error;
    }
    const rms = Math.sqrt(away.reduce((sum, x) => sum + x, 0) / away.length);
    expect(rms / error).toBeGreaterThan(0.6);
    expect(rms / error).toBeLessThan(1.4);
  }
});

test('unknown differences change only the error, and a deviation beyond the band counts as one at the band', () => {
  const filter = new RunningBasis(E17, 1e-4);
  for (let i = 0; i < 2_000; i++) filter.add(0);
  const error = filter.error;
  filter.add(Number.NaN);
  expect(filter.basis).toBe(0);
  expect(filter.error).toBeGreaterThan(error);
  const other = new RunningBasis(E17, 1e-4);
  for (let i = 0; i < 2_000; i++) other.add(0);
  other.add(Number.NaN);
  filter.add(0.5);
  other.add(1e-4);
  expect(filter.basis).toBe(other.basis);
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
