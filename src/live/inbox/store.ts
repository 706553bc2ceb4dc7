/**
 * Store of raw deliveries. Each delivery is stored once, on disk before it is acknowledged. Above the size limits of
 * the store, the oldest deliveries of the largest sender are deleted.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import Database from 'libsql';
import type { Millis } from '../../core/index.ts';
import { senderOf, makeFolder } from '../../guard/index.ts';
import { ROW_BYTES } from './rates.ts';

export type Arrived = {
  readonly at: Millis;
  readonly from: string;
  readonly body: Buffer;
  /**
   * Content that the signature covers. Deliveries with equal content count as one delivery, even if their envelopes
   * differ. Absent if no signature was verified.
   */
  readonly says?: string;
};

/** Limits of the store: maximum number of rows, and maximum size of all rows with their bodies, in bytes. */
export type InboxBounds = { readonly rows: number; readonly bytes: number };

export type StoredDelivery = {
  readonly n: number;
  readonly at: Millis;
  readonly from: string;
  readonly body: Buffer;
  /** Number of times that this delivery arrived. */
  readonly times: number;
};

export type InboxStore = {
  /**
   * Stores a batch, durable on return. Acknowledge the deliveries only after the return. Returns for each delivery
   * whether it is new. Throws if the disk accepts no write.
   */
  put(batch: readonly Arrived[]): boolean[];
  /** All stored deliveries, oldest first. */
  all(): IterableIterator<StoredDelivery>;
  /** Newest deliveries that fit the bounds, oldest first. */
  newest(bounds: InboxBounds): StoredDelivery[];
  count(): number;
  /** Size of all stored deliveries, in bytes, including their rows. */
  bytes(): number;
  close(): void;
};

export const INBOX_FILE = 'inbox.db';

/** Opens the store of deliveries in a state directory. Throws if it cannot be written. */
export function openInboxStore(dir: string, keep: InboxBounds): InboxStore {
  makeFolder(dir, 0o700);
  const db = new Database(join(dir, INBOX_FILE));
  // With FULL, each commit syncs the log, so that acknowledged deliveries survive a crash of the machine.
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  // Limits the size of the log, which would otherwise stay large after a large transaction.
  db.pragma('journal_size_limit = 4000000');
  return inboxStoreIn(db, keep);
}

/** Opens the store in an open database. `pageRows`: maximum number of rows that are deleted per transaction. */
export function inboxStoreIn(db: Database.Database, keep: InboxBounds, pageRows = FORGET_ROWS): InboxStore {
  db.exec(`
    PRAGMA user_version = 1;
    CREATE TABLE IF NOT EXISTS deliveries (
      n INTEGER PRIMARY KEY AUTOINCREMENT, digest BLOB NOT NULL UNIQUE, at INTEGER NOT NULL, sender TEXT NOT NULL, body BLOB NOT NULL,
      times INTEGER NOT NULL DEFAULT 1
    );
  `);
  const insert = db.prepare('INSERT OR IGNORE INTO deliveries (digest, at, sender, body) VALUES (?, ?, ?, ?)');
  const again = db.prepare('UPDATE deliveries SET times = times + 1 WHERE digest = ?');
  const rows = db.prepare('SELECT n, at, sender, body, times FROM deliveries ORDER BY n');
  const sizes = db.prepare('SELECT n, length(body) AS bytes FROM deliveries ORDER BY n DESC LIMIT ?');
  const rowsSince = db.prepare('SELECT n, at, sender, body, times FROM deliveries WHERE n >= ? ORDER BY n');
  const shares = sharesIn(db);
  const putAll = db.transaction((batch: readonly Arrived[]) => {
    const added: { sender: string; bytes: number }[] = [];
    const fresh = batch.map(({ at, from, body, says }) => {
      const digest = createHash('sha256')
        .update(says ?? body)
        .digest();
      const isNew = insert.run(digest, at, from, body).changes > 0;
      if (isNew) added.push({ sender: senderOf(from), bytes: body.length + ROW_BYTES });
      // The digest is in a list, because the driver would read a single object as named parameters.
      else again.run([digest]);
      return isNew;
    });
    return { fresh, added };
  });
  return {
    put: batch => {
      const coming = batch.reduce((sum, { body }) => sum + body.length + ROW_BYTES, 0);
      makeRoom(db, shares, { rows: keep.rows - batch.length, bytes: keep.bytes - coming }, pageRows);
      const { fresh, added } = putAll(batch);
      for (const { sender, bytes } of added) shares.add(sender, bytes);
      return fresh;
    },
    all: () => storedIn(rows.iterate()),
    newest: bounds => {
      let first = Infinity;
      let bytes = 0;
      for (const row of sizes.all(bounds.rows)) {
        const of = row as { n: number; bytes: number };
        bytes += of.bytes + ROW_BYTES;
        if (bytes > bounds.bytes) break;
        first = of.n;
      }
      return first === Infinity ? [] : [...storedIn(rowsSince.iterate(first))];
    },
    count: () => shares.rows,
    bytes: () => shares.bytes,
    close: () => {
      db.pragma('wal_checkpoint(TRUNCATE)');
      db.close();
    },
  };
}

