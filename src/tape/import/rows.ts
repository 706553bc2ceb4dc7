/** Rows between recordings and a tape: small chunks with line numbers, and a merge of streams by time. */
import { enlarged, type Amount, type Millis, type Price } from '../../core/index.ts';
import { KIND, SIDE, type Columns, type Kind, type SideCode } from '../model/tape.ts';
import { WrongFile, type Findings } from './read/findings.ts';

/** Rows of one file; times never decrease from chunk to chunk. `line` has one element per row. */
export type Chunk = { readonly columns: Columns; readonly file: string; readonly line: Float64Array };

/** Maximum delay, in ms, of a late row that gets the time of the previous row. */
const BACK_MAX_MS = 60_000;
const FIRST_ROWS = 4_096;
/** Maximum number of rows in the buffer. One line of a file can be a snapshot of a book with 100,000 orders. */
const ROWS_MAX = 4_194_304;

/** Error for a row that is more than a minute earlier than the previous row and too late to be sorted. */
export class LateRow extends RangeError {}

/**
 * Collector of the rows of consecutive lines. The rows of the current line can be removed again if the line is
 * unreadable.
 */
export class RowBuffer {
  readonly #findings: Findings;
  readonly #sortMs: Millis;
  #file = '';
  #number = 0;
  #start = { n: 0, last: -Infinity };
  #last = -Infinity;
  /** Time of the last row that `take` has yielded; -Infinity before the first. */
  #handedOn = -Infinity;
  /** Index before which the rows are in order of time. */
  #sorted = 0;
  #backLine = -1;
  #lastFile = '';
  #n = 0;
  #kind = new Uint8Array(FIRST_ROWS);
  #side = new Uint8Array(FIRST_ROWS);
  #at = new Float64Array(FIRST_ROWS);
  #local = new Float64Array(FIRST_ROWS);
  #price = new Float64Array(FIRST_ROWS);
  #amount = new Float64Array(FIRST_ROWS);
  #id = new Float64Array(FIRST_ROWS);
  #line = new Float64Array(FIRST_ROWS);

  /**
   * Creates an empty row buffer. `sortMs`: maximum delay of late rows that are sorted into order of time. Default: 0.
   */
  constructor(findings: Findings, sortMs: Millis = 0) {
    this.#findings = findings;
    this.#sortMs = sortMs;
  }

  /**
   * Starts a line; the following rows belong to it. A chunk has rows of one file only, so take all rows before the next
   * file.
   */
  begin(file: string, line: number): void {
    this.#findings.settle(this.#last);
    this.#sort();
    this.#file = file;
    this.#number = line;
    this.#start = { n: this.#n, last: this.#last };
  }

  /** Removes the rows of the current line. */
  undo(): void {
    this.#n = this.#start.n;
    this.#sorted = this.#n;
    this.#last = this.#start.last;
  }

  get length(): number {
    return this.#n;
  }

  /** Returns the location of the current line, as file:line. */
  get place(): string {
    return `${this.#file}:${this.#number}`;
  }

  clear(at: Millis, local: Millis): void {
    this.push(KIND.clear, SIDE.unknown, at, local, 0, 0, 0);
  }

  level(at: Millis, local: Millis, side: SideCode, price: Price, amount: Amount): void {
    this.push(KIND.level, side, at, local, price, amount, 0);
  }

  trade(at: Millis, local: Millis, side: SideCode, price: Price, amount: Amount, id = 0): void {
    this.push(KIND.trade, side, at, local, price, amount, id);
  }

