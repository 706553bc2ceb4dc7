/**
 * Filter that keeps only those rows of a recording that are inside a session. The book is emptied at the close and
 * written completely at the open.
 */
import type { Millis } from '../../core/index.ts';
import { COLUMN_NAMES } from './columns.ts';
import { closedWhy, openHours, type MarketSession } from './session.ts';
import { TapeBuilder, type Columns, type Gap } from './tape.ts';
import { TapeSnapshot } from './tapeSnapshot.ts';

/** Result for one row: whether the row is kept, and the gap and the book rows to write before the row. */
export type SessionTurn = { readonly isTaken: boolean; readonly gap: Gap | null; readonly rows: Columns | null };

const LEFT_OUT: SessionTurn = { isTaken: false, gap: null, rows: null };
/**
 * Time range in which the next opening is searched, in ms. Eight days suffice, because a session opens at least once
 * per week.
 */
const WEEK_MS = 8 * 86_400_000;

export class SessionRows {
  readonly #session: MarketSession;
  /** Number of the rows' time units per millisecond. */
  readonly #unit: number;
  readonly #book = new TapeSnapshot();
  /** Current or next opening hours. */
  #open: readonly [Millis, Millis] = [-Infinity, -Infinity];
  #isOpen = false;
  /** Time of the last close; `null` until the market closes after a row inside the session. */
  #closedAt: Millis | null = null;
  taken = 0;
  left = 0;

  constructor(session: MarketSession, unit = 1) {
    this.#session = session;
    this.#unit = unit;
  }

  /**
   * Processes a row. Must be called for every row, in order of time. Returns `null` if the row is kept and nothing must
   * be written before it.
   */
  row({ kind, side, at, price, amount, id }: Columns, row: number): SessionTurn | null {
    const time = at[row]! / this.#unit;
    const turn = time < this.#open[1] && (this.#isOpen || time < this.#open[0]) ? null : this.#turned(time);
    this.#book.apply(kind[row]!, side[row]!, price[row]!, amount[row]!, id[row]!);
    if (this.#isOpen) this.taken++;
    else this.left++;
    return this.#isOpen ? turn : (turn ?? LEFT_OUT);
  }

  /** Discards the book, because the tick changes. */
  forget(): void {
    this.#book.forget();
  }

  /** Handles the closing and opening times between the previous row and this row. */
  #turned(time: Millis): SessionTurn {
    const rows = new TapeBuilder();
    if (time >= this.#open[1]) {
      if (this.#isOpen) {
        this.#closedAt = this.#open[1];
        rows.clear(this.#closedAt, this.#closedAt);
      }
      this.#isOpen = false;
      const since = Math.max(this.#open[1], time - WEEK_MS);
      const next = openHours(this.#session, since, time + WEEK_MS).find(([, end]) => end > time);
      this.#open = next ?? [Infinity, Infinity];
    }
    const [start] = this.#open;
    let gap: Gap | null = null;
    if (time >= start) {
      this.#isOpen = true;
      rows.append(this.#book.rows(start));
      if (this.#closedAt !== null) gap = { from: this.#closedAt, to: start, why: closedWhy(this.#session) };
    }
    return { isTaken: this.#isOpen, gap, rows: rows.length === 0 ? null : scaled(rows.columns(), this.#unit) };
  }
}

const scaled = (rows: Columns, unit: number): Columns =>
  unit === 1 ? rows : { ...rows, at: rows.at.map(at => at * unit), local: rows.local.map(at => at * unit) };

/** Yields the rows inside a session, at most `rowsMax` at a time. */
export function* rowsInSession(session: SessionRows, columns: Columns, rowsMax: number): Generator<Columns> {
  let piece = columnsFor(rowsMax);
  let length = 0;
  const full = function* () {
    if (length < rowsMax) return;
    yield { ...piece, length };
    [piece, length] = [columnsFor(rowsMax), 0];
  };
  const put = (from: Columns, row: number): void => {
    for (const name of COLUMN_NAMES) piece[name][length] = from[name][row]!;
    length++;
  };
  for (let row = 0; row < columns.length; row++) {
    const turn = session.row(columns, row);
    for (let i = 0; i < (turn?.rows?.length ?? 0); i++) {
      put(turn!.rows!, i);
      yield* full();
    }
    if (turn?.isTaken === false) continue;
    put(columns, row);
    yield* full();
  }
  if (length > 0) yield { ...piece, length };
}

const columnsFor = (length: number): Columns => {
  const numbers = () => new Float64Array(length);
  return {
    ...{ length, kind: new Uint8Array(length), side: new Uint8Array(length), at: numbers(), local: numbers() },
    ...{ price: numbers(), amount: numbers(), id: numbers() },
  };
};
