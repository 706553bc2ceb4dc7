/**
 * Normal distribution of an evolution strategy, and its adaptation to each generation (Hansen, "The CMA Evolution
 * Strategy: A Tutorial", 2016).
 */
import { normal, type Random } from '../../../src/core/index.ts';
import { symmetricEigen, type Eigen } from './symmetricEigen.ts';

/** Normal distribution that `learn` adapts in place. */
export type AdaptedNormal = {
  /** Number of points in one generation. */
  readonly population: number;
  /** Weight of each rank, best rank first; ranks beyond the end of the list have weight 0. */
  readonly weights: readonly number[];
  mean: Float64Array;
  sigma: number;
  covariance: Float64Array;
  eigen: Eigen;
  readonly sigmaPath: Float64Array;
  readonly covariancePath: Float64Array;
  generations: number;
};

/** Returns an isotropic normal distribution around a mean. */
export function roundNormal(mean: readonly number[], sigma: number, population: number): AdaptedNormal {
  const n = mean.length;
  const covariance = new Float64Array(n * n);
  for (let i = 0; i < n; i++) covariance[i * n + i] = 1;
  const half = Math.max(1, Math.floor(population / 2));
  const raw = Array.from({ length: half }, (_, i) => Math.log((population + 1) / 2) - Math.log(i + 1));
  const all = raw.reduce((sum, x) => sum + x, 0);
  return {
    population,
    weights: raw.map(x => (all > 0 ? x / all : 1 / half)),
    mean: Float64Array.from(mean),
    sigma,
    covariance,
    eigen: symmetricEigen(covariance, n),
    sigmaPath: new Float64Array(n),
    covariancePath: new Float64Array(n),
    generations: 0,
  };
}

/** Samples one point from the distribution. */
export function drawFrom({ mean, sigma, eigen }: AdaptedNormal, random: Random): Float64Array {
  const n = mean.length;
  const z = Float64Array.from({ length: n }, (_, j) => Math.sqrt(Math.max(0, eigen.values[j]!)) * normal(random));
  return Float64Array.from({ length: n }, (_, i) => {
    let y = 0;
    for (let j = 0; j < n; j++) y += eigen.vectors[i * n + j]! * z[j]!;
    return mean[i]! + sigma * y;
  });
}

/** Returns the learning rates for `n` dimensions, by the effective number of points. */
function ratesOf(n: number, weights: readonly number[]) {
  const effective = 1 / weights.reduce((sum, w) => sum + w * w, 0);
  const cSigma = (effective + 2) / (n + effective + 5);
  const c1 = 2 / ((n + 1.3) ** 2 + effective);
  return {
    effective,
    cSigma,
    damping: 1 + 2 * Math.max(0, Math.sqrt((effective - 1) / (n + 1)) - 1) + cSigma,
    cc: (4 + effective / n) / (n + 4 + (2 * effective) / n),
    c1,
    cMu: Math.min(1 - c1, (2 * (effective - 2 + 1 / effective)) / ((n + 2) ** 2 + effective)),
    expectedLength: Math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n)),
  };
}

/**
 * Adapts the distribution to the points of a generation, best first. `floors` are the minimum deviations of each
 * coordinate, so that a coordinate with steps can still reach the next step.
 */
export function learn(law: AdaptedNormal, ranked: readonly Float64Array[], floors: readonly number[]): void {
  const n = law.mean.length;
  if (n === 0 || ranked.length === 0) return;
  const { effective, cSigma, damping, cc, c1, cMu, expectedLength } = ratesOf(n, law.weights);
  const used = law.weights.slice(0, ranked.length);
  const whole = used.reduce((sum, w) => sum + w, 0);
  const steps = used.map((_, k) => ranked[k]!.map((x, i) => (x - law.mean[i]!) / law.sigma));
  const step = new Float64Array(n);
  used.forEach((w, k) => steps[k]!.forEach((y, i) => (step[i] = step[i]! + (w / whole) * y)));
  law.mean = law.mean.map((m, i) => m + law.sigma * step[i]!);
  law.generations++;

  const white = whitened(law.eigen, step);
  const keep = Math.sqrt(cSigma * (2 - cSigma) * effective);
  white.forEach((x, i) => (law.sigmaPath[i] = (1 - cSigma) * law.sigmaPath[i]! + keep * x));
  const length = Math.hypot(...law.sigmaPath);
  const stalled =
    length / Math.sqrt(1 - (1 - cSigma) ** (2 * law.generations)) < (1.4 + 2 / (n + 1)) * expectedLength ? 1 : 0;
  const gain = stalled * Math.sqrt(cc * (2 - cc) * effective);
  step.forEach((y, i) => (law.covariancePath[i] = (1 - cc) * law.covariancePath[i]! + gain * y));

  const lost = (1 - stalled) * cc * (2 - cc);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let rankMu = 0;
      used.forEach((w, k) => (rankMu += (w / whole) * steps[k]![i]! * steps[k]![j]!));
      const old = law.covariance[i * n + j]!;
      const next =
        (1 - c1 - cMu + c1 * lost) * old + c1 * law.covariancePath[i]! * law.covariancePath[j]! + cMu * rankMu;
      law.covariance[i * n + j] = next;
      law.covariance[j * n + i] = next;
    }
  }
  law.sigma *= Math.exp(Math.min(1, (cSigma / damping) * (length / expectedLength - 1)));
  floors.forEach((floor, i) => {
    const least = (floor / law.sigma) ** 2;
    if (law.covariance[i * n + i]! < least) law.covariance[i * n + i] = least;
  });
  law.eigen = symmetricEigen(law.covariance, n);
}

/** Multiplies a vector by the covariance matrix to the power of -1/2. */
function whitened({ values, vectors }: Eigen, of: Float64Array): Float64Array {
  const n = of.length;
  const out = new Float64Array(n);
  for (let j = 0; j < n; j++) {
    let along = 0;
    for (let i = 0; i < n; i++) along += vectors[i * n + j]! * of[i]!;
    along /= Math.sqrt(Math.max(1e-300, values[j]!));
    for (let i = 0; i < n; i++) out[i] = out[i]! + vectors[i * n + j]! * along;
  }
  return out;
}

/** Returns the largest standard deviation in any direction; NaN or Infinity if the distribution is degenerate. */
export const widthOf = ({ sigma, eigen }: AdaptedNormal): number =>
  sigma * Math.sqrt(eigen.values.reduce((most, value) => Math.max(most, value), 0));

/** Returns the condition number: the squared ratio of the largest to the smallest standard deviation. */
export function conditionOf({ eigen }: AdaptedNormal): number {
  const least = eigen.values.reduce((low, value) => Math.min(low, value), Infinity);
  const most = eigen.values.reduce((high, value) => Math.max(high, value), 0);
  return least > 0 ? most / least : Infinity;
}
