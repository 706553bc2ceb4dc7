/** Copy of a state file, for read-only commands: a running bot locks the file itself. */
import { openRegularFile } from '../../guard/index.ts';
import { closeSync, copyFileSync, existsSync, mkdtempSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Database from 'libsql';
import { sleep, type Clock } from '../../core/index.ts';
import { closeDatabase, openDatabase, STATE_FILE } from './stateFile.ts';

const TRIES = 40;
const AGAIN_MS = 25;

/**
 * Returns the result of `read` on a copy of the state file; `null` if there is no file. Rejects if the file cannot be
 * trusted.
 */
export const fromCopy = <T>(dir: string, clock: Clock, read: (db: Database.Database) => T): Promise<T | null> =>
  fromCopyOf(dir, STATE_FILE, clock, path => readIn(path, read));

/**
 * Returns the result of `read` on the path of a copy of a database in the state directory; `null` if there is no such
 * file. Rejects if `read` throws for every copy.
 */
export async function fromCopyOf<T>(
  dir: string,
  file: string,
  clock: Clock,
  read: (path: string) => T,
): Promise<T | null> {
  if (!existsSync(join(dir, file))) return null;
  for (let tries = 1; ; tries++) {
    const copy = mkdtempSync(join(tmpdir(), 'puntas-copy-'));
    try {
      if (tryCopy(dir, file, copy)) return read(join(copy, file));
      if (tries >= TRIES)
        throw new Error(`${dir}: the state file was modified during every attempt to copy it; try again`);
    } catch (error) {
      // Either a concurrent write made the copy incomplete, or the file is damaged. A damaged file fails at every try.
      if (tries >= TRIES) throw error;
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
    await sleep(clock, AGAIN_MS);
  }
}

/**
 * Copies the state file, then its log. Returns `false` if the log restarted during the copy. Until the log restarts,
 * commits are only appended to the log, which has every page that is newer than the file. The two copies together are
 * therefore a state that was durable.
 */
function tryCopy(dir: string, file: string, copy: string): boolean {
  const log = `${file}-wal`;
  const before = headOf(join(dir, log));
  copyFileSync(join(dir, file), join(copy, file));
  if (before !== null) copyFileSync(join(dir, log), join(copy, log));
  return headOf(join(dir, log)) === before;
}

/** Returns the header of the log, which changes when the log restarts; `null` without a log. */
function headOf(file: string): string | null {
  if (!existsSync(file)) return null;
  const bytes = Buffer.alloc(32);
  const fd = openRegularFile(file);
  try {
    return bytes.toString('hex', 0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}

function readIn<T>(path: string, read: (db: Database.Database) => T): T {
  const db = openDatabase(path);
  try {
    return read(db);
  } finally {
    closeDatabase(db);
  }
}
