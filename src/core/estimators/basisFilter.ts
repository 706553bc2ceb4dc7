/**
 * Running basis between two prices of one asset: the slow part of the logarithm of their ratio, by a Kalman filter.
 *
 * The logarithm is a random walk (the basis) plus a mean-reverting mispricing. The mispricing is correlated in time, so
 * a measurement counts with its long-run variance (`longRunVariance`) instead of its variance. Source: E17; Harvey 1989
 * (local level).
 */
import type { Millis } from '../model/units.ts';
import { longRunVariance, type BasisModel } from './basisModel.ts';

/** Estimate of the basis as stored between runs. */
export type BasisState = { readonly at: Millis; readonly log: number; readonly variance: number };

/** Step of the model, and minimum time between two measurements. */
export const BASIS_EVERY_MS: Millis = 1_000;
const BPS = 1e-4;

export class BasisFilter {
  readonly #model: BasisModel;
  #at: Millis = -Infinity;
  #log = Number.NaN;
  #variance = Number.NaN;

  /** `model` has steps of one second. */
  constructor(model: BasisModel) {
    this.#model = model;
  }

  /** Whether enough time has passed since the last measurement for a new one to count. */
  isDue(at: Millis): boolean {
    return Number.isNaN(this.#log) || at - this.#at >= BASIS_EVERY_MS;
  }

  /**
   * Adds the logarithm of a ratio. `bound` limits its distance from the estimate: traders soon close a larger distance,
   * which therefore says nothing about the basis. Ignores values that are not finite, and values less than
   * `BASIS_EVERY_MS` after the last one.
   */
  observe(at: Millis, log: number, bound: number): void {
    if (!(Number.isFinite(at) && Number.isFinite(log) && bound >= 0)) return;
    if (Number.isNaN(this.#log)) {
      this.#log = log;
      this.#variance = this.#measurementVariance(BASIS_EVERY_MS);
      this.#at = at;
      return;
    }
    const passed = at - this.#at;
    if (!(passed >= BASIS_EVERY_MS)) return;
    const before = this.#varianceAfter(passed);
    const measured = this.#measurementVariance(passed);
    const gain = measured > 0 ? before / (before + measured) : 1;
    const away = log - this.#log;
    this.#log += gain * Math.max(-bound, Math.min(away, bound));
    // A value beyond the bound is no evidence of the basis, so the error does not fall.
    this.#variance = Math.abs(away) > bound ? before : (1 - gain) * before;
    this.#at = at;
  }

  /** Logarithm of the usual ratio; NaN before the first measurement. */
  get log(): number {
    return this.#log;
  }

  /** Returns the standard deviation of the estimate at a time, in bps; NaN before the first measurement. */
  errorBps(at: Millis): number {
    return Math.sqrt(this.#varianceAfter(Math.max(0, at - this.#at))) / BPS;
  }

  /** State for the next run; `null` before the first measurement. */
  get state(): BasisState | null {
    return Number.isNaN(this.#log) ? null : { at: this.#at, log: this.#log, variance: this.#variance };
  }

  /** Continues the estimate of an earlier run. Ignores a state that is damaged or whose time is after `at`. */
  restore({ at: then, log, variance }: BasisState, at: Millis): void {
    if (!(then <= at && Number.isFinite(log) && variance > 0 && variance < Infinity)) return;
    this.#at = then;
    this.#log = log;
    this.#variance = variance;
  }

  #varianceAfter(passedMs: Millis): number {
    return this.#variance + (this.#model.driftVariance * passedMs) / BASIS_EVERY_MS;
  }

  /** Returns the long-run variance of a measurement `passedMs` after the last one. */
  #measurementVariance(passedMs: Millis): number {
    const persistence = this.#model.persistence ** (passedMs / BASIS_EVERY_MS);
    return longRunVariance({ ...this.#model, persistence });
  }
}
