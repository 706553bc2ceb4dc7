/** Series of a replay in bounded memory: equal stretches of time, of which two become one whenever there are too many. */

/** What a stretch keeps of the values put into it. */
export type Keep = 'last' | 'min' | 'max' | 'sum';

/** At least half of this many are in use once a run is long enough. */
export const BUCKETS_MAX = 1024;

/** The result depends on nothing but what was put in, in which order. A stretch without a value is NaN, or 0 where sums are kept. */
export class Buckets<Name extends string> {
  readonly #from: number;
  readonly #keeps: Readonly<Record<Name, Keep>>;
  /** By stretch, for who knows what each of them keeps: the last is written, and a sum added to, without asking which it is. */
  readonly columns: Readonly<Record<Name, Float64Array>>;
  #width: number;
  #length = 0;

  constructor(from: number, width: number, columns: Readonly<Record<Name, Keep>>) {
    if (!(Number.isFinite(from) && width > 0 && width < Infinity)) {
      throw new RangeError(`stretches need a start and a width above 0, found ${from} and ${width}`);
    }
    this.#from = from;
    this.#width = width;
    this.#keeps = columns;
    const made = {} as Record<Name, Float64Array>;
    for (const name in columns) made[name] = new Float64Array(BUCKETS_MAX).fill(emptyOf(columns[name]));
    this.columns = made;
  }

  /** Duration of a stretch; twice as long after every halving. */
  get width(): number {
    return this.#width;
  }

  get length(): number {
    return this.#length;
  }

  put(name: Name, at: number, value: number): void {
    this.putIn(this.stretchAt(at), name, value);
  }

  /** The same where several values of one time are put in: `stretch` of that time. */
  putIn(stretch: number, name: Name, value: number): void {
    const column = this.columns[name];
    column[stretch] = merged(this.#keeps[name], column[stretch]!, value);
  }

  column(name: Name): Float64Array {
    return this.columns[name].subarray(0, this.#length);
  }

  /** Number of the stretch that a time lies in; another one after the next of a later time. */
  stretchAt(at: number): number {
    let index = Math.floor((at - this.#from) / this.#width);
    if (!(index >= 0 && Number.isSafeInteger(index))) throw new RangeError(`${at} is before ${this.#from}`);
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
      // Beyond the length there are only empty ones, so that an odd last one stays what it is.
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
