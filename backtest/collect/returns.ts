/** Gains of a replay per minute, with their Sharpe and Sortino ratios per year. */
import { MINUTE_MS } from '../../src/core/index.ts';

const MINUTES_PER_YEAR = 365 * 24 * 60;
/**
 * Minimum number of days for a ratio per year. The standard error of such a ratio is about one over the square root of
 * the number of years: 3.5 after 30 days, but 19 after 1 day.
 */
export const RATIO_DAYS = 30;
const MINUTES_MIN = RATIO_DAYS * 24 * 60;

export class Returns {
  minutes = 0;
  #next: number;
  #before = 0;
  #sum = 0;
  #squares = 0;
  #losses = 0;

  constructor(from: number) {
    this.#next = from + MINUTE_MS;
  }

  /**
   * Receives the profit so far. Times must not decrease. The first call at or after the end of a minute ends that
   * minute.
   */
  look(at: number, profit: number): void {
    if (at < this.#next) return;
    // If several minutes passed without a call, one gain covers all of them.
    this.#next += MINUTE_MS * (1 + Math.floor((at - this.#next) / MINUTE_MS));
    const gain = profit - this.#before;
    this.#before = profit;
    this.minutes++;
    this.#sum += gain;
    this.#squares += gain * gain;
    if (gain < 0) this.#losses += gain * gain;
  }

  /**
   * Returns the mean gain divided by the standard deviation of the gains, times the square root of the minutes per
   * year. Returns `null` before `RATIO_DAYS` days, or if all gains are equal.
   */
  sharpe(): number | null {
    const mean = this.#sum / this.minutes;
    const deviation = Math.sqrt(Math.max(0, this.#squares / this.minutes - mean * mean));
    return this.#ratio(mean, deviation);
  }

  /**
   * Returns the mean gain divided by the root of the mean squared loss, scaled like `sharpe`. Returns `null` before
   * `RATIO_DAYS` days, or without a loss.
   */
  sortino(): number | null {
    return this.#ratio(this.#sum / this.minutes, Math.sqrt(this.#losses / this.minutes));
  }

  #ratio(mean: number, deviation: number): number | null {
    if (this.minutes < MINUTES_MIN || !(deviation > 0)) return null;
    return (mean / deviation) * Math.sqrt(MINUTES_PER_YEAR);
  }
}
