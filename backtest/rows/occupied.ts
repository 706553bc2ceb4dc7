/** Bit set of the price indices that have an amount. Finds the next such index without checking every empty tick. */
export class Occupied {
  /** One bit per price index; set if the index has an amount. */
  readonly #bits: Int32Array;
  /** One bit per word of `#bits`; set if the word is nonzero. */
  readonly #words: Int32Array;

  constructor(places: number) {
    this.#bits = new Int32Array((places >>> 5) + 1);
    this.#words = new Int32Array((places >>> 10) + 1);
  }

  add(place: number): void {
    const word = place >>> 5;
    const before = this.#bits[word]!;
    this.#bits[word] = before | (1 << (place & 31));
    if (before === 0) this.#words[word >>> 5]! |= 1 << (word & 31);
  }

  remove(place: number): void {
    const word = place >>> 5;
    if ((this.#bits[word]! &= ~(1 << (place & 31))) === 0) this.#words[word >>> 5]! &= ~(1 << (word & 31));
  }

  /** Returns the lowest price index above `place` that has an amount, or `none`. */
  above(place: number, none: number): number {
    let word = place >>> 5;
    let bits = this.#bits[word]! & (-2 << (place & 31));
    if (bits === 0) {
      const words = this.#words;
      let group = word >>> 5;
      let left = words[group]! & (-2 << (word & 31));
      while (left === 0) {
        if (++group >= words.length) return none;
        left = words[group]!;
      }
      word = (group << 5) + lowest(left);
      bits = this.#bits[word]!;
    }
    return (word << 5) + lowest(bits);
  }

  /** Returns the highest price index below `place` that has an amount, or `none`. */
  below(place: number, none: number): number {
    let word = place >>> 5;
    let bits = this.#bits[word]! & ((1 << (place & 31)) - 1);
    if (bits === 0) {
      const words = this.#words;
      let group = word >>> 5;
      let left = words[group]! & ((1 << (word & 31)) - 1);
      while (left === 0) {
        if (--group < 0) return none;
        left = words[group]!;
      }
      word = (group << 5) + highest(left);
      bits = this.#bits[word]!;
    }
    return (word << 5) + highest(bits);
  }
}

const highest = (bits: number): number => 31 - Math.clz32(bits);
const lowest = (bits: number): number => 31 - Math.clz32(bits & -bits);
