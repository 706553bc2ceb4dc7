/** What an import found to be dirty: each kind once, with how often, where first, and what was done about it. */
import type { DataFlaw } from '../model/tape.ts';

/** The whole file is not what it was taken for: nothing of it can be used. */
export class WrongFile extends Error {}

/** Lines among which one that cannot be read is skipped; more of them, and the file is something else. */
const READABLE_PER_UNREADABLE = 100;
/** After so many unreadable lines the share is looked at while reading, not only at the end. */
const LOOK_AFTER = 1_000;

export class Findings {
  readonly #kinds = new Map<string, { count: number; readonly first: string | undefined; readonly done: string }>();
  #lines = 0;
  #unread = 0;
  #firstUnread = '';

  /** `place` is of the form file:line. */
  found(what: string, done: string, place?: string, count = 1): void {
    if (count === 0) return;
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

  get flaws(): readonly DataFlaw[] {
    return [...this.#kinds].map(([what, { count, first, done }]) => ({
      what,
      count,
      done,
      ...(first === undefined ? {} : { first }),
    }));
  }
}
