/**
 * Copy of the last day of a stored tape. The copy is continued in another folder and then moved back, so that a killed
 * process leaves the tape intact.
 */
import { cpSync, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { makeFolder } from '../../guard/index.ts';
import { join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { bookFolder, dayFolder, partitions, ROWS_FILE, startOfDay, TAIL_FILE } from './dayFiles.ts';

/**
 * Tape of one book in the folder `work`. At first, the tape in `work` is a copy of the last day of the tape in `dir`.
 */
export class LastDay {
  readonly #dir: string;
  readonly #work: string;
  readonly #book: string;
  readonly #day: string;
  readonly #copied: readonly number[];

  /** Copies the last day. Throws if the tape has no day. */
  constructor(dir: string, work: string, book: string) {
    const day = partitions(bookFolder(dir, book), 'day=').at(-1);
    if (day === undefined) throw new Error(`${bookFolder(dir, book)}: no recorded days`);
    [this.#dir, this.#work, this.#book, this.#day] = [dir, work, book, day];
    makeFolder(bookFolder(work, book));
    this.#copied = this.#sizes();
    cpSync(dayFolder(dir, book, day), dayFolder(work, book, day), { recursive: true });
  }

  /** Midnight at the start of the copied day, in epoch ms. Older rows cannot be added. */
  get start(): Millis {
    return startOfDay(this.#day);
  }

  /**
   * Moves the changed days back into the tape, oldest first and each atomically. After an interruption, the tape
   * therefore ends with a complete day. Throws an Error of one line if another process wrote to the tape after the
   * copy.
   */
  putBack(): void {
    if (this.#sizes().some((size, i) => size !== this.#copied[i]))
      throw new Error(
        `${dayFolder(this.#dir, this.#book, this.#day)}: changed by another process during the import; stop the other process, and import again`,
      );
    for (const day of partitions(bookFolder(this.#work, this.#book), 'day=')) {
      const [from, to] = [dayFolder(this.#work, this.#book, day), dayFolder(this.#dir, this.#book, day)];
      if (!existsSync(to)) {
        renameSync(from, to);
        continue;
      }
      renameSync(join(from, ROWS_FILE), join(to, ROWS_FILE));
      // The rows of the tail are now in the moved file.
      rmSync(join(to, TAIL_FILE), { force: true });
    }
  }

  #sizes(): readonly number[] {
    const folder = dayFolder(this.#dir, this.#book, this.#day);
    return [ROWS_FILE, TAIL_FILE].map(name => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
  }
}
