/**
 * State file: opened exclusively by one process, checked row by row before use, and migrated to the current version.
 */
import { dirname } from 'node:path';
import Database from 'libsql';
import { CAUSES, textOfError } from '../../core/index.ts';
import { diskAdvice, diskTroubleOf, tryDisk } from '../files/diskTrouble.ts';
import { writeEntries } from './ledgerEntries.ts';
import { checkpointOf } from '../recording/ledgerText.ts';
import { numberColumn, sumOf, textColumn, textOfColumn } from './rowChecksums.ts';

/** File name in a state directory. */
export const STATE_FILE = 'puntas.db';

/** Numbers of the last commit and the last run, as read from a state file before its migration. */
export type StateFileHead = {
  /** Number of the last commit; `null` for a version that did not count commits. */
  readonly commits: number | null;
  /** Number of the last run; `null` if there was none. */
  readonly lastRun: number | null;
};

/**
 * Opens or creates the state file, locks it for this process, and checks all rows. `flawOf` returns a further reason to
 * reject the file, or `null`.
 * @throws DamagedState if the file exists and cannot be trusted, or if the disk accepts no writes.
 */
export function openDatabase(
  file: string,
  flawOf: (found: StateFileHead) => string | null = () => null,
): Database.Database {
  let db: Database.Database | null = null;
  try {
    db = new Database(file, { timeout: 0 });
    // The kernel keeps the lock, so that the lock always ends with the process.
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma(`journal_size_limit = ${LOG_MAX_BYTES}`);
    verify(db);
    const flaw = flawOf(foundIn(db));
    if (flaw !== null) throw new Error(flaw);
    const made = db;
    atomically(made, () => {
      const version = versionOf(made);
      const isBefore = version === BEFORE_ENTRIES;
      if (version < VERSION) made.exec(schemaIn(VERSION));
      if (isBefore) openEntries(made);
    })();
    return made;
  } catch (error) {
    db?.close();
    const message = textOfError(error);
    if (/locked|busy/i.test(message)) {
      throw new StateInUse(
        `the state directory is in use by another process (${file}); stop that process, or give this bot its own state.dir`,
      );
    }
    const trouble = diskTroubleWith(file, error);
    if (trouble === null && /unable to open/i.test(message)) {
      throw new Error(`cannot write the state file ${file} (${message}); check state.dir and its owner`);
    }
    throw trouble ?? unusable(file, error);
  }
}

/**
 * Size to which the write-ahead log is cut, in bytes. The state file is not cut, because it reuses the space of deleted
 * rows.
 */
const LOG_MAX_BYTES = 8 * 1024 * 1024;

/** Returns the error for the operator. The error names the disk if the disk is the cause, otherwise the state file. */
export const unusable = (file: string, error: unknown): DamagedState =>
  error instanceof DamagedState
    ? error
    : (diskTroubleWith(file, error) ??
      new DamagedState(`the state file ${file} cannot be used: ${textOfError(error)}`, ADVICE(dirname(file))));

const ADVICE = (dir: string): string =>
  `check the orders and balances of the account, move ${dir} away without deleting it, then start again; the new ledger opens with the balances at that time`;

/** Returns the error for the operator if the disk is the cause; otherwise `null`. */
export function diskTroubleWith(file: string, error: unknown): DamagedState | null {
  if (file === ':memory:') return null;
  const dir = dirname(file);
  const isVague = /SQLITE_(IOERR|CANTOPEN)|disk I\/O|unable to open/i.test(
    `${(error as NodeJS.ErrnoException).code ?? ''} ${textOfError(error)}`,
  );
  const trouble = diskTroubleOf(error) ?? (isVague ? tryDisk(dir) : null);
  return trouble === null
    ? null
    : new DamagedState(
        `the state directory ${dir} cannot be written: ${trouble === 'no room' ? 'its disk is full' : 'it is read-only'} (${textOfError(error)})`,
        diskAdvice(trouble, dir),
      );
}

