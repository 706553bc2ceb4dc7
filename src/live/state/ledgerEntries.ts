/**
 * Ledger entries on disk. The entries are written in one transaction with their checkpoint. When the entries are read,
 * their sum must equal the checkpoint.
 */
import type Database from 'libsql';
import {
  atPlace,
  CAUSES,
  causesFrom,
  money,
  pairOf,
  placeInName,
  TRANSIT,
  type Cause,
  type Causes,
  type LedgerEntry,
  type Millis,
  type Money,
  type RestoredLedger,
} from '../../core/index.ts';
import { entryOf, textOfEntry } from '../recording/ledgerText.ts';
import { sumOf } from './rowChecksums.ts';

/**
 * Maximum number of single entries, enough for some months of a busy bot. Older entries are merged into one entry. Each
 * entry adds 20 us to a start.
 */
export const ENTRIES_MAX = 50_000;
/** Minimum number of entries above the maximum before the oldest entries are merged. */
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

type Sums = ReadonlyMap<string, Causes>;

const isUnplaced = ({ source }: LedgerEntry): boolean => placeInName(source) === null;

/**
 * Returns the sums of the entries (`booked`), `sums` plus missing adjustments (`causes`), and the missing adjustment of
 * each currency (`added`). An older Puntas left an adjustment by the operator out of the sums if it was at another
 * exchange that the configuration no longer named. The source of such an adjustment's entry does not name the exchange.
 * Sums that differ in any other way stay unchanged, because they are damaged.
 */
export function adjustedSums(
  entries: readonly LedgerEntry[],
  sums: Sums,
): { readonly booked: Sums; readonly causes: Sums; readonly added: ReadonlyMap<string, Money> } {
  const causes = new Map(sums);
  const added = new Map<string, Money>();
  const booked = causesFrom(entries);
  let unplaced: Sums | null = null;
  for (const [currency, ours] of booked) {
    const row = sums.get(currency);
    const place = placeInName(currency);
    if (row === undefined || place === null || place === TRANSIT) continue;
    const differing = CAUSES.filter(cause => ours[cause] !== row[cause]);
    if (differing.length !== 1 || differing[0] !== 'adjustments') continue;
    const missing = money(ours.adjustments - row.adjustments);
    unplaced ??= causesFrom(entries.filter(entry => isUnplaced(entry) && !isBroughtForward(entry)));
    if (unplaced.get(currency)?.adjustments !== missing) continue;
    causes.set(currency, { ...row, adjustments: ours.adjustments });
    added.set(currency, missing);
  }
  return { booked, causes, added };
}

/**
 * Returns the ledger with the sums of `adjustedSums`. The target rises by the added base currency, so that the
 * inventory stays as it was; a configured target replaces this target. `book` is the bot's book; `null` if the state
 * does not name it.
 * @throws Error if the entries do not add up to the sums. A ledger without entries is not checked.
 */
export function ledgerByEntries(
  db: Database.Database,
  account: string,
  ledger: RestoredLedger,
  book: string | null,
): { readonly ledger: RestoredLedger; readonly added: ReadonlyMap<string, Money> } {
  const entries = [...entriesIn(db, account)];
  const { booked, causes, added } = adjustedSums(entries, ledger.causes);
  assertEntriesAddUp(booked, causes);
  if (added.size === 0) return { ledger, added };
  let targetRest = ledger.targetRest ?? money(0n);
  for (const [currency, amount] of added)
    if (book !== null && currency.startsWith(`${pairOf(book)[0]}@`)) targetRest = money(targetRest + amount);
  // The older Puntas booked these entries under sources that do not name the exchange. The ledger also gets the sources
  // with the exchange, so that a repeated request is recognized.
  const sources = entries.filter(isUnplaced).flatMap(({ source, changes }) => {
    const change = changes.find(({ currency }) => added.has(currency));
    return change === undefined ? [] : [atPlace(source, placeInName(change.currency)!)];
  });
  return { ledger: { ...ledger, causes, targetRest, sources: [...ledger.sources, ...sources] }, added };
}

function assertEntriesAddUp(booked: Sums, causes: Sums): void {
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
