/** The last lines of a file that grows: each reading takes only what is new, and a bounded number of bytes and lines is kept. */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegularFile } from './files.ts';

export type TailLimits = {
  /** Bytes of one reading at most; of a longer one the last ones. A line that is longer is left out. */
  readonly bytes: number;
  /** Lines kept at most. */
  readonly lines: number;
};

export class TailedLines<Line> {
  readonly #file: string;
  readonly #limits: TailLimits;
  readonly #parse: (line: string) => Line | null;
  #kept: Line[] = [];
  /** Bytes of the file that whole lines were read from. */
  #at = 0;
  #inode = -1;

  /** `parse` is called once for each whole line; null leaves it out. */
  constructor(file: string, limits: TailLimits, parse: (line: string) => Line | null) {
    this.#file = file;
    this.#limits = limits;
    this.#parse = parse;
  }

  /** The last lines, oldest first; none if there is no file. Throws if it cannot be read. */
  read(): readonly Line[] {
    let fd: number;
    try {
      fd = openRegularFile(this.#file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      this.#restart(-1);
      return this.#kept;
    }
    try {
      this.#readNew(fd);
    } finally {
      closeSync(fd);
    }
    return this.#kept;
  }

  #readNew(fd: number): void {
    const { size, ino } = fstatSync(fd);
    if (ino !== this.#inode || size < this.#at) this.#restart(ino);
    const from = Math.max(this.#at, size - this.#limits.bytes);
    const isCut = from > this.#at;
    const bytes = Buffer.alloc(size - from);
    const read = readSync(fd, bytes, 0, bytes.length, from);
    // A whole line ends with a line feed. What is behind the last one is read again, unless it is too long for a line.
    const end = bytes.subarray(0, read).lastIndexOf(10);
    if (end < 0) {
      if (read >= this.#limits.bytes) this.#at = size;
      return;
    }
    this.#at = from + end + 1;
    const lines = bytes.toString('utf8', 0, end).split('\n');
    // The first one has lost its beginning.
    for (const line of isCut ? lines.slice(1) : lines) {
      const parsed = this.#parse(line);
      if (parsed !== null) this.#kept.push(parsed);
    }
    this.#kept = this.#kept.slice(-this.#limits.lines);
  }

  #restart(inode: number): void {
    [this.#kept, this.#at, this.#inode] = [[], 0, inode];
  }
}