/** Checks structure and content. SQLite detects damage to the structure, checksums detect damage to rows. */
function verify(db: Database.Database): void {
  const check = db.pragma('integrity_check(1)') as { integrity_check: string }[];
  if (check[0]?.integrity_check !== 'ok') throw new Error(`damaged: ${check[0]?.integrity_check}`);
  const version = versionOf(db);
  const schema = schemaOf(db);
  if (schema === '[]' && version === 0) return;
  if (!READ.includes(version))
    throw new Error(
      `the file has version ${version}, but this version of Puntas reads versions ${BEFORE_ENTRIES} to ${WITH_BOOKS}`,
    );
  const right = new Database(':memory:');
  right.exec(tablesOf(version));
  if (schema !== schemaOf(right)) throw new Error('damaged: the tables do not have the expected columns');
  for (const { table, texts, numbers } of SUMMED) {
    if (version < (SINCE[table] ?? 0)) continue;
    const columns = [...texts.map(textColumn), ...numbers.map(numberColumn)].join(', ');
    for (const row of db
      .prepare(`SELECT ${columns}, ${numberColumn('sum')} FROM ${table}`)
      .iterate() as Iterable<Row>) {
      const fields = [...texts.map(name => textOfColumn(row[name])), ...numbers.map(name => row[name])];
      if (sumOf(...fields) !== row['sum']) throw new Error(`damaged: a row of ${table} does not match its checksum`);
    }
  }
}

/** Returns the tables and indexes of a file, as JSON; `[]` if it has none. */
export function schemaOf(db: Database.Database): string {
  const columns = ['type', 'name', 'tbl_name', 'sql'];
  const rows = db.prepare(`SELECT ${columns.map(textColumn).join(', ')} FROM sqlite_master ORDER BY rowid`).iterate();
  return JSON.stringify([...(rows as Iterable<Row>)].map(row => columns.map(name => textOfColumn(row[name]))));
}

/**
 * Returns a function that runs `work` in one atomic transaction. The driver's own wrapper would hide the reason if a
 * full disk ends the transaction.
 */
