/** The rows of a recording that are inside a session; what the others make of the book is told when the market opens. */
import type { Millis } from '../../core/index.ts';
import { openHours } from '../model/session.ts';
import type { Session } from '../model/session.ts';
import { KIND } from '../model/tape.ts';
import type { Columns, Gap } from '../model/tape.ts';
import { TapeSnapshot } from '../model/tapeSnapshot.ts';
import { WrongFile } from './findings.ts';

/** What goes before the first row after a market opens. */
export type Opening = { readonly gap: Gap | null; readonly book: Columns | null };

/** A session comes at least once a week. */
const WEEK_MS = 8 * 86_400_000;

export class SessionRows {
  readonly #session: Session;
  readonly #book = new TapeSnapshot();
  /** The hours that are open now, or are next. */
  #open: readonly [Millis, Millis] = [-Infinity, -Infinity];
  /** When the last rows ended, as the market closed. */
  #closedAt: Millis | null = null;
  #isNew = false;
  #hasBook = false;
  /** Inside, and outside. */
  #rows = 0;
  #left = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** To be called with every row, in order of time. `null`: it is taken, and nothing goes before it. */
  row({ kind, side, at, price, amount, id }: Columns, row: number): 'closed' | Opening | null {
    const time = at[row]!;
    if (time >= this.#open[1]) this.#next(time);
    const [start] = this.#open;
    const isOpen = time >= start;
    const book = isOpen && this.#isNew && this.#hasBook ? this.#book.rows(start) : null;
    const gap =
      isOpen && this.#isNew && this.#closedAt !== null
        ? { from: this.#closedAt, to: start, why: `outside the session ${this.#session.text}` }
        : null;
    if (kind[row] !== KIND.trade) {
      this.#book.apply(kind[row]!, side[row]!, price[row]!, amount[row]!, id[row]!);
      this.#hasBook = true;
    }
    if (!isOpen) {
      this.#left++;
      return 'closed';
    }
    this.#rows++;
    const opening = this.#isNew ? { gap, book } : null;
    this.#isNew = false;
    return opening;
  }

  /** Throws a WrongFile if no row was inside. */
  check(source: string): void {
    if (this.#rows === 0) throw new WrongFile(`${source}: no row is inside the session ${this.#session.text}`);
  }

  get notes(): readonly string[] {
    return [`session ${this.#session.text}: ${this.#left} rows outside it were left out; the time between is a gap`];
  }

  #next(time: Millis): void {
    if (this.#rows > 0 && !this.#isNew) this.#closedAt = this.#open[1];
    const since = Math.max(this.#open[1], time - WEEK_MS);
    const hours = openHours(this.#session, since, time + WEEK_MS).find(([, end]) => end > time);
    this.#isNew = true;
    this.#open = hours ?? [Infinity, Infinity];
  }
}
