/**
 * Price levels of one side of a book, in a sorted array with the best last. Changes near the best price move few
 * entries.
 */
import { enlarged } from '../../core/index.ts';

const START = 64;

export class PriceLevels {
  /** Sort direction: +1 sorts the highest price last (bids), -1 the lowest price (asks). */
  readonly #sign: 1 | -1;
  /** Keys of the levels: sign times price, ascending. */
  #keys = new Float64Array(START);
  #levels = new Int32Array(START);
  #count = 0;

  constructor(sign: 1 | -1) {
    this.#sign = sign;
  }

  get count(): number {
    return this.#count;
  }

  /** Returns the level with the best price, or -1 if there is no level. */
  best(): number {
    return this.#count === 0 ? -1 : this.#levels[this.#count - 1]!;
  }

  /** Returns the level at a rank (0 is the best price), or -1 if there is no such level. */
  at(rank: number): number {
    return rank >= 0 && rank < this.#count ? this.#levels[this.#count - 1 - rank]! : -1;
  }

  /** Returns the level at a price, or -1 if there is no such level. */
  find(price: number): number {
    const key = this.#sign * price;
    const i = this.#position(key);
    return i < this.#count && this.#keys[i] === key ? this.#levels[i]! : -1;
  }

  /** Adds a level at a price that has no level yet. */
  insert(price: number, level: number): void {
    const key = this.#sign * price;
    const i = this.#position(key);
    if (this.#count === this.#keys.length) this.#grow();
    const keys = this.#keys;
    const levels = this.#levels;
    for (let j = this.#count; j > i; j--) {
      keys[j] = keys[j - 1]!;
      levels[j] = levels[j - 1]!;
    }
    keys[i] = key;
    levels[i] = level;
    this.#count++;
  }

  /** Removes the level at a price. */
  remove(price: number): void {
    const keys = this.#keys;
    const levels = this.#levels;
    this.#count--;
    for (let j = this.#position(this.#sign * price); j < this.#count; j++) {
      keys[j] = keys[j + 1]!;
      levels[j] = levels[j + 1]!;
    }
  }

  /**
   * Returns the first index with a key of at least `key`. The search starts at the best end, where most changes are.
   */
  #position(key: number): number {
    const keys = this.#keys;
    let high = this.#count;
    let step = 1;
    while (high - step >= 0 && keys[high - step]! >= key) {
      high -= step;
      step *= 2;
    }
    let low = Math.max(0, high - step);
    while (low < high) {
      const pivot = (low + high) >>> 1;
      if (keys[pivot]! < key) low = pivot + 1;
      else high = pivot;
    }
    return low;
  }

  #grow(): void {
    this.#keys = enlarged(this.#keys, this.#keys.length * 2);
    this.#levels = enlarged(this.#levels, this.#levels.length * 2);
  }
}
