/** The state file: opened for one process alone, checked row by row before anything in it is believed, and brought to this version. */
import { dirname } from 'node:path';
import Database from 'libsql';
import { CAUSES } from '../../core/index.ts';
import { diskAdvice, diskTroubleOf, tryDisk } from '../files/diskTrouble.ts';
import { writeEntries } from './entries.ts';
import { checkpointOf } from '../recording/ledgerText.ts';
import { sumOf } from './sums.ts';

/** Its name in a state directory. */
export const STATE_FILE = 'puntas.db';

/** What a state file says of itself, before it is brought to this version. */
export type StateFileHead = {
  /** Number of its last commit; null when it is of a version that counted none. */
  readonly commits: number | null;
  /** Null when there was none. */
  readonly lastRun: number | null;
};

/**
 * Opens or makes the state file, locked for this process, and checks all of it. `flawOf` says what else speaks against what was found, null
 * when nothing does. Throws `DamagedState` when it is there and cannot be trusted, or when the disk takes nothing.
 */
export function openDatabase(
  file: string,
  flawOf: (found: StateFileHead) => string | null = () => null,
): Database.Database {
  let db: Database.Database | null = null;
  try {
    db = new Database(file, { timeout: 0 });
    // The lock is the kernel's: it goes with the process, however that ends.
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma(`journal_size_limit = ${LOG_MAX_BYTES}`);
    verify(db);
    const flaw = flawOf(foundIn(db));
    if (flaw !== null) throw new Error(flaw);
    const made = db;
    atomically(made, () => {
      const isBefore = versionOf(made) === BEFORE_ENTRIES;
      made.exec(SCHEMA);
      if (isBefore) openEntries(made);
    })();
    return made;
  } catch (error) {
    db?.close();
    const message = error instanceof Error ? error.message : String(error);
    if (/locked|busy/i.test(message)) {
      throw new StateInUse(
        `the state directory is in use by another process (${file}); stop it, or give this bot its own state.dir`,
      );
    }
    const trouble = troubleWith(file, error);
    if (trouble === null && /unable to open/i.test(message)) {
      throw new Error(`cannot write the state file ${file} (${message}); check state.dir and its owner`);
    }
    throw trouble ?? unusable(file, error);
  }
}

/** The write-ahead log is cut back to this; what rows free in the file itself is used again. */
const LOG_MAX_BYTES = 8 * 1024 * 1024;

/** The same error for a person: the disk is what is wrong, or else the file. */
export const unusable = (file: string, error: unknown): DamagedState =>
  error instanceof DamagedState
    ? error
    : (troubleWith(file, error) ??
      new DamagedState(`the state file ${file} cannot be used: ${messageOf(error)}`, ADVICE(dirname(file))));

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const ADVICE = (dir: string): string =>
  `check the account, move ${dir} away and keep it, then start again; the balances at that time become the new ledger`;

/** Null when the disk has nothing to do with it. */
function troubleWith(file: string, error: unknown): DamagedState | null {
  if (file === ':memory:') return null;
  const dir = dirname(file);
  const isVague = /SQLITE_(IOERR|CANTOPEN)|disk I\/O|unable to open/i.test(
    `${(error as NodeJS.ErrnoException).code ?? ''} ${messageOf(error)}`,
  );
  const trouble = diskTroubleOf(error) ?? (isVague ? tryDisk(dir) : null);
  return trouble === null
    ? null
    : new DamagedState(
        `the state directory ${dir} cannot be written: ${trouble === 'no room' ? 'its disk is full' : 'it is read-only'} (${messageOf(error)})`,
        diskAdvice(trouble, dir),
      );
}

/** SQLite finds what breaks its own structure; rows carry sums because it does not look at what they say. */
function verify(db: Database.Database): void {
  const check = db.pragma('integrity_check(1)') as { integrity_check: string }[];
  if (check[0]?.integrity_check !== 'ok') throw new Error(`damaged: ${check[0]?.integrity_check}`);
  const version = versionOf(db);
  const schema = schemaOf(db);
  if (schema === '[]' && version === 0) return;
  if (!READ.includes(version))
    throw new Error(`it has version ${version}, but this Puntas reads versions ${BEFORE_ENTRIES} to ${VERSION}`);
  const right = new Database(':memory:');
  right.exec(tablesOf(version));
  if (schema !== schemaOf(right)) throw new Error('damaged: its tables do not have the expected columns');
  for (const { table, texts, numbers } of SUMMED) {
    if (version < (SINCE[table] ?? 0)) continue;
    const columns = [...texts.map(text), ...numbers.map(number)].join(', ');
    for (const row of db.prepare(`SELECT ${columns}, ${number('sum')} FROM ${table}`).iterate() as Iterable<Row>) {
      const fields = [...texts.map(name => decoded(row[name])), ...numbers.map(name => row[name])];
      if (sumOf(...fields) !== row['sum']) throw new Error(`damaged: a row of ${table} does not match its checksum`);
    }
  }
}

