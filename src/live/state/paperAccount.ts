/**
 * File of the paper account: rows of the embedded exchange behind paper trading. Each write is one transaction. Only
 * one process can open the file at a time. A second small file has the number of its last durable commit, so that a
 * lost or older file is never taken for a new account.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { textOfError, type Clock } from '../../core/index.ts';
import { commitMarkIn, lossOf, missingCommits, type CommitMark, type CountedFile } from './knownCommits.ts';
import { numberColumn, sumOf, textColumn, textOfColumn } from './rowChecksums.ts';
import { fromCopyOf } from './stateCopy.ts';
import { atomically, diskTroubleWith, schemaOf, StateInUse } from './stateFile.ts';

/** File name in a state directory. */
export const PAPER_ACCOUNT_FILE = 'paper-account.db';

const FILES: CountedFile = { db: PAPER_ACCOUNT_FILE, mark: 'paper-account.commits' };

export type PaperRow = { readonly key: string; readonly text: string };
export type PaperAccountFile = {
  read(): readonly PaperRow[];
  write(changes: readonly { readonly key: string; readonly text: string | null }[], isDurable: boolean): void;
  close(): void;
};

/** Error for an account file that is proven to be damaged, lost or older than its last commit. */
export class DamagedAccount extends Error {}

const VERSION = 1;
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, text TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS commits (one INTEGER PRIMARY KEY CHECK (one = 1), n INTEGER NOT NULL, sum INTEGER NOT NULL);
  PRAGMA user_version = ${VERSION};
