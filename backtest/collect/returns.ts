/** Gain by the minute, and what is usually made of it: ratios of mean to deviation, scaled to a year. */

const MINUTE = 60_000;
const MINUTES_A_YEAR = 365 * 24 * 60;
/** Days from which a ratio is told. Its standard error is about one over the root of the years: 3.5 after thirty days, and from a day it would be 19. */
export const RATIO_DAYS = 30;
const MINUTES_LEAST = RATIO_DAYS * 24 * 60;

export class Returns {
  minutes = 0;
  #next: number;
  #before = 0;
  #sum = 0;
  #squares = 0;
  #losses = 0;

  constructor(from: number) {
    this.#next = from + MINUTE;
  }

  /** The profit so far, with times that never go back; the first look at or after the end of a minute closes it. */
  look(at: number, profit: number): void {
    if (at < this.#next) return;
    // After a stretch without looks a single gain stands for all of it.
    this.#next += MINUTE * (1 + Math.floor((at - this.#next) / MINUTE));
    const gain = profit - this.#before;
    this.#before = profit;
    this.minutes++;
    this.#sum += gain;
    this.#squares += gain * gain;
    if (gain < 0) this.#losses += gain * gain;
  }

  /** Mean over standard deviation of the gains, times the root of the minutes of a year; null where it would say nothing. */
  sharpe(): number | null {
    const mean = this.#sum / this.minutes;
    const deviation = Math.sqrt(Math.max(0, this.#squares / this.minutes - mean * mean));
    return this.#ratio(mean, deviation);
  }

  /** The same over the root of the mean squared loss. */
  sortino(): number | null {
    return this.#ratio(this.#sum / this.minutes, Math.sqrt(this.#losses / this.minutes));
  }

  #ratio(mean: number, deviation: number): number | null {
    if (this.minutes < MINUTES_LEAST || !(deviation > 0)) return null;
    return (mean / deviation) * Math.sqrt(MINUTES_A_YEAR);
  }
}
