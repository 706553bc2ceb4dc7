/** What must survive the process: intents before they are sent, the ledger, the nonces, and every input of the engine. One folder, one process, one bot. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { Amount, Millis, PlaceCommand, Price, RestoredLedger, RestoredOrder, Side } from '../core/index.ts';
import type { HedgeRow } from '../hedge/index.ts';
import { markOf, textOfMark } from './ledgerText.ts';
import type { Mark } from './ledgerText.ts';
import { NotOurs, takeOwnership } from './owner.ts';
import type { Owner } from './owner.ts';
import { GAP } from './recording.ts';
import { forgetOld, recorderIn, recordingsIn } from './recordings.ts';
import type { Recorder } from './recordings.ts';
import { sumOf } from './sums.ts';

/** What the last run of an account left. */
export type Leftovers = {
  readonly orders: readonly RestoredOrder[];
  readonly ledger: RestoredLedger | null;
  /** Newest own trade that is in the ledger; undefined when there was none. */
  readonly marker: string | undefined;
  /** Conversions that may have been carried out, and the last ones that are over. */
  readonly hedges: readonly HedgeRow[];
};

export type Journal = {
  /** Number of this run: never used before in this state directory, and above those of a state directory that was lost. */
  readonly run: number;
  /** Highest nonce that may have been sent by an earlier run; 0 at the first. */
  readonly nonceMark: bigint;
  readonly leftovers: Leftovers;
  /** Durable when it returns, with everything recorded before: only then may the orders be sent. Throws when the disk does not take it. */
  intend(commands: readonly PlaceCommand[], at: Millis): void;
  /** The order can never live again. Durable with the next flush. */
  ended(id: string, ending: string): void;
  /** One line of the recording: an input of the engine, or the commands that it answered with. Durable with the next flush. */
  record(line: string): void;
  /** The ledger as it stands: durable with whatever is written next, so that no durable ending is of an order whose fills are not. */
  keep(mark: Mark): void;
  /** Makes everything durable, with the ledger when one is given. Throws when the disk does not take it. */
  flush(mark?: Mark): void;
  /** No nonce above `mark` may be sent before this returns. */
  reserveNonces(mark: bigint): void;
  /** Bytes of this run's recording. */
  recordedBytes(): number;
  /** The journal of a next run in the same process, as a restart would find it; this one is not to be used any more, unless it throws. */
  next(at: Millis): Journal;
  close(): void;
};

export type JournalOptions = {
  /** Names the account at its venue: only what the same account left is taken up again. */
  readonly account: string;
  readonly at: Millis;
  /** Everything that the engine was made of, as text: a replay needs it. */
  readonly setup: string;
  /** Where runs are recorded, and what the recordings of earlier runs may take; absent: nowhere. */
  readonly recordings?: { readonly dir: string; readonly earlierBytesMax: number };
};

/** Opens the state directory for this process alone. Throws one clear line when another process has it, when it is another bot's, or when it cannot be written. */
export function openJournal(
  dir: string,
  {
    owner,
    earlierBytesMax,
    ...options
  }: Omit<JournalOptions, 'recordings'> & { readonly owner: Owner; readonly earlierBytesMax: number },
): Journal {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, STATE_FILE);
  const db = openDatabase(file);
  try {
    atomically(db, () => takeOwnership(db, dir, owner, options.account))();
    return journalIn(db, { ...options, recordings: { dir, earlierBytesMax } });
  } catch (error) {
    if (error instanceof NotOurs) {
      closeDatabase(db);
      throw error;
    }
    db.close();
    throw unusable(file, error);
  }
}

export const STATE_FILE = 'puntas.db';

/** Orders that ended are kept up to this many, for those who look for one; each costs a start 9 us. What may live and the ledger are kept for ever. */
const ENDED_MAX = 100_000;
const RUNS_MAX = 500;
/** Lines that wait for a disk that takes nothing; beyond, the recording has a gap. */
const LINES_MAX = 10_000;

