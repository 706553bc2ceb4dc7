/**
 * File of the paper account: rows of the embedded exchange behind paper trading, which are written in one transaction
 * per change. One process has the file open at a time.
 */
import { join } from 'node:path';
import Database from 'libsql';
import { textOfError, type Clock } from '../../core/index.ts';
import { sumOf } from './rowChecksums.ts';
import { fromCopyOf } from './stateCopy.ts';
import { atomically, StateInUse } from './stateFile.ts';

/** File name in a state directory. */
export const PAPER_ACCOUNT_FILE = 'paper-account.db';

export type PaperRow = { readonly key: string; readonly text: string };
export type PaperAccountFile = {
  read(): readonly PaperRow[];
  write(changes: readonly { readonly key: string; readonly text: string | null }[], isDurable: boolean): void;
  close(): void;
};

const VERSION = 1;
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, text TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
  PRAGMA user_version = ${VERSION};
`;
/** Size to which the write-ahead log is cut, in bytes. */
const LOG_MAX_BYTES = 8 * 1024 * 1024;

/**
 * Opens or creates the file in an existing state directory, and locks the file for this process. Throws a one-line
 * Error if another process has the file open, or if the file is damaged or cannot be written.
 */
export function openPaperAccount(dir: string): PaperAccountFile {
  const file = join(dir, PAPER_ACCOUNT_FILE);
  let db: Database.Database | null = null;
  try {
    db = new Database(file, { timeout: 0 });
    // The kernel keeps the lock, so that the lock always ends with the process.
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma(`journal_size_limit = ${LOG_MAX_BYTES}`);
    verify(db);
    const made = db;
    made.exec(SCHEMA);
    return fileIn(made);
  } catch (error) {
    db?.close();
    const message = textOfError(error);
    if (/locked|busy/i.test(message))
      throw new StateInUse(
        `the state directory is in use by another process (${file}); stop that process, or give this bot its own paper.stateDir`,
      );
    throw new Error(
      `the paper account ${file} cannot be used (${message}); start a new account with puntas run --paper --fresh`,
      { cause: error },
    );
  }
}

/** Returns the rows from a copy of the file, for commands that only read; empty without a file. */
export async function readPaperAccount(dir: string, clock: Clock): Promise<readonly PaperRow[]> {
  const rows = await fromCopyOf(dir, PAPER_ACCOUNT_FILE, clock, path => {
    const db = new Database(path, { timeout: 0 });
    try {
      verify(db);
      return rowsIn(db);
    } finally {
      db.close();
    }
  });
  return rows ?? [];
}

function fileIn(db: Database.Database): PaperAccountFile {
  const put = db.prepare(
    'INSERT INTO rows (key, text, sum) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET text = excluded.text, sum = excluded.sum',
  );
  const drop = db.prepare('DELETE FROM rows WHERE key = ?');
  const write = atomically(db, (changes: Parameters<PaperAccountFile['write']>[0]) => {
    for (const { key, text } of changes) {
      if (text === null) drop.run(key);
      else put.run(key, text, sumOf(key, text));
    }
  });
  let isSynced: boolean | null = null;
  return {
    read: () => rowsIn(db),
    write: (changes, isDurable) => {
      if (isSynced !== isDurable) db.pragma(`synchronous = ${isDurable ? 'FULL' : 'NORMAL'}`);
      isSynced = isDurable;
      write(changes);
    },
    close: () => {
      try {
        // In WAL mode, SQLite releases an exclusive lock only when the mode ends.
        db.pragma('journal_mode = DELETE');
        db.pragma('locking_mode = NORMAL');
        db.prepare('SELECT count(*) FROM rows').get();
      } catch {
        // On a disk that accepts no writes, stored rows stay intact, and the lock ends with the process.
      } finally {
        db.close();
      }
    },
  };
}

function rowsIn(db: Database.Database): readonly PaperRow[] {
  return db.prepare('SELECT key, text FROM rows ORDER BY key').all() as PaperRow[];
}

/** Checks structure and content. SQLite detects damage to the structure, checksums detect damage to rows. */
function verify(db: Database.Database): void {
  const check = db.pragma('integrity_check(1)') as { integrity_check: string }[];
  if (check[0]?.integrity_check !== 'ok') throw new Error(`damaged: ${check[0]?.integrity_check}`);
  const [{ user_version: version }] = db.pragma('user_version') as [{ user_version: number }];
  if (version > VERSION) throw new Error(`version ${version} of the file is newer than this Puntas`);
  if (version === 0) return;
  for (const row of db.prepare('SELECT key, text, sum FROM rows').iterate() as Iterable<PaperRow & { sum: number }>) {
    if (sumOf(row.key, row.text) !== row.sum) throw new Error(`damaged: row ${row.key} does not match its checksum`);
  }
}