function schemaOf(db: Database.Database): string {
  const columns = ['type', 'name', 'tbl_name', 'sql'];
  const rows = db.prepare(`SELECT ${columns.map(text).join(', ')} FROM sqlite_master ORDER BY rowid`).iterate();
  return JSON.stringify([...(rows as Iterable<Row>)].map(row => columns.map(name => decoded(row[name]))));
}

/** All of it or nothing. A full disk ends the transaction by itself, and the driver's own wrapper would then hide why. */
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

/** Closes and gives up the lock now: a driver that still holds statements would keep it until they are collected. */
export function closeDatabase(db: Database.Database): void {
  try {
    // An exclusive lock that was taken in WAL mode goes only with that mode.
    db.pragma('journal_mode = DELETE');
    db.pragma('locking_mode = NORMAL');
    db.prepare('SELECT count(*) FROM runs').get();
  } catch {
    // A disk that takes nothing more: what was durable stays so, and the lock goes with the process.
  } finally {
    db.close();
  }
}

/** Another process has it open: what lives is that one's, and it looks after it. */
export class StateInUse extends Error {}

/** The state file cannot be trusted, or not be written: nothing may be placed; what lives can still be canceled by its prefix. */
export class DamagedState extends Error {
  /** What to do, in one clause. */
  readonly advice: string;
  constructor(message: string, advice: string) {
    super(message);
    this.name = 'DamagedState';
    this.advice = advice;
  }
}

/** Of the tables below: another version cannot be read. */
const VERSION = 5;
/** Kept no profit by hour. */
const BEFORE_HOURS = 4;
/** Counted no commits. */
const BEFORE_COMMITS = 3;
/** Had the balances alone: its ledger goes on from them. */
const BEFORE_ENTRIES = 2;
const READ = [BEFORE_ENTRIES, BEFORE_COMMITS, BEFORE_HOURS, VERSION];

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

const ENTRIES = `
  CREATE TABLE IF NOT EXISTS entries (
    account TEXT NOT NULL, n INTEGER NOT NULL, source TEXT NOT NULL, at INTEGER NOT NULL, entry TEXT NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY (account, n), UNIQUE (account, source)
  ) WITHOUT ROWID;
`;

/** How many transactions this file has taken: one that lost some of them says fewer than is known. */
const COMMITS = `
  CREATE TABLE IF NOT EXISTS commits (one INTEGER PRIMARY KEY CHECK (one = 1), n INTEGER NOT NULL, sum INTEGER NOT NULL);
`;

/** Profit since the opening at the end of each UTC hour. */
const HOURS = `
  CREATE TABLE IF NOT EXISTS hours (
    account TEXT NOT NULL, hour INTEGER NOT NULL, profit TEXT NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (account, hour)
  ) WITHOUT ROWID;
`;

const tablesOf = (version: number): string =>
  `${TABLES}${version > BEFORE_ENTRIES ? ENTRIES : ''}${version > BEFORE_COMMITS ? COMMITS : ''}${version > BEFORE_HOURS ? HOURS : ''}`;

const SCHEMA = `${tablesOf(VERSION)} PRAGMA user_version = ${VERSION};`;

/** Of a file with the table. */
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

/** What the version before had in its ledger is what this one's begins with. */
function openEntries(db: Database.Database): void {
  const { at } = db.prepare('SELECT coalesce(max(started_at), 0) AS at FROM runs').get() as { at: number };
  const marks = db.prepare('SELECT account, mark FROM marks').all() as { account: string; mark: string }[];
  for (const { account, mark } of marks) {
    const changes = [...checkpointOf(mark).ledger.causes].flatMap(([currency, row]) =>
      CAUSES.map(cause => ({ cause, currency, amount: row[cause] })),
    );
    writeEntries(db, account, [{ source: 'opening', at, why: 'taken over from an older state file', changes }]);
  }
}

/** What the sums are over, in this order. */
const SUMMED = [
  { table: 'runs', texts: ['account'], numbers: ['run', 'started_at'] },
  { table: 'owner', texts: ['owner'], numbers: [] },
  { table: 'intents', texts: ['id', 'account', 'side', 'ending'], numbers: ['price', 'amount', 'at'] },
  { table: 'marks', texts: ['account', 'mark'], numbers: [] },
  { table: 'nonces', texts: ['account', 'mark'], numbers: [] },
  { table: 'entries', texts: ['account', 'source', 'entry'], numbers: ['n', 'at'] },
  { table: 'commits', texts: [], numbers: ['n'] },
  { table: 'hours', texts: ['account', 'profit'], numbers: ['hour'] },
] as const;
/** Versions in which tables came that were not there from the beginning. */
const SINCE: Readonly<Record<string, number>> = { entries: BEFORE_COMMITS, commits: BEFORE_HOURS, hours: VERSION };

type Row = Readonly<Record<string, unknown>>;

// The driver ends the whole process on text that is not UTF-8, and a damaged column may be of any type.
const text = (name: string): string => `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) END AS ${name}`;
const number = (name: string): string => `CASE WHEN typeof(${name}) IN ('integer', 'real') THEN ${name} END AS ${name}`;
const decoded = (bytes: unknown): string | null =>
  bytes instanceof ArrayBuffer ? Buffer.from(bytes).toString('utf8') : null;
