/** Model of the basis between the prices of one asset on two exchanges (formulas-desk E17), and its fit to prices. */
import { nullIfOutOfRange } from '../model/outOfRange.ts';
import type { Millis } from '../model/units.ts';
import { solve } from './linear.ts';

/** Difference of the logarithms of two prices, sampled at equal steps: basis + mispricing + noise. */
export type BasisModel = {
  /** Variance of the change of the basis per step; the basis is a random walk. */
  readonly driftVariance: number;
  /** Standard deviation of the mispricing, which returns to zero. */
  readonly deviation: number;
  /** Autocorrelation of the mispricing over one step, from 0 to below 1. */
  readonly persistence: number;
  /** Variance of noise that is independent at each step, such as jumps between bid and ask. */
  readonly noiseVariance: number;
};

/** Parameters of the basis, as configured. */
export type BasisRules = {
  /** Standard deviation of the mispricing, in bps. */
  readonly sdBps: number;
  /** Time in which the mean mispricing falls to 1/e. */
  readonly revertMs: Millis;
  /** Standard deviation of the basis's change in one hour, in bps. */
  readonly driftBps: number;
};

const BPS = 1e-4;
const HOUR_S = 3_600;
const SECOND_MS = 1_000;

/** Returns the model with the configured parameters, in steps of one second. */
export const basisModelFor = ({ sdBps, revertMs, driftBps }: BasisRules): BasisModel => ({
  driftVariance: (driftBps * BPS) ** 2 / HOUR_S,
  deviation: sdBps * BPS,
  persistence: Math.exp(-SECOND_MS / revertMs),
  noiseVariance: 0,
});

/** Steady state of the filter. */
export type BasisGain = {
  /** Weight of a new measurement (difference of the two logarithms) in the estimate of the basis. */
  readonly gain: number;
  /** Standard error of the basis just before a new measurement. */
  readonly error: number;
};

/**
 * Returns the variance that the filter must assume for a single difference: s²(1 + a)/(1 - a) plus noise. The plain s²
 * would ignore that consecutive mispricings are nearly equal, and the filter would follow them.
 */
export const longRunVariance = ({
  deviation,
  persistence: a,
  noiseVariance,
}: Omit<BasisModel, 'driftVariance'>): number => (deviation * deviation * (1 + a)) / (1 - a) + noiseVariance;

/** Returns gain and error after many steps. */
export function basisGain(model: BasisModel): BasisGain {
  const { driftVariance: q } = model;
  const r = longRunVariance(model);
  const before = (q + Math.sqrt(q * q + 4 * q * r)) / 2;
  return { gain: before / (before + r), error: Math.sqrt(before) };
}

/** Factor between consecutive reversion times that are tried. */
const TRIED_FACTOR = 1.3;
/** Maximum lag of the variogram, as a share of the number of differences. */
const LAG_SHARE = 1 / 6;
/** Maximum memory of a fitted filter, as a share of the number of differences. */
const MEMORY_SHARE = 1 / 4;
/** Smallest number of differences for a fit. */
const DIFFERENCES_MIN = 120;

/**
 * Fits the model to the variogram, the mean squared change over lags 1, 2, 4 and so on: 2 noise + drift h + 2 s²(1 -
 * a^h). For each tried reversion time, the three parts are fitted by non-negative least squares; the best fit is
 * returned. A lag h has the weight 1 / (h value²), about the inverse of the variance of its value.
 *
 * `differences` has NaN for unknown steps. Returns `null` with too few differences.
 */
export function basisModelOf(differences: ArrayLike<number>): BasisModel | null {
  const lags: { readonly h: number; readonly value: number; readonly weight: number }[] = [];
  let known = 0;
  for (let i = 0; i < differences.length; i++) if (Number.isFinite(differences[i])) known++;
  if (known < DIFFERENCES_MIN) return null;
  for (let h = 1; h <= known * LAG_SHARE; h *= 2) {
    const value = squaredChange(differences, h);
    if (value > 0) lags.push({ h, value, weight: 1 / (value * value * h) });
  }
  const longest = lags.at(-1)?.h ?? 0;
  let best: { readonly parts: readonly number[]; readonly a: number; readonly misfit: number } | null = null;
  for (let time = 1; time <= longest; time *= TRIED_FACTOR) {
    const a = Math.exp(-1 / time);
    const rows = lags.map(({ h, value, weight }) => ({ terms: [1, h, 1 - a ** h], value, weight }));
    const found = nonNegativeFit(rows);
    if (found !== null && !(found.misfit >= (best?.misfit ?? Infinity))) best = { ...found, a };
  }
  if (best === null) return null;
  const [noise = 0, drift = 0, reverting = 0] = best.parts;
  const model = {
    driftVariance: drift,
    deviation: Math.sqrt(reverting / 2),
    persistence: best.a,
    noiseVariance: noise / 2,
  };
  // A recording cannot show that the basis stays constant for longer than the recording, so the memory of the filter is
  // at most a share of its length.
  return { ...model, driftVariance: Math.max(drift, longRunVariance(model) / (known * MEMORY_SHARE) ** 2) };
}

function squaredChange(differences: ArrayLike<number>, h: number): number {
  let [sum, n] = [0, 0];
  for (let i = h; i < differences.length; i++) {
    const change = differences[i]! - differences[i - h]!;
    if (!Number.isFinite(change)) continue;
    sum += change * change;
    n++;
  }
  return sum / n;
}

type FitRow = { readonly terms: readonly number[]; readonly value: number; readonly weight: number };

/**
 * Returns the non-negative coefficients of the three terms that fit the rows best (weighted least squares). Fits each
 * subset of the terms, and drops a fit with a negative coefficient.
 */
function nonNegativeFit(
  rows: readonly FitRow[],
): { readonly parts: readonly number[]; readonly misfit: number } | null {
  let best: { readonly parts: readonly number[]; readonly misfit: number } | null = null;
  for (let subset = 1; subset < 8; subset++) {
    const used = [0, 1, 2].filter(i => (subset & (1 << i)) !== 0);
    const solved = leastSquares(rows, used);
    if (solved === null || solved.some(part => !(part >= 0))) continue;
    const parts = [0, 0, 0];
    used.forEach((i, k) => (parts[i] = solved[k]!));
    const misfit = rows.reduce(
      (sum, { terms, value, weight }) =>
        sum + weight * (value - terms.reduce((all, term, i) => all + term * parts[i]!, 0)) ** 2,
      0,
    );
    if (!(misfit >= (best?.misfit ?? Infinity))) best = { parts, misfit };
  }
  return best;
}

function leastSquares(rows: readonly FitRow[], used: readonly number[]): readonly number[] | null {
  const n = used.length;
  const matrix = new Float64Array(n * n);
  const right = new Float64Array(n);
  // Each term is scaled to its largest value, so that the pivots are comparable.
  const scales = used.map(i => Math.max(...rows.map(({ terms }) => terms[i]!)));
  for (const { terms, value, weight } of rows)
    used.forEach((i, r) => {
      const left = (weight * terms[i]!) / scales[r]!;
      right[r] = right[r]! + left * value;
      used.forEach((j, c) => (matrix[r * n + c] = matrix[r * n + c]! + (left * terms[j]!) / scales[c]!));
    });
  return nullIfOutOfRange(() => Array.from(solve(matrix, right), (x, r) => x / scales[r]!));
}