/** Stored rows and bytes, in total and by sender. */
type Shares = {
  readonly rows: number;
  readonly bytes: number;
  /** Sender with the most bytes; `null` if the store is empty. */
  largest(): string | null;
  add(sender: string, bytes: number): void;
  take(sender: string, bytes: number): void;
};

/** Counts the stored bytes of each sender without reading the bodies. */
function sharesIn(db: Database.Database): Shares {
  const of = new Map<string, number>();
  let rows = 0;
  let bytes = 0;
  const add = (sender: string, more: number): void => {
    of.set(sender, (of.get(sender) ?? 0) + more);
    rows++;
    bytes += more;
  };
  for (const row of db.prepare('SELECT sender, length(body) AS bytes FROM deliveries').iterate()) {
    const { sender, bytes: size } = row as { sender: string; bytes: number };
    add(senderOf(sender), size + ROW_BYTES);
  }
  return {
    get rows() {
      return rows;
    },
    get bytes() {
      return bytes;
    },
    largest: () => {
      let found: string | null = null;
      let most = 0;
      for (const [sender, size] of of) if (size > most) [found, most] = [sender, size];
      return found;
    },
    add,
    take: (sender, less) => {
      const left = (of.get(sender) ?? 0) - less;
      if (left > 0) of.set(sender, left);
      else of.delete(sender);
      rows--;
      bytes -= less;
    },
  };
}

/** Maximum number of rows that are deleted per transaction, so that SQLite's log stays small. */
const FORGET_ROWS = 1_000;

/**
 * Deletes the oldest deliveries of the largest sender until the store fits its limits, so that a flood from one address
 * deletes only its own deliveries.
 */
function makeRoom(db: Database.Database, shares: Shares, keep: InboxBounds, pageRows: number): void {
  if (shares.rows <= keep.rows && shares.bytes <= keep.bytes) return;
  // Deletes a little more than necessary, so that not every delivery causes a deletion.
  const [rows, bytes] = [(keep.rows * 31) / 32, (keep.bytes * 31) / 32];
  const page = db.prepare('SELECT n, sender, length(body) AS bytes FROM deliveries WHERE n > ? ORDER BY n LIMIT ?');
  const forget = db.prepare('DELETE FROM deliveries WHERE n = ?');
  const forgetAll = db.transaction((found: readonly number[]) => found.forEach(n => forget.run([n])));
  let after = 0;
  for (let sender = shares.largest(); sender !== null && (shares.rows > rows || shares.bytes > bytes);) {
    const seen = page.all(after, pageRows) as { n: number; sender: string; bytes: number }[];
    let [moreRows, moreBytes] = [shares.rows - rows, shares.bytes - bytes];
    const gone = seen.filter(row => {
      if ((moreRows <= 0 && moreBytes <= 0) || senderOf(row.sender) !== sender) return false;
      moreRows--;
      moreBytes -= row.bytes + ROW_BYTES;
      return true;
    });
    forgetAll(gone.map(({ n }) => n));
    for (const row of gone) shares.take(sender, row.bytes + ROW_BYTES);
    const largest = shares.largest();
    after = largest === sender ? (seen.at(-1)?.n ?? 0) : 0;
    sender = seen.length === 0 ? null : largest;
  }
}

type Row = { n: number; at: Millis; sender: string; body: Uint8Array; times: number };

function* storedIn(rows: Iterable<unknown>): IterableIterator<StoredDelivery> {
  for (const row of rows) {
    const { n, at, sender, body, times } = row as Row;
    yield { n, at, from: sender, body: Buffer.from(body), times };
  }
}
