/**
 * Disk problems: a full or read-only disk. The operator solves a disk problem by freeing space or granting a
 * permission. After damage to the state, the operator must check the account instead.
 */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export type DiskTrouble = 'no room' | 'read only';

/** Returns the disk problem that a file-system or SQLite error indicates, or `null` if none. */
export function diskTroubleOf(error: unknown): DiskTrouble | null {
  if (!(error instanceof Error)) return null;
  const text = `${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`;
  if (/ENOSPC|EDQUOT|SQLITE_FULL|disk is full|no space left|quota exceeded/i.test(text)) return 'no room';
  if (/EROFS|SQLITE_READONLY|readonly database|read-only file system/i.test(text)) return 'read only';
  return null;
}

/**
 * Tests the disk with a write, because some errors do not show their cause. SQLite reports many causes as an I/O error
 * or as a file that cannot be opened.
 */
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

/**
 * Writes a page `times` times in sequence and returns how long each write took to become durable, in ms of `elapsed`.
 * Throws if the disk accepts no write.
 */
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

/** Runs `work` on a temporary file of this process, then deletes the file. */
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

/** Page size of the state file, in bytes. */
const PAGE_BYTES = 4_096;

/**
 * Size of a test write, in bytes. The size is sufficient for the largest write that must be durable before orders are
 * sent, including the recording.
 */
const TRIAL_BYTES = 256 * 1024;

/** Returns the remedy for a disk problem, in one clause. The state is intact, so no file has to be moved. */
export const diskAdvice = (trouble: DiskTrouble, dir: string): string =>
  trouble === 'no room'
    ? `free up space on the disk of ${dir} (df -h ${dir}), then start again; leave the state directory in place, because it is intact`
    : `make ${dir} writable again (mount | grep ro, ls -ld ${dir}), then start again; leave the state directory in place, because it is intact`;
