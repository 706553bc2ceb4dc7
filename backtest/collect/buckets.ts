/**
 * Series of a replay in bounded memory: time buckets of equal width, which are merged in pairs if there are too many.
 */

/** Value that a bucket keeps: the last, the smallest, the largest or the sum of its values. */
export type Keep = 'last' | 'min' | 'max' | 'sum';

/** Maximum number of buckets. After a merge, half of the buckets are free. */
export const BUCKETS_MAX = 1024;

/**
 * Time series in buckets. The buckets depend only on the values and their order. A bucket without a value is NaN; in a
 * `sum` column it is 0.
 */
export class Buckets<Name extends string> {
  readonly #from: number;
  readonly #keeps: Readonly<Record<Name, Keep>>;
  /**
   * Values of each column by bucket. Callers may also write to a column at the index that `stretchAt` returns. They set
   * the value in a `last` column, and add to the value in a `sum` column.
   */
  readonly columns: Readonly<Record<Name, Float64Array>>;
  #width: number;
  #length = 0;

  constructor(from: number, width: number, columns: Readonly<Record<Name, Keep>>) {
    if (!(Number.isFinite(from) && width > 0 && width < Infinity)) {
      throw new RangeError(`buckets need a finite start and a width above 0, found start ${from} and width ${width}`);
    }
    this.#from = from;
    this.#width = width;
    this.#keeps = columns;
    const made = {} as Record<Name, Float64Array>;
    for (const name in columns) made[name] = new Float64Array(BUCKETS_MAX).fill(emptyOf(columns[name]));
    this.columns = made;
  }

  /** Duration of a bucket in ms; doubles with every merge. */
  get width(): number {
    return this.#width;
  }

  get length(): number {
    return this.#length;
  }

  put(name: Name, at: number, value: number): void {
    this.putIn(this.stretchAt(at), name, value);
  }

  /** Adds a value to the bucket with the index `stretch`, which `stretchAt` returned; otherwise like `put`. */
  putIn(stretch: number, name: Name, value: number): void {
    const column = this.columns[name];
    column[stretch] = merged(this.#keeps[name], column[stretch]!, value);
  }

  column(name: Name): Float64Array {
    return this.columns[name].subarray(0, this.#length);
  }

  /** Returns the index of the bucket that contains the time `at`; valid until the next call with a later time. */
  stretchAt(at: number): number {
    let index = Math.floor((at - this.#from) / this.#width);
    if (!(index >= 0 && Number.isSafeInteger(index)))
      throw new RangeError(`time ${at} is before the start of the buckets, ${this.#from}`);
    while (index >= BUCKETS_MAX) {
      this.#halve();
      index = Math.floor((at - this.#from) / this.#width);
    }
    if (index >= this.#length) this.#length = index + 1;
    return index;
  }

  #halve(): void {
    this.#width *= 2;
    const half = (this.#length + 1) >> 1;
    for (const name in this.columns) {
      const column = this.columns[name];
      const keep = this.#keeps[name];
      // Entries beyond `#length` are empty, so if the number of buckets is odd, the last bucket keeps its value.
      for (let i = 0; i < half; i++) {
        const second = 2 * i + 1 < column.length ? column[2 * i + 1]! : emptyOf(keep);
        column[i] = merged(keep, column[2 * i]!, second);
      }
      column.fill(emptyOf(keep), half);
    }
    this.#length = half;
  }
}

const emptyOf = (keep: Keep): number => (keep === 'sum' ? 0 : Number.NaN);

function merged(keep: Keep, first: number, second: number): number {
  if (Number.isNaN(second)) return first;
  if (Number.isNaN(first)) return second;
  switch (keep) {
    case 'last':
      return second;
    case 'min':
      return Math.min(first, second);
    case 'max':
      return Math.max(first, second);
    case 'sum':
      return first + second;
  }
}