`;
/** Size to which the write-ahead log is truncated, in bytes. */
const LOG_MAX_BYTES = 8 * 1024 * 1024;

/**
 * Opens or creates the file in an existing state directory, and locks the file for this process.
 * @throws StateInUse if another process has the file open.
 * @throws DamagedAccount if the file is damaged, lost or older than its last commit; nothing is changed then.
 * @throws Error with one line and the remedy if the disk or a permission is the cause, or a newer version wrote the
 * file.
 */
export function openPaperAccount(dir: string): PaperAccountFile {
  const file = join(dir, PAPER_ACCOUNT_FILE);
  let db: Database.Database | null = null;
  try {
    const loss = lossOf(dir, FILES);
    if (loss !== null) throw new DamagedAccount(loss);
    db = new Database(file, { timeout: 0 });
    // The kernel keeps the lock, so that the lock always ends with the process.
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma(`journal_size_limit = ${LOG_MAX_BYTES}`);
    verify(db);
    const commits = commitsOf(db);
    const missing = missingCommits(dir, commits, FILES);
    if (missing !== null) throw new DamagedAccount(missing);
    db.exec(SCHEMA);
    return fileIn(db, commits, commitMarkIn(dir, commits, FILES));
  } catch (error) {
    db?.close();
    throw paperAccountProblem(dir, error);
  }
}

/**
 * Locks the file against every other process until `release`, which leaves no file of SQLite open, so that the
 * directory can be moved before. Returns `null` if there is no file, or if the file is damaged: no process can use it.
 * @throws StateInUse if another process has the file open.
 * @throws Error with the reason and the remedy in one line if the disk or a permission prevents the lock.
 */
export function lockPaperAccount(dir: string): { release(): void } | null {
  const file = join(dir, PAPER_ACCOUNT_FILE);
  // SQLite would delete the log of an empty file.
  if (!existsSync(file) || statSync(file).size === 0) return null;
  let db: Database.Database | null = null;
  try {
    db = new Database(file, { timeout: 0 });
    // Without a log, the connection never uses the path of the file again, at which a new account may be by then.
    // `exec`
    // leaves no statement open, so that `close` releases the lock.
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT; PRAGMA journal_mode = DELETE');
    const locked = db;
    return { release: () => locked.close() };
  } catch (error) {
    db?.close();
    const problem = paperAccountProblem(dir, error);
    if (problem instanceof DamagedAccount) return null;
    throw problem;
  }
}

/** Returns the rows from a copy of the file, for commands that only read; empty without a file. */
export async function readPaperAccount(dir: string, clock: Clock): Promise<readonly PaperRow[]> {
  try {
    const loss = lossOf(dir, FILES);
    if (loss !== null) throw new DamagedAccount(loss);
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
  } catch (error) {
    throw paperAccountProblem(dir, error);
  }
}

const isLock = (error: unknown): boolean =>
  /SQLITE_(?:BUSY|LOCKED)|database (?:table )?is locked/i.test(codeAndText(error));

const inUse = (file: string): StateInUse =>
  new StateInUse(
    `the state directory is in use by another process (${file}); stop that process, or give this bot its own paper.stateDir`,
  );

/**
 * Returns an error of a read or write as an error with one line for the operator, and its remedy. Only proven damage
 * has a new account as its remedy.
 */
export function paperAccountProblem(dir: string, error: unknown): Error {
  const file = join(dir, PAPER_ACCOUNT_FILE);
  const message = textOfError(error);
  const because = (text: string) => new Error(`the paper account ${file} cannot be used (${message}); ${text}`);
  if (isLock(error)) return inUse(file);
  if (error instanceof NewerFile) return because('update Puntas');
  const trouble = diskTroubleWith(file, error);
  if (trouble !== null) return new Error(`${trouble.message}; ${trouble.advice}`);
  const isDamaged =
    error instanceof DamagedAccount ||
    /SQLITE_(?:CORRUPT|NOTADB)|malformed|not a database|no such (?:column|table)/i.test(codeAndText(error));
  if (isDamaged)
    return new DamagedAccount(
      `the paper account ${file} cannot be used (${message}); restore ${dir} from a copy, or start a new account with puntas run --paper --fresh`,
      { cause: error },
    );
  if (/SQLITE_IOERR|EIO/.test(codeAndText(error)))
    return because(`the disk reports read errors; check the disk, then restore ${dir} from a copy if it is damaged`);
  return because(`check the owner and the permissions of ${dir} (ls -la ${dir}), then start again`);
}

const codeAndText = (error: unknown): string => `${(error as NodeJS.ErrnoException).code ?? ''} ${textOfError(error)}`;

function fileIn(db: Database.Database, commitsBefore: number, mark: CommitMark): PaperAccountFile {
  const put = db.prepare(
    'INSERT INTO rows (key, text, sum) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET text = excluded.text, sum = excluded.sum',
  );
  const drop = db.prepare('DELETE FROM rows WHERE key = ?');
  const count = db.prepare(
    'INSERT INTO commits (one, n, sum) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET n = excluded.n, sum = excluded.sum',
  );
  let commits = commitsBefore;
  const write = atomically(db, (changes: Parameters<PaperAccountFile['write']>[0], isCounted: boolean) => {
    for (const { key, text } of changes) {
      if (text === null) drop.run(key);
      else put.run(key, text, sumOf(key, text));
    }
    if (isCounted) count.run(commits + 1, sumOf(commits + 1));
  });
  let isSynced: boolean | null = null;
  return {
    read: () => rowsIn(db),
    write: (changes, isDurable) => {
      if (isSynced !== isDurable) db.pragma(`synchronous = ${isDurable ? 'FULL' : 'NORMAL'}`);
      isSynced = isDurable;
      write(changes, isDurable);
      // A power cut may undo other commits, so only durable commits are counted.
      if (isDurable) mark.tell(++commits);
    },
    close: () => {
      mark.close();
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

type StoredRow = { readonly key: unknown; readonly text: unknown; readonly sum: unknown };

function rowsIn(db: Database.Database): readonly PaperRow[] {
  const rows = db.prepare(`SELECT ${textColumn('key')}, ${textColumn('text')} FROM rows ORDER BY rows.key`).iterate();
  return [...(rows as Iterable<StoredRow>)].map(({ key, text }) => ({
    key: textOfColumn(key)!,
    text: textOfColumn(text)!,
  }));
}

/** Error for a file that a newer version of Puntas wrote. */
class NewerFile extends Error {}

/** Checks structure and content. SQLite detects damage to the structure, checksums detect damage to rows. */
function verify(db: Database.Database): void {
  const check = db.pragma('integrity_check(1)') as { integrity_check: string }[];
  if (check[0]?.integrity_check !== 'ok') throw new DamagedAccount(`damaged: ${check[0]?.integrity_check}`);
  const [{ user_version: version }] = db.pragma('user_version') as [{ user_version: number }];
  if (version > VERSION)
    throw new NewerFile(`version ${version} of the file is newer than this version of Puntas can read`);
  const schema = schemaOf(db);
  if (schema === '[]' && version === 0) return;
  const right = new Database(':memory:');
  right.exec(SCHEMA);
  if (schema !== schemaOf(right)) throw new DamagedAccount('damaged: the tables do not have the expected columns');
  const rows = db.prepare(`SELECT ${textColumn('key')}, ${textColumn('text')}, ${numberColumn('sum')} FROM rows`);
  for (const row of rows.iterate() as Iterable<StoredRow>) {
    const [key, text] = [textOfColumn(row.key), textOfColumn(row.text)];
    if (key === null || text === null || sumOf(key, text) !== row.sum)
      throw new DamagedAccount(`damaged: row ${shownKey(key)} does not match its checksum`);
  }
}

/** Returns the number of durable commits in a verified file. */
function commitsOf(db: Database.Database): number {
  const { tables } = db.prepare(`SELECT count(*) AS tables FROM sqlite_master WHERE name = 'commits'`).get() as {
    tables: number;
  };
  if (tables === 0) return 0;
  const row = db.prepare(`SELECT ${numberColumn('n')}, ${numberColumn('sum')} FROM commits`).get() as
    { n: unknown; sum: unknown } | undefined;
  if (row === undefined) return 0;
  if (typeof row.n !== 'number' || sumOf(row.n) !== row.sum)
    throw new DamagedAccount('damaged: the commit count does not match its checksum');
  return row.n;
}

const shownKey = (key: string | null): string =>
  key !== null && /^[\w/]{1,40}$/.test(key) ? key : 'with an unreadable key';
