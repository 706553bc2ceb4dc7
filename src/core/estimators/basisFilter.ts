/**
 * Running basis between two prices of one asset: the slow part of the logarithm of their ratio, by a Kalman filter.
 *
 * The logarithm is a random walk (the basis) plus a mean-reverting mispricing. The mispricing is correlated in time, so
 * a measurement counts with its long-run variance s^2 (1+a)/(1-a), a = exp(-interval / revert time), instead of s^2.
 * Source: E17; Harvey 1989 (local level).
 */
import type { Millis } from '../model/units.ts';
import { longRunVariance } from './runningBasis.ts';

export type BasisRules = {
  /** Standard deviation of the mispricing, in bps. */
  readonly sdBps: number;
  /** Time in which the mean mispricing falls to 1/e. */
  readonly revertMs: Millis;
  /** Standard deviation of the basis's change in one hour, in bps. */
  readonly driftBps: number;
};

/** Estimate of the basis as stored between runs. */
export type BasisState = { readonly at: Millis; readonly log: number; readonly variance: number };

/** Minimum time between two measurements. */
export const BASIS_EVERY_MS: Millis = 1_000;
const BPS = 1e-4;
const HOUR_MS = 3_600_000;

/** Returns the long-run variance of one measurement after `passedMs`. */
export function measurementVariance({ sdBps, revertMs }: BasisRules, passedMs: Millis): number {
  return longRunVariance({ deviation: sdBps * BPS, persistence: Math.exp(-passedMs / revertMs), noiseVariance: 0 });
}

/** Returns the variance that the basis gains in `passedMs`. */
export const driftVariance = ({ driftBps }: BasisRules, passedMs: Millis): number =>
  ((driftBps * BPS) ** 2 * passedMs) / HOUR_MS;

export class BasisFilter {
  readonly #rules: BasisRules;
  #at: Millis = -Infinity;
  #log = Number.NaN;
  #variance = Number.NaN;

  constructor(rules: BasisRules) {
    this.#rules = rules;
  }

  /**
   * Adds the logarithm of a ratio. `bound` limits its distance from the estimate: traders close larger distances soon,
   * so they say nothing about the basis. Ignores values that are not finite, and values less than `BASIS_EVERY_MS` after the last one.
   */
  observe(at: Millis, log: number, bound: number): void {
    if (!(Number.isFinite(at) && Number.isFinite(log) && bound >= 0)) return;
    if (Number.isNaN(this.#log)) {
      this.#log = log;
      this.#variance = measurementVariance(this.#rules, BASIS_EVERY_MS);
      this.#at = at;
      return;
    }
    const passed = at - this.#at;
    if (!(passed >= BASIS_EVERY_MS)) return;
    const before = this.#variance + driftVariance(this.#rules, passed);
    const gain = before / (before + measurementVariance(this.#rules, passed));
    const away = log - this.#log;
    this.#log += gain * Math.max(-bound, Math.min(away, bound));
    // A limited value is no evidence of the basis, so the error does not fall.
    this.#variance = Math.abs(away) > bound ? before : (1 - gain) * before;
    this.#at = at;
  }

  /** Logarithm of the usual ratio; NaN before the first measurement. */
  get log(): number {
    return this.#log;
  }

  /** Returns the standard deviation of the estimate at a time, in bps; NaN before the first measurement. */
  errorBps(at: Millis): number {
    return Math.sqrt(this.#variance + driftVariance(this.#rules, Math.max(0, at - this.#at))) / BPS;
  }

  /** State for the next run; `null` before the first measurement. */
  get state(): BasisState | null {
    return Number.isNaN(this.#log) ? null : { at: this.#at, log: this.#log, variance: this.#variance };
  }

  /** Continues the estimate of an earlier run. Ignores a state that is damaged or later than `at`. */
  restore({ at: then, log, variance }: BasisState, at: Millis): void {
    if (!(then <= at && Number.isFinite(log) && variance > 0 && variance < Infinity)) return;
    this.#at = then;
    this.#log = log;
    this.#variance = variance;
  }
}
