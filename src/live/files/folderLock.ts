/** One process at a time in a folder, by a lock of the kernel's that goes with the process, however that ends. */
import { join } from 'node:path';
import Database from 'libsql';

/** Null where another process has it. Ends when the answer is called. Throws where the folder cannot be written. */
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