/** The journal in an open database. */
export function journalIn(db: Database.Database, options: JournalOptions): Journal {
  const { account, at, setup, recordings } = options;
  const leftovers = leftoversIn(db, account);
  const nonceMark = nonceMarkIn(db, account);
  const run = nextRun(db, at, recordings?.dir);
  atomically(db, () => {
    const insert = db.prepare('INSERT INTO runs (run, account, started_at, sum) VALUES (?, ?, ?, ?)');
    insert.run(run, account, at, sumOf(account, run, at));
    db.prepare(OLD_RUNS).run(RUNS_MAX);
    db.prepare(OLD_INTENTS).run(ENDED_MAX);
  })();
  let recorder: Recorder | null = null;
  if (recordings) {
    forgetOld(recordings.dir, run, recordings.earlierBytesMax, RUNS_MAX);
    recorder = recorderIn(recordings.dir, { run, startedAt: at, setup });
  }
  const statements = {
    intent: db.prepare('INSERT INTO intents (id, account, side, price, amount, at, sum) VALUES (?, ?, ?, ?, ?, ?, ?)'),
    read: db.prepare('SELECT id, account, side, price, amount, at, ending FROM intents WHERE id = ? AND account = ?'),
    end: db.prepare('UPDATE intents SET ending = ?, sum = ? WHERE id = ? AND account = ?'),
    mark: db.prepare(
      'INSERT INTO marks (account, mark, sum) VALUES (?, ?, ?) ON CONFLICT (account) DO UPDATE SET mark = excluded.mark, sum = excluded.sum',
    ),
    nonce: db.prepare(
      'INSERT INTO nonces (account, mark, sum) VALUES (?, ?, ?) ON CONFLICT (account) DO UPDATE SET mark = excluded.mark, sum = excluded.sum',
    ),
  };
  let lines: string[] = [];
  let endings: [ending: string, id: string][] = [];
  /** As it was when it was told: what it is made of goes on changing while a full disk keeps it waiting. */
  let standing: string | undefined;

  // The recording is never behind the intents that it explains.
  const record = () => {
    if (lines.length > 0) recorder?.write(lines);
    lines = [];
  };
  const write = atomically(db, (commands: readonly PlaceCommand[], now: Millis) => {
    for (const [ending, id] of endings) {
      const row = statements.read.get(id, account) as IntentRow | undefined;
      if (row) statements.end.run(ending, sumOfIntent({ ...row, ending }), id, account);
    }
    for (const { id, side, price, amount } of commands) {
      const sum = sumOfIntent({ id, account, side, price, amount, at: now, ending: null });
      statements.intent.run(id, account, side, price, amount, now, sum);
    }
    if (standing) statements.mark.run(account, standing, sumOf(account, standing));
  });
  const commit = (commands: readonly PlaceCommand[], now: Millis) => {
    record();
    if (commands.length === 0 && endings.length === 0 && !standing) return;
    write(commands, now);
    endings = [];
    standing = undefined;
  };
  return {
    run,
    nonceMark,
    leftovers,
    intend: commit,
    ended: (id, ending) => void endings.push([ending, id]),
    record: line => {
      if (lines.length >= LINES_MAX) lines = [GAP];
      lines.push(line);
    },
    keep: mark => void (standing = textOfMark(mark)),
    flush: mark => {
      if (mark) standing = textOfMark(mark);
      commit([], at);
    },
    reserveNonces: upTo => {
      const mark = upTo.toString();
      statements.nonce.run(account, mark, sumOf(account, mark));
    },
    recordedBytes: () => recorder?.bytes ?? 0,
    next: nextAt => {
      recorder?.close();
      return journalIn(db, { ...options, at: nextAt });
    },
    close: () => {
      recorder?.close();
      closeDatabase(db);
    },
  };
}

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
    atomically(made, () => void made.exec(SCHEMA))();
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

const unusable = (file: string, error: unknown): DamagedState =>
  new DamagedState(`the state file ${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`);