export function atomically<A extends readonly unknown[]>(
  db: Database.Database,
  work: (...args: A) => void,
): (...args: A) => void {
  return (...args) => {
    db.exec('BEGIN IMMEDIATE');
    try {
      work(...args);
      db.exec('COMMIT');
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };
}

/**
 * Closes the database and releases the lock immediately. Otherwise a driver with open statements would keep the lock
 * until they are garbage-collected.
 */
export function closeDatabase(db: Database.Database): void {
  try {
    // In WAL mode, SQLite releases an exclusive lock only when the mode ends.
    db.pragma('journal_mode = DELETE');
    db.pragma('locking_mode = NORMAL');
    db.prepare('SELECT count(*) FROM runs').get();
  } catch {
    // The error is ignored: on a disk that accepts no writes, durable data stays intact, and the lock ends with the
    // process.
  } finally {
    db.close();
  }
}

/** Error if another process, which manages the live orders, has the state file open. */
export class StateInUse extends Error {}

/**
 * Error for a state file that cannot be trusted or written. No order may be placed; live orders can still be canceled
 * by their prefix.
 */
export class DamagedState extends Error {
  /** Remedy, in one clause. */
  readonly advice: string;
  constructor(message: string, advice: string) {
    super(message);
    this.name = 'DamagedState';
    this.advice = advice;
  }
}

/**
 * Version of a state file with the orders of several books, or with the state of a book that this bot does not quote.
 */
const WITH_BOOKS = 6;
/** Version of the tables of one book. */
const VERSION = 5;
/** Last version of the tables without the profit of each hour. */
const BEFORE_HOURS = 4;
/** Last version of the tables without a commit count. */
const BEFORE_COMMITS = 3;
/** Last version of the tables with balances only. A migrated ledger starts from these balances. */
const BEFORE_ENTRIES = 2;
const READ = [BEFORE_ENTRIES, BEFORE_COMMITS, BEFORE_HOURS, VERSION, WITH_BOOKS];

const TABLES = `
  CREATE TABLE IF NOT EXISTS runs (
    run INTEGER PRIMARY KEY, account TEXT NOT NULL, started_at INTEGER NOT NULL, sum INTEGER NOT NULL
  );
  CREATE TABLE IF NOT EXISTS owner (one INTEGER PRIMARY KEY CHECK (one = 1), owner TEXT NOT NULL, sum INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS intents (
    id TEXT NOT NULL, account TEXT NOT NULL, side TEXT NOT NULL, price INTEGER NOT NULL, amount INTEGER NOT NULL, at INTEGER NOT NULL,
    ending TEXT, sum INTEGER NOT NULL, PRIMARY KEY (account, id)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS marks (account TEXT PRIMARY KEY, mark TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS nonces (account TEXT PRIMARY KEY, mark TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
`;

/** First word of the account name in the table of nonces if the account is on the other exchange. */
export const NONCES_ELSEWHERE = 'elsewhere';

const ENTRIES = `
  CREATE TABLE IF NOT EXISTS entries (
    account TEXT NOT NULL, n INTEGER NOT NULL, source TEXT NOT NULL, at INTEGER NOT NULL, entry TEXT NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY (account, n), UNIQUE (account, source)
  ) WITHOUT ROWID;
`;

/**
 * Table with the number of committed transactions. In a file that lost transactions, the number is lower than the
 * number in the separate file of `knownCommits.ts`.
 */
const COMMITS = `
  CREATE TABLE IF NOT EXISTS commits (one INTEGER PRIMARY KEY CHECK (one = 1), n INTEGER NOT NULL, sum INTEGER NOT NULL);
`;

/** Table of the profit at the end of each UTC hour, counted from the opening of the ledger. */
const HOURS = `
  CREATE TABLE IF NOT EXISTS hours (
    account TEXT NOT NULL, hour INTEGER NOT NULL, profit TEXT NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (account, hour)
  ) WITHOUT ROWID;
`;

/**
 * Table with the book of each order, for runs with several books. An order that is not in the table is in the first
 * book.
 */
const ORDER_BOOKS = `
  CREATE TABLE IF NOT EXISTS order_books (
    account TEXT NOT NULL, id TEXT NOT NULL, book TEXT NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (account, id)
  ) WITHOUT ROWID;
`;

/** Tables that were added later, each with the last version without it. */
const ADDED = [
  [BEFORE_ENTRIES, ENTRIES],
  [BEFORE_COMMITS, COMMITS],
  [BEFORE_HOURS, HOURS],
  [VERSION, ORDER_BOOKS],
] as const;

const tablesOf = (version: number): string =>
  [TABLES, ...ADDED.filter(([before]) => version > before).map(([, tables]) => tables)].join('');

const schemaIn = (version: number): string => `${tablesOf(version)} PRAGMA user_version = ${version};`;

/** Whether the state file has the table `order_books`. */
export const hasOrderBooks = (db: Database.Database): boolean => versionOf(db) === WITH_BOOKS;

/**
 * Adds the table `order_books` if it is absent. An older Puntas then rejects the file, because it would lose the books
 * of orders. Must be called inside the transaction that writes the first order or state of another book.
 */
export function addOrderBooks(db: Database.Database): void {
  if (!hasOrderBooks(db)) db.exec(schemaIn(WITH_BOOKS));
}

/** Returns the commit count of a file that has the table `commits`. */
export const commitsIn = (db: Database.Database): number =>
  (db.prepare('SELECT n FROM commits').get() as { n: number } | undefined)?.n ?? 0;

function foundIn(db: Database.Database): StateFileHead {
  const version = versionOf(db);
  if (version === 0) return { commits: 0, lastRun: null };
  const { last } = db.prepare('SELECT max(run) AS last FROM runs').get() as { last: number | null };
  return { commits: version > BEFORE_COMMITS ? commitsIn(db) : null, lastRun: last };
}

const versionOf = (db: Database.Database): number => {
  const [{ user_version: version }] = db.pragma('user_version') as [{ user_version: number }];
  return version;
};

/** Writes the balances of the older version as opening entries. */
function openEntries(db: Database.Database): void {
  const { at } = db.prepare('SELECT coalesce(max(started_at), 0) AS at FROM runs').get() as { at: number };
  const marks = db.prepare('SELECT account, mark FROM marks').all() as { account: string; mark: string }[];
  for (const { account, mark } of marks) {
    const changes = [...checkpointOf(mark).ledger.causes].flatMap(([currency, row]) =>
      CAUSES.map(cause => ({ cause, currency, amount: row[cause] })),
    );
    writeEntries(db, account, [{ source: 'opening', at, why: 'migrated from an older state file', changes }]);
  }
}

/** Tables and columns that the checksums cover, in this order. */
const SUMMED = [
  { table: 'runs', texts: ['account'], numbers: ['run', 'started_at'] },
  { table: 'owner', texts: ['owner'], numbers: [] },
  { table: 'intents', texts: ['id', 'account', 'side', 'ending'], numbers: ['price', 'amount', 'at'] },
  { table: 'marks', texts: ['account', 'mark'], numbers: [] },
  { table: 'nonces', texts: ['account', 'mark'], numbers: [] },
  { table: 'entries', texts: ['account', 'source', 'entry'], numbers: ['n', 'at'] },
  { table: 'commits', texts: [], numbers: ['n'] },
  { table: 'hours', texts: ['account', 'profit'], numbers: ['hour'] },
  { table: 'order_books', texts: ['account', 'id', 'book'], numbers: [] },
] as const;
/**
 * For each table that some versions lack: first version of the state file with this table. Every version has all other
 * tables.
 */
const SINCE: Readonly<Record<string, number>> = {
  entries: BEFORE_COMMITS,
  commits: BEFORE_HOURS,
  hours: VERSION,
  order_books: WITH_BOOKS,
};

type Row = Readonly<Record<string, unknown>>;
