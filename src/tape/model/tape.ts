/** Recorded market in memory: one column per field, one row per event, in replay order. */
import { enlarged, type BookRules, type Instrument, type Millis } from '../../core/index.ts';
import { KIND, type Columns, type Kind, type SideCode } from './columns.ts';
import { RowSink } from './rowSink.ts';

export * from './columns.ts';

/** Kind of data flaw in a recording, with its count, first place (file:line, if known) and treatment. */
export type DataFlaw = {
  readonly what: string;
  readonly count: number;
  readonly done: string;
  readonly first?: string;
};

export type Gap = { readonly from: Millis; readonly to: Millis; readonly why: string };

export type Tape = {
  /** Origin of the tape, as text for the operator. */
  readonly source: string;
  readonly instrument: Instrument;
  readonly rules: BookRules;
  readonly columns: Columns;
  readonly gaps: readonly Gap[];
  readonly flaws: readonly DataFlaw[];
  /** Number of levels per side in the recording; Infinity for a complete book. */
  readonly depth: number;
  /** Whether the tape has only best prices without amounts: usable for statistics, not for a replay. */
  readonly quotesOnly: boolean;
  /** Session to which the tape is restricted, if any. */
  readonly session?: string;
};

/** Maximum number of rows in memory; a row takes 42 bytes. */
const ROWS_MAX = 20_000_000;

/** Collector of rows, in columns that grow by doubling. */
export class TapeBuilder extends RowSink {
  #length = 0;
  #backwards = 0;
  #kind = new Uint8Array(1024);
  #side = new Uint8Array(1024);
  #at = new Float64Array(1024);
  #local = new Float64Array(1024);
  #price = new Float64Array(1024);
  #amount = new Float64Array(1024);
  #id = new Float64Array(1024);

  get length(): number {
    return this.#length;
  }

  /**
   * Number of rows, not counting `level` rows, that were earlier than the previous row. Each was stored with the time
   * of the previous row.
   */
  get backwards(): number {
    return this.#backwards;
  }

  /** Returns the rows so far, trimmed to their length. */
  columns(): Columns {
    const n = this.#length;
    return {
      length: n,
      kind: this.#kind.slice(0, n),
      side: this.#side.slice(0, n),
      at: this.#at.slice(0, n),
      local: this.#local.slice(0, n),
      price: this.#price.slice(0, n),
      amount: this.#amount.slice(0, n),
      id: this.#id.slice(0, n),
    };
  }

  protected push(
    kind: Kind,
    side: SideCode,
    at: Millis,
    local: Millis,
    price: number,
    amount: number,
    id: number,
  ): void {
    if (!(Number.isFinite(at + local) && Number.isSafeInteger(price) && Number.isSafeInteger(amount) && amount >= 0)) {
      throw new RangeError(
        `a tape row needs finite times, a price in whole ticks and an amount in whole lots; found times ${at} and ${local}, price ${price}, amount ${amount}`,
      );
    }
    const n = this.#length;
    if (n >= ROWS_MAX) throw new RangeError(`a tape in memory has at most ${ROWS_MAX} rows`);
    if (n === this.#kind.length) this.#grow();
    let time = at;
    if (n > 0 && time < this.#at[n - 1]!) {
      time = this.#at[n - 1]!;
      if (kind !== KIND.level) this.#backwards++;
    }
    this.#kind[n] = kind;
    this.#side[n] = side;
    this.#at[n] = time;
    this.#local[n] = local;
    this.#price[n] = price;
    this.#amount[n] = amount;
    this.#id[n] = id;
    this.#length = n + 1;
  }

  #grow(): void {
    const length = this.#kind.length * 2;
    this.#kind = enlarged(this.#kind, length);
    this.#side = enlarged(this.#side, length);
    this.#at = enlarged(this.#at, length);
    this.#local = enlarged(this.#local, length);
    this.#price = enlarged(this.#price, length);
    this.#amount = enlarged(this.#amount, length);
    this.#id = enlarged(this.#id, length);
  }
}
