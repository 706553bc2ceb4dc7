/** What an import found to be dirty: each kind once, with how often, where first, and what was done about it. */
import type { Millis } from '../../../core/index.ts';
import type { DataFlaw } from '../../model/tape.ts';

/** The whole file is not what it was taken for: nothing of it can be used. */
export class WrongFile extends Error {}

/** In quotes, escaped as in JSON, its first 80 characters: for messages of one line. */
export const shown = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** Lines among which one that cannot be read is skipped; more of them, and the file is something else. */
const READABLE_PER_UNREADABLE = 100;
/** After so many unreadable lines the share is looked at while reading, not only at the end. */
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

  /** What is found in lines whose rows are not newer than `since` is known already, and not counted. */
  constructor(since: Millis = -Infinity) {
    this.#since = since;
  }

  /** In the line that is being read. `place` is of the form file:line. */
  found(what: string, done: string, place?: string, count = 1): void {
    if (count === 0) return;
    if (this.#since === -Infinity) this.counted(what, done, place, count);
    else this.#ofLine.push({ what, done, place, count });
  }

  /** The line has been read, and its rows reach up to this time. */
  settle(at: Millis): void {
    if (this.#ofLine.length === 0) return;
    if (at > this.#since)
      for (const { what, done, place, count } of this.#ofLine) this.counted(what, done, place, count);
    this.#ofLine = [];
  }

  /** In what came of the lines, whenever that was. */
  counted(what: string, done: string, place?: string, count = 1): void {
    const kind = this.#kinds.get(what);
    if (kind) kind.count += count;
    else this.#kinds.set(what, { count, first: place, done });
  }

  /** One more line was looked at. */
  line(): void {
    this.#lines++;
  }

  /** A line said nothing that can be used. `why` says what was expected and found. Throws when there are too many. */
  unread(file: string, line: number, what: string, why: string): void {
    this.#unread++;
    if (this.#unread === 1) this.#firstUnread = `${file}: line ${line}: ${why}`;
    this.found(what, 'the line was left out', `${file}:${line}`);
    if (this.#unread >= LOOK_AFTER) this.check();
  }

  /** Throws a WrongFile that names the first line that cannot be read, when more than one in a hundred cannot. */
  check(): void {
    if (this.#unread * READABLE_PER_UNREADABLE <= this.#lines) return;
    const more = this.#unread > 1 ? ` (and ${this.#unread - 1} more of ${this.#lines} lines)` : '';
    throw new WrongFile(`${this.#firstUnread}${more}`);
  }

  /** Lines that said nothing that can be used. */
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
