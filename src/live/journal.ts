/** What must survive the process: the run's number, every intent before it is sent, and the last nonce. One SQLite file, one process. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { Millis, PlaceCommand } from '../core/index.ts';

export type Journal = {
  /** Number of this run, never used before in this state directory. */
  readonly run: number;
  /** Highest nonce that may have been sent by an earlier run; 0 at the first. */
  readonly nonceMark: bigint;
  /** Durable when it returns: only then may the orders be sent. */
  intend(commands: readonly PlaceCommand[], at: Millis): void;
  /** No nonce above `mark` may be sent before this returns. */
  reserveNonces(mark: bigint): void;
  close(): void;
};

/** Opens the state directory for this process alone. Throws one clear line when another process has it, or when it cannot be written. */
export function openJournal(dir: string, at: Millis): Journal {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, 'puntas.db');
  const db = open(file);
  const insert = db.prepare('INSERT INTO intents (id, side, price, amount, at) VALUES (?, ?, ?, ?, ?)');
  const run = Number(db.prepare('INSERT INTO runs (started_at) VALUES (?)').run(at).lastInsertRowid);
  const row = db.prepare('SELECT mark FROM nonces').get() as { mark: string } | undefined;
  const mark = db.prepare(
    'INSERT INTO nonces (id, mark) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET mark = excluded.mark',
  );
  const intend = db.transaction((commands: readonly PlaceCommand[], now: Millis) => {
    for (const { id, side, price, amount } of commands) insert.run(id, side, price, amount, now);
  });
  return {
    run,
    nonceMark: BigInt(row?.mark ?? '0'),
    intend: (commands, now) => void intend(commands, now),
    reserveNonces: upTo => void mark.run(upTo.toString()),
    close: () => void db.close(),
  };
}

function open(file: string): Database.Database {
  try {
    const db = new Database(file, { timeout: 0 });
    // The lock is the kernel's: it goes with the process, however that ends.
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.exec(`
      CREATE TABLE IF NOT EXISTS runs (run INTEGER PRIMARY KEY AUTOINCREMENT, started_at INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS nonces (id INTEGER PRIMARY KEY CHECK (id = 1), mark TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS intents (id TEXT PRIMARY KEY, side TEXT NOT NULL, price INTEGER NOT NULL, amount INTEGER NOT NULL, at INTEGER NOT NULL);
    `);
    return db;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (/locked|busy/i.test(message)) {
      throw new Error(
        `the state directory is in use by another process (${file}): stop it, or give this one its own state.dir`,
      );
    }
    throw new Error(`cannot open the state file ${file}: ${message}`);
  }
}
