/** Rows on their way from recordings into a tape: small chunks that know which line they came from, and two streams of them merged by time. */
import type { Amount, Millis, Price } from '../../core/index.ts';
import { KIND, SIDE } from '../model/tape.ts';
import type { Columns, Kind, SideCode } from '../model/tape.ts';
import { WrongFile } from './findings.ts';
import type { Findings } from './findings.ts';

/** Some rows of one file, times never going back from chunk to chunk. `line` is parallel to the columns. */
export type Chunk = { readonly columns: Columns; readonly file: string; readonly line: Float64Array };

/** A file whose times jump back by more than this is not sorted; setting all that follows to one time would bend it. */
const BACK_MAX_MS = 60_000;
const FIRST_ROWS = 4_096;
/** A snapshot of a book of 100,000 orders is one line. */
const ROWS_MAX = 8_000_000;

/** Collects the rows of some lines; a line that turns out to be unreadable can be taken back. */
export class RowBuffer {
  readonly #findings: Findings;
  #file = '';
  #number = 0;
  #start = { n: 0, last: -Infinity };
  #last = -Infinity;
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

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** The rows that follow come from this line. A chunk has rows of one file only: take what there is before the next. */
  begin(file: string, line: number): void {
    this.#findings.settle(this.#last);
    this.#file = file;
    this.#number = line;
    this.#start = { n: this.#n, last: this.#last };
  }

  /** Takes back the rows of the line that was begun last. */
  undo(): void {
    this.#n = this.#start.n;
    this.#last = this.#start.last;
  }

  get length(): number {
    return this.#n;
  }

  /** file:line of what is being read. */
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

  /** Times that are no numbers, and prices and amounts that are no whole ones, make the line unreadable. */
  push(kind: Kind, side: number, at: Millis, local: Millis, price: number, amount: number, id: number): void {
    if (!Number.isFinite(at + local)) throw new RangeError(`expected a time, found ${at} and ${local}`);
    const whole = Number.isSafeInteger(price) && Number.isSafeInteger(amount) && Number.isSafeInteger(id);
    if (!(whole && price >= 0 && amount >= 0))
      throw new RangeError(`expected whole ticks, lots and ids, found ${price}, ${amount} and ${id}`);
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

  /** The rows since the last time, if any; the buffer is empty afterwards. */
  *take(): Generator<Chunk> {
    this.#findings.settle(this.#last);
    const n = this.#n;
    if (n === 0) return;
    this.#n = 0;
    this.#start = { n: 0, last: this.#last };
    yield {
      file: this.#file,
      line: this.#line.slice(0, n),
      columns: {
        length: n,
        kind: this.#kind.slice(0, n),
        side: this.#side.slice(0, n),
        at: this.#at.slice(0, n),
        local: this.#local.slice(0, n),
        price: this.#price.slice(0, n),
        amount: this.#amount.slice(0, n),
        id: this.#id.slice(0, n),
      },
    };
  }

  #forward(at: Millis): Millis {
    const last = this.#last;
    if (at >= last) {
      this.#lastFile = this.#file;
      return (this.#last = at);
    }
    if (last - at > BACK_MAX_MS) {
      const seconds = ((last - at) / 1000).toFixed(1);
      if (this.#lastFile !== this.#file)
        throw new WrongFile(
          `${this.#file}: begins ${seconds} s before ${this.#lastFile} ends: two recordings of one time; take one of them away`,
        );
      throw new WrongFile(
        `${this.#file}: line ${this.#number}: the time goes back by ${seconds} s; sort the rows by exchange time first`,
      );
    }
    if (this.#backLine !== this.#number) {
      this.#findings.found('times going backwards', 'set to the time before', this.place);
      this.#backLine = this.#number;
    }
    return last;
  }

  #grow(): void {
    const length = this.#kind.length * 2;
    if (length > ROWS_MAX) throw new RangeError(`one line gives more than ${ROWS_MAX / 2} rows`);
    const bytes = (from: Uint8Array): Uint8Array<ArrayBuffer> => {
      const to = new Uint8Array(length);
      to.set(from);
      return to;
    };
    const numbers = (from: Float64Array): Float64Array<ArrayBuffer> => {
      const to = new Float64Array(length);
      to.set(from);
      return to;
    };
    this.#kind = bytes(this.#kind);
    this.#side = bytes(this.#side);
    this.#at = numbers(this.#at);
    this.#local = numbers(this.#local);
    this.#price = numbers(this.#price);
    this.#amount = numbers(this.#amount);
    this.#id = numbers(this.#id);
    this.#line = numbers(this.#line);
  }
}

/** Calls with every row of all streams in order of time; at equal times those of an earlier stream come first. Holds one chunk of each. */
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
    // All rows of `first` up to the next row of another stream, so that the heads are compared once a run and not once a row.
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
