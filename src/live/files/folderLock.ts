/** Exclusive lock on a folder. The kernel releases the lock when the process ends. */
import { join } from 'node:path';
import Database from 'libsql';

/**
 * Locks a folder and returns the unlock function; `null` if another process holds the lock. Throws if the folder cannot
 * be written.
 */
export function lockFolder(dir: string): (() => void) | null {
  const db = new Database(join(dir, 'lock.db'), { timeout: 0 });
  try {
    db.pragma('journal_mode = DELETE');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (/locked|busy/i.test(error instanceof Error ? error.message : String(error))) return null;
    throw error;
  }
  return () => {
    db.exec('ROLLBACK');
    db.close();
  };
}