/** SQLite finds what breaks its own structure; rows carry sums because it does not look at what they say. */
function verify(db: Database.Database): void {
  const check = db.pragma('integrity_check(1)') as { integrity_check: string }[];
  if (check[0]?.integrity_check !== 'ok') throw new Error(`damaged: ${check[0]?.integrity_check}`);
  const [{ user_version: version }] = db.pragma('user_version') as [{ user_version: number }];
  const schema = schemaOf(db);
  if (schema === '[]' && version === 0) return;
  if (version !== VERSION) throw new Error(`it is of version ${version}, this Puntas reads version ${VERSION}`);
  const right = new Database(':memory:');
  right.exec(SCHEMA);
  if (schema !== schemaOf(right)) throw new Error('damaged: its tables are not as they were made');
  for (const { table, texts, numbers } of SUMMED) {
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
function atomically<A extends readonly unknown[]>(
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
const VERSION = 2;

const SCHEMA = `
  PRAGMA user_version = ${VERSION};
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

type IntentRow = {
  readonly id: string;
  readonly account: string;
  readonly side: Side;
  readonly price: number;
  readonly amount: number;
  readonly at: number;
  readonly ending: string | null;
};

const sumOfIntent = ({ id, account, side, price, amount, at, ending }: IntentRow): number =>
  sumOf(id, account, side, ending, price, amount, at);

/** What the sums are over, in this order. */
const SUMMED = [
  { table: 'runs', texts: ['account'], numbers: ['run', 'started_at'] },
  { table: 'owner', texts: ['owner'], numbers: [] },
  { table: 'intents', texts: ['id', 'account', 'side', 'ending'], numbers: ['price', 'amount', 'at'] },
  { table: 'marks', texts: ['account', 'mark'], numbers: [] },
  { table: 'nonces', texts: ['account', 'mark'], numbers: [] },
] as const;

type Row = Readonly<Record<string, unknown>>;

// The driver ends the whole process on text that is not UTF-8, and a damaged column may be of any type.
const text = (name: string): string => `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) END AS ${name}`;
const number = (name: string): string => `CASE WHEN typeof(${name}) IN ('integer', 'real') THEN ${name} END AS ${name}`;
const decoded = (bytes: unknown): string | null =>
  bytes instanceof ArrayBuffer ? Buffer.from(bytes).toString('utf8') : null;

/**
 * Seconds since the start of 2020, or one above the last run: origin ids begin with it, and must never come again, even when the state
 * directory was lost and nothing remembers them.
 */
function nextRun(db: Database.Database, at: Millis, dir: string | undefined): number {
  const { last } = db.prepare('SELECT max(run) AS last FROM runs').get() as { last: number | null };
  const recorded = dir === undefined ? undefined : recordingsIn(dir).at(-1)?.run;
  return Math.max((last ?? 0) + 1, (recorded ?? 0) + 1, Math.floor((at - START_OF_2020) / 1000));
}

const START_OF_2020 = 1_577_836_800_000;

const OLD_RUNS = 'DELETE FROM runs WHERE run <= (SELECT run FROM runs ORDER BY run DESC LIMIT 1 OFFSET ?)';
const OLD_INTENTS = `DELETE FROM intents WHERE ending IS NOT NULL
  AND at <= (SELECT at FROM intents WHERE ending IS NOT NULL ORDER BY at DESC LIMIT 1 OFFSET ?)`;

function nonceMarkIn(db: Database.Database, account: string): bigint {
  const row = db.prepare('SELECT mark FROM nonces WHERE account = ?').get(account) as { mark: string } | undefined;
  return BigInt(row?.mark ?? '0');
}

function leftoversIn(db: Database.Database, account: string): Leftovers {
  const row = db.prepare('SELECT mark FROM marks WHERE account = ?').get(account) as { mark: string } | undefined;
  const mark = row ? markOf(row.mark) : null;
  const known = new Map(mark?.live.map(order => [order.id, order]) ?? []);
  const open = db
    .prepare('SELECT id, side, price, amount, at FROM intents WHERE account = ? AND ending IS NULL ORDER BY at, id')
    .all(account) as IntentRow[];
  return {
    orders: open.map(({ id, side, price, amount, at }) => ({
      id,
      side,
      price: price as Price,
      amount: amount as Amount,
      filled: known.get(id)?.filled ?? (0 as Amount),
      oid: known.get(id)?.oid ?? null,
      at,
    })),
    ledger: mark?.ledger ?? null,
    marker: mark?.marker,
    hedges: mark?.hedges ?? [],
  };
}
