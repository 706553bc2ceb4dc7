/** A disk that is full or read-only, told from a state that is damaged: the one needs room or a permission, the other a person's look at the account. */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export type DiskTrouble = 'no room' | 'read only';

/** What an error of the file system or of SQLite says of the disk; null when it says nothing of it. */
export function diskTroubleOf(error: unknown): DiskTrouble | null {
  if (!(error instanceof Error)) return null;
  const text = `${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`;
  if (/ENOSPC|EDQUOT|SQLITE_FULL|disk is full|no space left|quota exceeded/i.test(text)) return 'no room';
  if (/EROFS|SQLITE_READONLY|readonly database|read-only file system/i.test(text)) return 'read only';
  return null;
}

/** Tries the disk itself, where an error is vague: SQLite calls much an I/O error, or a file that cannot be opened. */
export function tryDisk(dir: string): DiskTrouble | null {
  try {
    onTrial(dir, fd => {
      writeSync(fd, Buffer.alloc(TRIAL_BYTES));
      fsyncSync(fd);
    });
    return null;
  } catch (error) {
    return diskTroubleOf(error);
  }
}

/** How long a page takes until it is durable, so many times one after the other, each in ms of `elapsed`. Throws when the disk does not take it. */
export function syncTimes(dir: string, times: number, elapsed: () => number): readonly number[] {
  const page = Buffer.alloc(PAGE_BYTES);
  const told: number[] = [];
  onTrial(dir, fd => {
    for (let i = 0; i < times; i++) {
      const from = elapsed();
      writeSync(fd, page);
      fsyncSync(fd);
      told.push(elapsed() - from);
    }
  });
  return told;
}

/** A file of this process, gone afterwards. */
function onTrial(dir: string, work: (fd: number) => void): void {
  const file = join(dir, `.trial-${process.pid}`);
  const fd = openSync(file, 'wx', 0o600);
  try {
    work(fd);
  } finally {
    closeSync(fd);
    rmSync(file, { force: true });
  }
}

/** Of the state file. */
const PAGE_BYTES = 4_096;

/** What one send may take: its rows, the pages that they are in, and the recording. */
const TRIAL_BYTES = 256 * 1024;

/** What to do about it, in one clause. Nothing has to be moved: the state is not what is wrong. */
export const diskAdvice = (trouble: DiskTrouble, dir: string): string =>
  trouble === 'no room'
    ? `free space on the disk of ${dir} (df -h ${dir}), then start again; leave the state directory in place: only disk space is missing`
    : `make ${dir} writable again (mount | grep ro, ls -ld ${dir}), then start again; leave the state directory in place: only write permission is missing`;
