/**
 * Sliding window of rows. Only the rows from the slowest reader's position to slightly beyond the time of the replay
 * are in memory.
 */
import { KIND, SIDE, type Columns } from '../../src/tape/index.ts';
import { FLAG, type MarketRows, type RowsOut } from './rows.ts';

type Sliding = { -readonly [K in keyof MarketRows]: MarketRows[K] };

/** Initial capacity in rows, which is twice the first chunk of a stored tape. */
const CAPACITY_MIN = 1 << 17;

/** Flags of a row, indexed by its kind + 16 × its side. */
const FLAGS = Uint8Array.from({ length: 48 }, (_, mark) => {
  const side = mark >> 4 === SIDE.sell ? FLAG.sell : 0;
  return (mark & 15) === KIND.trade ? FLAG.trade | side : side;
});

/**
 * Rows loaded in chunks. `rows` is always the same object; its columns and its length change when a chunk is loaded.
 */
export class RowWindow implements RowsOut {
  readonly #rows: Sliding;
  /** Appends the next rows; returns false after the last rows. */
  readonly #more: (window: RowWindow) => boolean;
  #ended = false;
  #at = -Infinity;
  #local = -Infinity;
  #total = 0;
  /** Time of the last row of each loaded chunk, with the total number of rows up to that row. */
  readonly #loads: { readonly at: number; readonly total: number }[] = [];

  constructor(
    places: Pick<MarketRows, 'base' | 'places'> & { readonly depth?: number },
    more: (window: RowWindow) => boolean,
  ) {
    const { length, at, local, place, lots, flags } = emptyColumns(CAPACITY_MIN);
    const { base, depth = Infinity } = places;
    this.#rows = { length, base, places: places.places, depth, at, local, place, lots, flags, orders: null };
    this.#more = more;
  }

  get rows(): MarketRows {
    return this.#rows;
  }

  /** Number of rows appended since the start. */
  get total(): number {
    return this.#total;
  }

  /**
   * Loads chunks until a row later than `time` is available, or no row is left. May drop the rows before `keep`.
   * Returns the number of dropped rows, by which the indices of the other rows decrease.
   */
  load(time: number, keep: number): number {
    if (this.#ended || this.#at > time) return 0;
    const moved = this.#drop(keep);
    while (!this.#ended && this.#at <= time) {
      this.#ended = !this.#more(this);
      this.#loads.push({ at: this.#at, total: this.#total });
    }
    const { length, at, local } = this.#rows;
    at[length] = Infinity;
    local[length] = Infinity;
    return moved;
  }

  /** Returns the total number of rows after loading up to `time`. */
  totalFor(time: number): number {
    return this.#loads.find(({ at }) => at > time)?.total ?? this.#total;
  }

  /** Loads all rows and returns them, so that they can be read several times. */
  whole(): MarketRows {
    this.load(Infinity, 0);
    const { length, base, places, depth, at, local, place, lots, flags, orders } = this.#rows;
    return {
      ...{ length, base, places, depth, at: at.subarray(0, length + 1), local: local.subarray(0, length + 1) },
      ...{
        place: place.subarray(0, length + 1),
        lots: lots.subarray(0, length),
        flags: flags.subarray(0, length),
        orders,
      },
    };
  }

  /** Increases the capacity for `count` more rows if necessary. */
  reserve(count: number): void {
    const rows = this.#rows;
    const { length } = rows;
    if (length + count < rows.at.length) return;
    const grown = emptyColumns(2 * (length + count));
    grown.at.set(rows.at.subarray(0, length));
    grown.local.set(rows.local.subarray(0, length));
    grown.place.set(rows.place.subarray(0, length));
    grown.lots.set(rows.lots.subarray(0, length));
    grown.flags.set(rows.flags.subarray(0, length));
    Object.assign(rows, { ...grown, length });
  }

  /**
   * Appends level and trade rows; the capacity must be reserved. A local time that decreases, or is before its exchange
   * time, is replaced by the earliest possible time.
   */
  append({ length, kind, side, at, local, price, amount }: Columns): void {
    const rows = this.#rows;
    const { base, places, at: toAt, local: toLocal, place: toPlace, lots: toLots, flags: toFlags } = rows;
    let n = rows.length;
    let heard = this.#local;
    for (let row = 0; row < length; row++, n++) {
      const happened = at[row]!;
      const told = local[row]!;
      if (told > heard) heard = told;
      if (happened > heard) heard = happened;
      const place = price[row]! - base;
      toLocal[n] = heard;
      toPlace[n] = place < 0 ? 0 : place >= places ? places - 1 : place;
      // Looks the flags up in a table, because sides are random and a branch would be mispredicted half of the time.
      toFlags[n] = FLAGS[kind[row]! | (side[row]! << 4)]!;
    }
    toAt.set(at, rows.length);
    toLots.set(amount, rows.length);
    if (length > 0) this.#at = at[length - 1]!;
    this.#local = heard;
    rows.length = n;
    this.#total += length;
  }

  /** Appends one row like `append`, but also reserves the capacity. */
  add(at: number, local: number, tick: number, lots: number, flags: number): void {
    const rows = this.#rows;
    const n = rows.length;
    if (n + 1 >= rows.at.length) this.reserve(1);
    if (!(at >= this.#at))
      throw new RangeError(`row ${this.#total} has time ${at}, which is before time ${this.#at} of the previous row`);
    this.#local = Math.max(at, local, this.#local);
    this.#at = at;
    const place = tick - rows.base;
    rows.at[n] = at;
    rows.local[n] = this.#local;
    rows.place[n] = place < 0 ? 0 : place >= rows.places ? rows.places - 1 : place;
    rows.lots[n] = lots;
    rows.flags[n] = flags;
    rows.length = n + 1;
    this.#total++;
  }

  #drop(keep: number): number {
    if (keep === 0) return 0;
    const rows = this.#rows;
    const { length } = rows;
    rows.at.copyWithin(0, keep, length);
    rows.local.copyWithin(0, keep, length);
    rows.place.copyWithin(0, keep, length);
    rows.lots.copyWithin(0, keep, length);
    rows.flags.copyWithin(0, keep, length);
    rows.length = length - keep;
    return keep;
  }
}

function emptyColumns(room: number): Pick<MarketRows, 'length' | 'at' | 'local' | 'place' | 'lots' | 'flags'> {
  return {
    length: 0,
    at: new Float64Array(room),
    local: new Float64Array(room),
    place: new Int32Array(room),
    lots: new Float64Array(room),
    flags: new Uint8Array(room),
  };
}
