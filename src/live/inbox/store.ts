/** Deliveries as they came: raw text that is on disk before it is answered, each text once, the oldest dropped when there are too many. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { Millis } from '../../core/index.ts';

export type Arrived = { readonly at: Millis; readonly from: string; readonly body: Buffer };

export type Stored = {
  readonly n: number;
  readonly at: Millis;
  readonly from: string;
  readonly body: Buffer;
  /** How often this very text came. */
  readonly times: number;
};

export type InboxStore = {
  /** Durable when it returns: only then may any of them be answered. Says of each whether it is new. Throws when the disk does not take it. */
  put(batch: readonly Arrived[]): boolean[];
  /** Everything that is kept, oldest first. */
  all(): IterableIterator<Stored>;
  count(): number;
  close(): void;
};

export const INBOX_FILE = 'inbox.db';

/** Opens the deliveries of a state directory. Throws when they cannot be written. */
export function openInboxStore(dir: string, keep: number): InboxStore {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const db = new Database(join(dir, INBOX_FILE));
  // In WAL mode FULL syncs the log at each commit: what is answered survives the machine, not only the process.
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  return inboxStoreIn(db, keep);
}

/** The deliveries of an open database. */
export function inboxStoreIn(db: Database.Database, keep: number): InboxStore {
  db.exec(`
    PRAGMA user_version = 1;
    CREATE TABLE IF NOT EXISTS deliveries (
      n INTEGER PRIMARY KEY AUTOINCREMENT, digest BLOB NOT NULL UNIQUE, at INTEGER NOT NULL, sender TEXT NOT NULL, body BLOB NOT NULL,
      times INTEGER NOT NULL DEFAULT 1
    );
  `);
  const insert = db.prepare('INSERT OR IGNORE INTO deliveries (digest, at, sender, body) VALUES (?, ?, ?, ?)');
  const again = db.prepare('UPDATE deliveries SET times = times + 1 WHERE digest = ?');
  const prune = db.prepare(
    'DELETE FROM deliveries WHERE n <= (SELECT n FROM deliveries ORDER BY n DESC LIMIT 1 OFFSET ?)',
  );
  const rows = db.prepare('SELECT n, at, sender, body, times FROM deliveries ORDER BY n');
  const counted = db.prepare('SELECT count(*) AS count FROM deliveries');
  let sincePruned = 0;
  const putAll = db.transaction((batch: readonly Arrived[]) => {
    const fresh = batch.map(({ at, from, body }) => {
      const digest = createHash('sha256').update(body).digest();
      const isNew = insert.run(digest, at, from, body).changes > 0;
      // In a list: the driver takes a lone object for names and values.
      if (!isNew) again.run([digest]);
      return isNew;
    });
    sincePruned += batch.length;
    if (sincePruned >= PRUNE_EVERY) {
      prune.run(keep);
      sincePruned = 0;
    }
    return fresh;
  });
  return {
    put: batch => putAll(batch),
    all: () => storedIn(rows.iterate()),
    count: () => (counted.get() as { count: number }).count,
    close: () => {
      db.pragma('wal_checkpoint(TRUNCATE)');
      db.close();
    },
  };
}

const PRUNE_EVERY = 1_000;

type Row = { n: number; at: Millis; sender: string; body: Uint8Array; times: number };

function* storedIn(rows: Iterable<unknown>): IterableIterator<Stored> {
  for (const row of rows) {
    const { n, at, sender, body, times } = row as Row;
    yield { n, at, from: sender, body: Buffer.from(body), times };
  }
}
