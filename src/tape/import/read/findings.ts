/** Flaws that an import found in the data: each kind once, with its count, first place and treatment. */
import { counted, shownText, type Millis } from '../../../core/index.ts';
import type { DataFlaw } from '../../model/tape.ts';

/**
 * Error for a file that is not in the expected format; no part of it is used. The message is one line, whatever it
 * quotes from the file.
 */
export class WrongFile extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(shownText(message), options);
  }
}

/** Quotes the first 80 characters of a text as JSON, for messages of one line. */
export const shown = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/**
 * Number of lines for which one unreadable line is tolerated. With more unreadable lines, the file probably has another
 * format.
 */
const READABLE_PER_UNREADABLE = 100;
/**
 * From this number of unreadable lines on, each one triggers a check of their share. With fewer, the share is checked
 * only at the end of the last file.
 */
const LOOK_AFTER = 1_000;

type Found = {
  readonly what: string;
  readonly done: string;
  readonly place: string | undefined;
  readonly count: number;
};

export class Findings {
  readonly #since: Millis;
  #ofLine: Found[] = [];
  readonly #kinds = new Map<string, { count: number; readonly first: string | undefined; readonly done: string }>();
  #lines = 0;
  #unread = 0;
  #firstUnread = '';

  /**
   * Creates an empty list of findings. With `since`, the flaws of a line are counted only if the line has a row later
   * than `since`. An earlier import has already reported the flaws of the other lines.
   */
  constructor(since: Millis = -Infinity) {
    this.#since = since;
  }

  /** Records a flaw in the current line. `place` is the location of the flaw, as file:line. */
  found(what: string, done: string, place?: string, count = 1): void {
    if (count === 0) return;
    if (this.#since === -Infinity) this.counted(what, done, place, count);
    else this.#ofLine.push({ what, done, place, count });
  }

  /** Ends the current line; `at` is the latest time of its rows. */
  settle(at: Millis): void {
    if (this.#ofLine.length === 0) return;
    if (at > this.#since)
      for (const { what, done, place, count } of this.#ofLine) this.counted(what, done, place, count);
    this.#ofLine = [];
  }

  /** Counts a flaw immediately, whatever the time of its line. */
  counted(what: string, done: string, place?: string, count = 1): void {
    const kind = this.#kinds.get(what);
    if (kind) kind.count += count;
    else this.#kinds.set(what, { count, first: place, done });
  }

  /** Counts a line that was read. */
  line(): void {
    this.#lines++;
  }

  /**
   * Records an unreadable line; `why` has the expected and the found content. Throws if there are too many unreadable
   * lines.
   */
  unread(file: string, line: number, what: string, why: string): void {
    this.#unread++;
    if (this.#unread === 1) this.#firstUnread = `${file}: line ${line}: ${why}`;
    this.found(what, 'the line was skipped', `${file}:${line}`);
    if (this.#unread >= LOOK_AFTER) this.check();
  }

  /** Throws a WrongFile that names the first unreadable line if more than 1% are unreadable. */
  check(): void {
    if (this.#unread * READABLE_PER_UNREADABLE <= this.#lines) return;
    const more = this.#unread > 1 ? ` (${this.#unread} of ${counted(this.#lines, 'line')} cannot be read)` : '';
    throw new WrongFile(`${this.#firstUnread}${more}`);
  }

  get unreadLines(): number {
    return this.#unread;
  }

  get flaws(): readonly DataFlaw[] {
    this.settle(Infinity);
    return [...this.#kinds].map(([what, { count, first, done }]) => ({
      what,
      count,
      done,
      ...(first === undefined ? {} : { first }),
    }));
  }
}
