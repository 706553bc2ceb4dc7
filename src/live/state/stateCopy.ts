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
export async function fromCopy<T>(dir: string, clock: Clock, read: (db: Database.Database) => T): Promise<T | null> {
  if (!existsSync(join(dir, STATE_FILE))) return null;
  for (let tries = 1; ; tries++) {
    const copy = mkdtempSync(join(tmpdir(), 'puntas-copy-'));
    try {
      if (copied(dir, copy)) return readIn(copy, read);
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

const LOG_FILE = `${STATE_FILE}-wal`;

/**
 * Copies the state file, then its log. Returns `false` if the log restarted during the copy. Until the log restarts,
 * commits are only appended to the log, which has every page that is newer than the file. The two copies together are
 * therefore a state that was durable.
 */
function copied(dir: string, copy: string): boolean {
  const before = headOf(join(dir, LOG_FILE));
  copyFileSync(join(dir, STATE_FILE), join(copy, STATE_FILE));
  if (before !== null) copyFileSync(join(dir, LOG_FILE), join(copy, LOG_FILE));
  return headOf(join(dir, LOG_FILE)) === before;
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

function readIn<T>(copy: string, read: (db: Database.Database) => T): T {
  const db = openDatabase(join(copy, STATE_FILE));
  try {
    return read(db);
  } finally {
    closeDatabase(db);
  }
}
