/** Last lines of a growing file. Each read parses only new bytes; the number of kept bytes and lines is bounded. */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegularFile } from './files.ts';

export type TailLimits = {
  /**
   * Maximum number of bytes per read. If more bytes are new, only the last `bytes` bytes are read. A line with more
   * than `bytes` bytes is skipped.
   */
  readonly bytes: number;
  /** Maximum number of lines kept. */
  readonly lines: number;
};

export class TailedLines<Line> {
  readonly #file: string;
  readonly #limits: TailLimits;
  readonly #parse: (line: string) => Line | null;
  #kept: Line[] = [];
  /** Offset in the file up to which complete lines were read. */
  #at = 0;
  #inode = -1;

  /** `parse` is called once for each complete line; it returns `null` to skip the line. */
  constructor(file: string, limits: TailLimits, parse: (line: string) => Line | null) {
    this.#file = file;
    this.#limits = limits;
    this.#parse = parse;
  }

  /** Returns the last lines, oldest first; none if the file does not exist. Throws if the file cannot be read. */
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
    // A complete line ends with a line feed. Bytes after the last line feed are read again, unless they are too long
    // for a line.
    const end = bytes.subarray(0, read).lastIndexOf(10);
    if (end < 0) {
      if (read >= this.#limits.bytes) this.#at = size;
      return;
    }
    this.#at = from + end + 1;
    const lines = bytes.toString('utf8', 0, end).split('\n');
    // If bytes were skipped, the first line lacks its start.
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