  /**
   * Adds a row. Throws if a time is not finite, or if a price, amount or id is not a non-negative integer. The complete
   * line is then unreadable.
   */
  push(kind: Kind, side: number, at: Millis, local: Millis, price: number, amount: number, id: number): void {
    if (!Number.isFinite(at + local))
      throw new RangeError(`expected two finite times, found ${at} (exchange) and ${local} (recorder)`);
    const whole = Number.isSafeInteger(price) && Number.isSafeInteger(amount) && Number.isSafeInteger(id);
    if (!(whole && price >= 0 && amount >= 0))
      throw new RangeError(
        `expected a price in whole ticks, an amount in whole lots and an integer id, found ${price}, ${amount} and ${id}`,
      );
    const n = this.#n;
    if (n === this.#kind.length) this.#grow();
    this.#at[n] = this.#forward(at);
    this.#kind[n] = kind;
    this.#side[n] = side;
    this.#local[n] = local;
    this.#price[n] = price;
    this.#amount[n] = amount;
    this.#id[n] = id;
    this.#line[n] = this.#number;
    this.#n = n + 1;
  }

  /**
   * Yields the rows since the last call, if any. `isEnd`: whether the file has ended. Before its end, the latest rows
   * are kept, because late rows may precede them.
   */
  *take(isEnd = false): Generator<Chunk> {
    this.#findings.settle(this.#last);
    this.#sort();
    const n = this.#n;
    let ready = n;
    if (!isEnd && this.#sortMs > 0) ready = this.#placeAfter(this.#last - this.#sortMs, n);
    if (ready === 0) return;
    const columns = {
      kind: this.#kind,
      side: this.#side,
      at: this.#at,
      local: this.#local,
      price: this.#price,
      amount: this.#amount,
      id: this.#id,
    };
    const { kind, side, at, local, price, amount, id } = columns;
    this.#handedOn = at[ready - 1]!;
    const chunk: Chunk = {
      file: this.#file,
      line: this.#line.slice(0, ready),
      columns: {
        length: ready,
        kind: kind.slice(0, ready),
        side: side.slice(0, ready),
        at: at.slice(0, ready),
        local: local.slice(0, ready),
        price: price.slice(0, ready),
        amount: amount.slice(0, ready),
        id: id.slice(0, ready),
      },
    };
    for (const column of [kind, side, at, local, price, amount, id, this.#line]) column.copyWithin(0, ready, n);
    this.#n = n - ready;
    this.#sorted = this.#n;
    this.#start = { n: this.#n, last: this.#last };
    yield chunk;
  }

  #forward(at: Millis): Millis {
    const last = this.#last;
    if (at >= last) {
      this.#lastFile = this.#file;
      return (this.#last = at);
    }
    const isSorted = last - at <= this.#sortMs;
    if (last - at > BACK_MAX_MS && !isSorted) {
      const seconds = ((last - at) / 1000).toFixed(1);
      if (this.#lastFile !== this.#file)
        throw new WrongFile(
          `${this.#file}: starts ${seconds} s before ${this.#lastFile} ends; remove one of these two files, which overlap in time`,
        );
      throw new LateRow(
        `the row is ${seconds} s earlier than a previous row; sort the rows by exchange time first, or use --sort 10m`,
      );
    }
    if (this.#backLine !== this.#number) {
      if (isSorted) this.#findings.found('rows out of order', 'sorted by time', this.place);
      else this.#findings.found('times going backwards', 'set to the time of the previous row', this.place);
      this.#backLine = this.#number;
    }
    return this.#sortMs > 0 ? Math.max(at, this.#handedOn) : last;
  }

  /** Sorts the rows of the last line into the earlier rows. Rows of equal time keep their order. */
  #sort(): void {
    if (this.#sortMs > 0)
      for (let row = Math.max(1, this.#sorted); row < this.#n; row++) {
        const at = this.#at[row]!;
        if (at < this.#at[row - 1]!) this.#move(row, this.#placeAfter(at, row));
      }
    this.#sorted = this.#n;
  }

  /** Returns the index of the first row later than `at` among the first `count` rows, which are sorted. */
  #placeAfter(at: Millis, count: number): number {
    let [low, high] = [0, count];
    while (low < high) {
      const pivot = (low + high) >> 1;
      if (this.#at[pivot]! <= at) low = pivot + 1;
      else high = pivot;
    }
    return low;
  }

  #move(from: number, to: number): void {
    const columns = [this.#kind, this.#side, this.#at, this.#local, this.#price, this.#amount, this.#id, this.#line];
    for (const column of columns) {
      const value = column[from]!;
      column.copyWithin(to + 1, to, from);
      column[to] = value;
    }
  }

  #grow(): void {
    const length = this.#kind.length * 2;
    if (length > ROWS_MAX) throw new RangeError(`one line contains more than ${ROWS_MAX} rows`);
    this.#kind = enlarged(this.#kind, length);
    this.#side = enlarged(this.#side, length);
    this.#at = enlarged(this.#at, length);
    this.#local = enlarged(this.#local, length);
    this.#price = enlarged(this.#price, length);
    this.#amount = enlarged(this.#amount, length);
    this.#id = enlarged(this.#id, length);
    this.#line = enlarged(this.#line, length);
  }
}

/**
 * Calls `call` for every row of all streams in order of time. At equal times, rows of earlier streams come first. Keeps
 * one chunk per stream in memory.
 */
export async function mergeRows(
  streams: readonly AsyncIterable<Chunk>[],
  call: (chunk: Chunk, row: number) => void,
): Promise<void> {
  const iterators = streams.map(stream => stream[Symbol.asyncIterator]());
  const heads: { chunk: Chunk; row: number; readonly next: () => Promise<Chunk | null> }[] = [];
  for (const iterator of iterators) {
    const next = async (): Promise<Chunk | null> => {
      const result = await iterator.next();
      return result.done === true ? null : result.value;
    };
    const chunk = await next();
    if (chunk) heads.push({ chunk, row: 0, next });
  }
  while (heads.length > 0) {
    let first = heads[0]!;
    for (const head of heads) if (timeOf(head) < timeOf(first)) first = head;
    // All rows of `first` up to the next row of another stream are processed together, so that the streams need not be
    // compared for each row.
    const place = heads.indexOf(first);
    const below = Math.min(...heads.slice(0, place).map(timeOf));
    const upTo = Math.min(...heads.slice(place + 1).map(timeOf));
    const { at, length } = first.chunk.columns;
    do call(first.chunk, first.row++);
    while (first.row < length && at[first.row]! < below && at[first.row]! <= upTo);
    if (first.row < length) continue;
    const chunk = await first.next();
    if (chunk) [first.chunk, first.row] = [chunk, 0];
    else heads.splice(place, 1);
  }
}

const timeOf = ({ chunk, row }: { readonly chunk: Chunk; readonly row: number }): Millis => chunk.columns.at[row]!;
