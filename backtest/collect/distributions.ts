/** Distributions in bounded memory: number of durations by their length, and time by the value of a quantity. */

const PER_DECADE = 32;
const DECADES = 10;

/** Durations from 1 ms to 10^10 ms in bins whose ends differ by 7.5%. Quantiles are accurate to 4%. */
export class Durations {
  readonly #counts = new Float64Array(PER_DECADE * DECADES + 1);
  #total = 0;

  get total(): number {
    return this.#total;
  }

  add(ms: number): void {
    const bin = ms >= 1 ? 1 + Math.floor(PER_DECADE * Math.log10(ms)) : 0;
    this.#counts[Math.min(bin, this.#counts.length - 1)]! += 1;
    this.#total++;
  }

  /** Returns the quantile for `share` (0 to 1), in ms; `null` without samples. */
  quantile(share: number): number | null {
    let left = share * this.#total;
    if (!(this.#total > 0)) return null;
    for (let bin = 0; bin < this.#counts.length; bin++) {
      left -= this.#counts[bin]!;
      if (left <= 0) return middleOf(bin);
    }
    return middleOf(this.#counts.length - 1);
  }

  /** Returns the upper end of every non-empty bin in ms, with the cumulative share of the durations, 0 to 1. */
  curve(): { readonly ms: readonly number[]; readonly share: readonly number[] } {
    const ms: number[] = [];
    const share: number[] = [];
    let sum = 0;
    for (let bin = 0; bin < this.#counts.length; bin++) {
      if (this.#counts[bin] === 0) continue;
      sum += this.#counts[bin]!;
      ms.push(upperOf(bin));
      share.push(sum / this.#total);
    }
    return { ms, share };
  }
}

const upperOf = (bin: number): number => 10 ** (bin / PER_DECADE);
const middleOf = (bin: number): number => (bin === 0 ? 0.5 : 10 ** ((bin - 0.5) / PER_DECADE));

const REACH = 40;

/**
 * Time at each value, in bars centered on multiples of a width. The width triples if a value is beyond the outermost
 * bar.
 */
export class TimeByValue {
  #width: number;
  readonly #times = new Float64Array(2 * REACH + 1);

  constructor(width: number) {
    if (!(width > 0 && width < Infinity)) throw new RangeError(`the width of a bar must be above 0, found ${width}`);
    this.#width = width;
  }

  add(value: number, time: number): void {
    if (!Number.isFinite(value)) throw new RangeError(`the value must be a finite number, found ${value}`);
    while (Math.abs(Math.round(value / this.#width)) > REACH) this.widen();
    this.#times[REACH + Math.round(value / this.#width)]! += time;
  }

  /** Triples the width: merges every three adjacent bars into one. */
  widen(): void {
    this.#width *= 3;
    const before = this.#times.slice();
    this.#times.fill(0);
    for (let i = -REACH; i <= REACH; i++) this.#times[REACH + Math.round(i / 3)]! += before[REACH + i]!;
  }

  /** Returns the center and the time of each bar, from the first to the last non-empty bar. */
  bars(): { readonly width: number; readonly values: readonly number[]; readonly times: readonly number[] } {
    let low = 0;
    let high = 2 * REACH;
    while (low < high && this.#times[low] === 0) low++;
    while (high > low && this.#times[high] === 0) high--;
    const values: number[] = [];
    const times: number[] = [];
    for (let i = low; i <= high; i++) {
      values.push((i - REACH) * this.#width);
      times.push(this.#times[i]!);
    }
    return { width: this.#width, values, times };
  }
}
