/** What must survive the process: intents before they are sent, the ledger, the nonces, and every input of the engine. One SQLite file, one process. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import Database from 'libsql';
import type { Amount, Millis, PlaceCommand, Price, RestoredLedger, RestoredOrder, Side } from '../core/index.ts';
import { textOfLedger, ledgerOf } from './ledgerText.ts';

/** What the last run of an account left. */
export type Leftovers = {
  readonly orders: readonly RestoredOrder[];
  readonly ledger: RestoredLedger | null;
  /** Newest own trade that is in the ledger; undefined when there was none. */
  readonly marker: string | undefined;
};

/** The ledger as it stands, with what it needs to be taken up again. */
export type Mark = {
  readonly ledger: RestoredLedger;
  readonly marker: string | undefined;
  readonly live: readonly { readonly id: string; readonly filled: Amount; readonly oid: string | null }[];
};

export type Journal = {
  /** Number of this run, never used before in this state directory. */
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
  /** Makes everything durable, with the ledger when one is given. Throws when the disk does not take it. */
  flush(mark?: Mark): void;
  /** No nonce above `mark` may be sent before this returns. */
  reserveNonces(mark: bigint): void;
  close(): void;
};

export type JournalOptions = {
  /** Names the account at its venue: only what the same account left is taken up again. */
  readonly account: string;
  readonly at: Millis;
  /** Everything that the engine was made of, as text: a replay needs it. */
  readonly setup: string;
};

/** Opens the state directory for this process alone. Throws one clear line when another process has it, or when it cannot be written. */
export function openJournal(dir: string, options: JournalOptions): Journal {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return journalIn(openDatabase(join(dir, STATE_FILE)), options);
}

export const STATE_FILE = 'puntas.db';

/** The recording is kept for this many runs; what orders and ledger need is kept for ever. */
const RECORDED_RUNS = 20;

/** The journal in an open database. */
export function journalIn(db: Database.Database, { account, at, setup }: JournalOptions): Journal {
  const leftovers = leftoversIn(db, account);
  const run = Number(
    db.prepare('INSERT INTO runs (account, started_at, setup) VALUES (?, ?, ?)').run(account, at, setup)
      .lastInsertRowid,
  );
  db.prepare('DELETE FROM inputs WHERE run <= ?').run(run - RECORDED_RUNS);
  const nonceRow = db.prepare('SELECT mark FROM nonces WHERE account = ?').get(account) as { mark: string } | undefined;
  const statements = {
    intent: db.prepare('INSERT INTO intents (id, account, side, price, amount, at) VALUES (?, ?, ?, ?, ?, ?)'),
    end: db.prepare('UPDATE intents SET ending = ? WHERE id = ? AND account = ?'),
    inputs: db.prepare('INSERT INTO inputs (run, lines) VALUES (?, ?)'),
    mark: db.prepare(
      'INSERT INTO marks (account, mark) VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET mark = excluded.mark',
    ),
    nonce: db.prepare(
      'INSERT INTO nonces (account, mark) VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET mark = excluded.mark',
    ),
  };
  let lines: string[] = [];
  let endings: [ending: string, id: string][] = [];

  // One transaction for everything that waits, so that the recording is never behind the intents that it explains.
  const write = db.transaction((commands: readonly PlaceCommand[], now: Millis, mark: Mark | undefined) => {
    if (lines.length > 0) statements.inputs.run(run, deflateRawSync(lines.join('\n')));
    for (const [ending, id] of endings) statements.end.run(ending, id, account);
    for (const { id, side, price, amount } of commands) statements.intent.run(id, account, side, price, amount, now);
    if (mark) statements.mark.run(account, textOfMark(mark));
  });
  const commit = (commands: readonly PlaceCommand[], now: Millis, mark?: Mark) => {
    write(commands, now, mark);
    lines = [];
    endings = [];
  };
  return {
    run,
    nonceMark: BigInt(nonceRow?.mark ?? '0'),
    leftovers,
    intend: (commands, now) => commit(commands, now),
    ended: (id, ending) => void endings.push([ending, id]),
    record: line => void lines.push(line),
    flush: mark => {
      if (lines.length > 0 || endings.length > 0 || mark) commit([], at, mark);
    },
    reserveNonces: upTo => void statements.nonce.run(account, upTo.toString()),
    close: () => release(db),
  };
}

/** Opens or makes the state file, locked for this process. */
export function openDatabase(file: string): Database.Database {
  try {
    const db = new Database(file, { timeout: 0 });
    // The lock is the kernel's: it goes with the process, however that ends.
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    const check = db.pragma('quick_check(1)') as { quick_check: string }[];
    if (check[0]?.quick_check !== 'ok') throw new Error(`damaged: ${check[0]?.quick_check}`);
    db.exec(SCHEMA);
    return db;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (/locked|busy/i.test(message)) {
      throw new Error(
        `the state directory is in use by another process (${file}): stop it, or give this one its own state.dir`,
      );
    }
    throw new DamagedState(`the state file ${file} cannot be used: ${message}`);
  }
}

/** Closes and gives up the lock now: a driver that still holds statements would keep it until they are collected. */
function release(db: Database.Database): void {
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

/** The state file is there and cannot be trusted: nothing may be placed; what lives can still be canceled by its prefix. */
export class DamagedState extends Error {}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS runs (run INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, started_at INTEGER NOT NULL, setup TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS intents (
    id TEXT NOT NULL, account TEXT NOT NULL, side TEXT NOT NULL, price INTEGER NOT NULL, amount INTEGER NOT NULL, at INTEGER NOT NULL,
    ending TEXT, PRIMARY KEY (account, id)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS intents_open ON intents (account) WHERE ending IS NULL;
  CREATE TABLE IF NOT EXISTS inputs (n INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, lines BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS marks (account TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS nonces (account TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID;
`;

type IntentRow = { id: string; side: Side; price: number; amount: number; at: number };

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
  };
}

const textOfMark = ({ ledger, marker, live }: Mark): string =>
  JSON.stringify({ ledger: textOfLedger(ledger), marker: marker ?? null, live });

function markOf(text: string): Mark {
  const { ledger, marker, live } = JSON.parse(text) as { ledger: string; marker: string | null; live: Mark['live'] };
  return { ledger: ledgerOf(ledger), marker: marker ?? undefined, live };
}
