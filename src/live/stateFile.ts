/** The state file: opened for one process alone, checked row by row before anything in it is believed, and brought to this version. */
import Database from 'libsql';
import { CAUSES } from '../core/index.ts';
import { writeEntries } from './entries.ts';
import { markOf } from './ledgerText.ts';
import { sumOf } from './sums.ts';

/** Its name in a state directory. */
export const STATE_FILE = 'puntas.db';

/** Opens or makes the state file, locked for this process, and checks all of it. Throws `DamagedState` when it is there and cannot be trusted. */
export function openDatabase(file: string): Database.Database {
  let db: Database.Database | null = null;
  try {
    db = new Database(file, { timeout: 0 });
    // The lock is the kernel's: it goes with the process, however that ends.
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma(`journal_size_limit = ${LOG_MAX_BYTES}`);
    verify(db);
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
      throw new Error(
        `the state directory is in use by another process (${file}): stop it, or give this one its own state.dir`,
      );
    }
    if (/unable to open/i.test(message)) {
      throw new Error(`the state file ${file} cannot be written (${message}): check state.dir and its owner`);
    }
    throw unusable(file, error);
  }
}

/** The write-ahead log is cut back to this; what rows free in the file itself is used again. */
const LOG_MAX_BYTES = 8 * 1024 * 1024;

export const unusable = (file: string, error: unknown): DamagedState =>
  new DamagedState(`the state file ${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`);

/** SQLite finds what breaks its own structure; rows carry sums because it does not look at what they say. */
function verify(db: Database.Database): void {
  const check = db.pragma('integrity_check(1)') as { integrity_check: string }[];
  if (check[0]?.integrity_check !== 'ok') throw new Error(`damaged: ${check[0]?.integrity_check}`);
  const version = versionOf(db);
  const schema = schemaOf(db);
  if (schema === '[]' && version === 0) return;
  if (version !== VERSION && version !== BEFORE_ENTRIES)
    throw new Error(`it is of version ${version}, this Puntas reads versions ${BEFORE_ENTRIES} and ${VERSION}`);
  const right = new Database(':memory:');
  right.exec(version === VERSION ? SCHEMA : TABLES);
  if (schema !== schemaOf(right)) throw new Error('damaged: its tables are not as they were made');
  for (const { table, texts, numbers } of SUMMED) {
    if (table === 'entries' && version !== VERSION) continue;
    const columns = [...texts.map(text), ...numbers.map(number)].join(', ');
    for (const row of db.prepare(`SELECT ${columns}, ${number('sum')} FROM ${table}`).iterate() as Iterable<Row>) {
      const fields = [...texts.map(name => decoded(row[name])), ...numbers.map(name => row[name])];
      if (sumOf(...fields) !== row['sum']) throw new Error(`damaged: a row of ${table} is not what was written`);
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

/** The state file cannot be trusted, or not be written: nothing may be placed; what lives can still be canceled by its prefix. */
export class DamagedState extends Error {}

/** Of the tables below: another version cannot be read. */
const VERSION = 3;
/** Had the balances alone: its ledger goes on from them. */
const BEFORE_ENTRIES = 2;

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

const SCHEMA = `${TABLES}
  PRAGMA user_version = ${VERSION};
  CREATE TABLE IF NOT EXISTS entries (
    account TEXT NOT NULL, n INTEGER NOT NULL, source TEXT NOT NULL, at INTEGER NOT NULL, entry TEXT NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY (account, n), UNIQUE (account, source)
  ) WITHOUT ROWID;
`;

const versionOf = (db: Database.Database): number => {
  const [{ user_version: version }] = db.pragma('user_version') as [{ user_version: number }];
  return version;
};

/** What the version before had in its ledger is what this one's begins with. */
function openEntries(db: Database.Database): void {
  const { at } = db.prepare('SELECT coalesce(max(started_at), 0) AS at FROM runs').get() as { at: number };
  const marks = db.prepare('SELECT account, mark FROM marks').all() as { account: string; mark: string }[];
  for (const { account, mark } of marks) {
    const changes = [...markOf(mark).ledger.causes].flatMap(([currency, row]) =>
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
] as const;

type Row = Readonly<Record<string, unknown>>;

// The driver ends the whole process on text that is not UTF-8, and a damaged column may be of any type.
const text = (name: string): string => `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) END AS ${name}`;
const number = (name: string): string => `CASE WHEN typeof(${name}) IN ('integer', 'real') THEN ${name} END AS ${name}`;
const decoded = (bytes: unknown): string | null =>
  bytes instanceof ArrayBuffer ? Buffer.from(bytes).toString('utf8') : null;
