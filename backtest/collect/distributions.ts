/** Two distributions in bounded memory: how long something took, and how much of the time something had which value. */

const PER_DECADE = 32;
const DECADES = 10;

/** Durations from 1 ms to 10^10 ms in steps of 7.5 %: a quantile is right within 4 %. */
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

  /** The duration that this share of all did not exceed, in ms; null of none. */
  quantile(share: number): number | null {
    let left = share * this.#total;
    if (!(this.#total > 0)) return null;
    for (let bin = 0; bin < this.#counts.length; bin++) {
      left -= this.#counts[bin]!;
      if (left <= 0) return middleOf(bin);
    }
    return middleOf(this.#counts.length - 1);
  }

  /** Upper end in ms of every step that holds any, and the share of all up to it. */
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

/** Time by value: bars centred on whole multiples of a width that triples whenever a value lies beyond the outermost. */
export class TimeByValue {
  #width: number;
  readonly #times = new Float64Array(2 * REACH + 1);

  constructor(width: number) {
    if (!(width > 0 && width < Infinity)) throw new RangeError(`a width is above 0, found ${width}`);
    this.#width = width;
  }

  add(value: number, time: number): void {
    if (!Number.isFinite(value)) throw new RangeError(`a value is a number, found ${value}`);
    while (Math.abs(Math.round(value / this.#width)) > REACH) this.widen();
    this.#times[REACH + Math.round(value / this.#width)]! += time;
  }

  /** Three bars become one. */
  widen(): void {
    this.#width *= 3;
    const before = this.#times.slice();
    this.#times.fill(0);
    for (let i = -REACH; i <= REACH; i++) this.#times[REACH + Math.round(i / 3)]! += before[REACH + i]!;
  }

  /** From the first bar that holds time to the last: value at the middle of each, and its time. */
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
