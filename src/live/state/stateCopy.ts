/** A copy of a state file, for those who only look: a running bot keeps its own to itself. */
import { openRegularFile } from '../../guard/index.ts';
import { closeSync, copyFileSync, existsSync, mkdtempSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Database from 'libsql';
import { sleep } from '../../core/index.ts';
import type { Clock } from '../../core/index.ts';
import { closeDatabase, openDatabase, STATE_FILE } from './stateFile.ts';

const TRIES = 40;
const AGAIN_MS = 25;

/** What `read` finds in a copy of the state file; null without one. Rejects when the file cannot be trusted. */
export async function fromCopy<T>(dir: string, clock: Clock, read: (db: Database.Database) => T): Promise<T | null> {
  if (!existsSync(join(dir, STATE_FILE))) return null;
  for (let tries = 1; ; tries++) {
    const copy = mkdtempSync(join(tmpdir(), 'puntas-copy-'));
    try {
      if (copied(dir, copy)) return readIn(copy, read);
      if (tries >= TRIES) throw new Error(`${dir}: was modified during every attempt to copy it; try again`);
    } catch (error) {
      // Torn, because it was written to meanwhile; or damaged, and then it stays so.
      if (tries >= TRIES) throw error;
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
    await sleep(clock, AGAIN_MS);
  }
}

const LOG_FILE = `${STATE_FILE}-wal`;

/**
 * False when the log began anew meanwhile. Until it does, commits are added at its end and it holds every page that the file may have of
 * them: file first, then log, is a state that was durable.
 */
function copied(dir: string, copy: string): boolean {
  const before = headOf(join(dir, LOG_FILE));
  copyFileSync(join(dir, STATE_FILE), join(copy, STATE_FILE));
  if (before !== null) copyFileSync(join(dir, LOG_FILE), join(copy, LOG_FILE));
  return headOf(join(dir, LOG_FILE)) === before;
}

/** Its header changes when it begins anew; null without one. */
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
