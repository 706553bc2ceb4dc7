/**
 * Ledger entries on disk. The entries are written in one transaction with their checkpoint. When the entries are read,
 * their sum must equal the checkpoint.
 */
import type Database from 'libsql';
import { CAUSES, causesFrom, type Cause, type Causes, type LedgerEntry, type Millis } from '../../core/index.ts';
import { entryOf, textOfEntry } from '../recording/ledgerText.ts';
import { sumOf } from './rowChecksums.ts';

/**
 * Maximum number of single entries, enough for some months of a busy bot. Older entries are merged into one entry. Each
 * entry adds 20 us to a start.
 */
export const ENTRIES_MAX = 50_000;
/** Number of entries above the maximum at which the oldest entries are merged. */
const FOLD_EVERY = 5_000;
const FORWARD = 'brought forward';

/** Whether the entry is the sum of older entries. */
export const isBroughtForward = ({ source }: LedgerEntry): boolean => source.startsWith(FORWARD);

/** Reads the entries, oldest first. */
export function* entriesIn(db: Database.Database, account: string): Generator<LedgerEntry & { readonly n: number }> {
  const rows = db.prepare('SELECT n, source, at, entry FROM entries WHERE account = ? ORDER BY n').iterate(account);
  for (const row of rows as Iterable<Row>) yield { n: row.n, ...entryOf(row.source, row.at, row.entry) };
}

type Row = { readonly n: number; readonly source: string; readonly at: Millis; readonly entry: string };

/**
 * Writes entries within the caller's transaction. Throws if the source of an entry exists already, so that no event is
 * booked twice.
 */
export function writeEntries(db: Database.Database, account: string, entries: readonly LedgerEntry[]): void {
  if (entries.length === 0) return;
  const { last } = db.prepare('SELECT max(n) AS last FROM entries WHERE account = ?').get(account) as {
    last: number | null;
  };
  entries.forEach((entry, i) => insert(db, account, (last ?? 0) + 1 + i, entry));
}

/** Merges the oldest entries beyond `max` into one, in the caller's transaction. */
export function foldEntries(db: Database.Database, account: string, max = ENTRIES_MAX, every = FOLD_EVERY): void {
  const { count } = db.prepare('SELECT count(*) AS count FROM entries WHERE account = ?').get(account) as {
    count: number;
  };
  if (count < max + every) return;
  const old: (LedgerEntry & { n: number })[] = [];
  for (const entry of entriesIn(db, account)) {
    if (old.length > count - max) break;
    old.push(entry);
  }
  const last = old[old.length - 1];
  if (last === undefined) return;
  db.prepare('DELETE FROM entries WHERE account = ? AND n <= ?').run(account, last.n);
  const changes = [...causesFrom(old)].flatMap(([currency, row]) =>
    CAUSES.map(cause => ({ cause, currency, amount: row[cause] })),
  );
  insert(db, account, last.n, { source: `${FORWARD} ${last.n}`, at: last.at, why: null, changes });
}

/** Throws if the entries do not add up to `causes`. A ledger without entries is not checked. */
export function assertEntriesAddUp(db: Database.Database, account: string, causes: ReadonlyMap<string, Causes>): void {
  const booked = causesFrom(entriesIn(db, account));
  if (booked.size === 0) return;
  for (const currency of new Set([...booked.keys(), ...causes.keys()])) {
    const [ours, theirs] = [booked.get(currency), causes.get(currency)];
    const differs = (cause: Cause): boolean => (ours?.[cause] ?? 0n) !== (theirs?.[cause] ?? 0n);
    const cause = CAUSES.find(differs);
    if (cause !== undefined)
      throw new Error(`damaged: the ${currency} entries for ${cause} do not add up to the ${cause} of the ledger`);
  }
}

function insert(db: Database.Database, account: string, n: number, entry: LedgerEntry): void {
  const { source, at } = entry;
  const text = textOfEntry(entry);
  db.prepare('INSERT INTO entries (account, n, source, at, entry, sum) VALUES (?, ?, ?, ?, ?, ?)').run(
    account,
    n,
    source,
    at,
    text,
    sumOf(account, source, text, n, at),
  );
}
