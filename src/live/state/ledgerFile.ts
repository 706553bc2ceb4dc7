/**
 * Read-only view of the ledger in a state directory, from a copy of the state file, because a running bot locks the
 * file.
 */
import type Database from 'libsql';
import {
  type AccountLedger,
  type Causes,
  type BalanceCheck,
  type Clock,
  type LedgerEntry,
  type ElsewhereCheck,
  type ProfitSinceOpening,
} from '../../core/index.ts';
import { adjustedSums, entriesIn } from './ledgerEntries.ts';
import { hoursIn } from './profitHours.ts';
import { ownerIn } from './owner.ts';
import { checkpointOf } from '../recording/ledgerText.ts';
import { fromCopy } from './stateCopy.ts';

export type LedgerFile = {
  readonly causes: ReadonlyMap<string, Causes>;
  readonly roundings?: AccountLedger['roundings'];
  /** Entries, oldest first; the first may be the sum of older entries. */
  readonly entries: readonly LedgerEntry[];
  /** Last comparison of the ledger with the balances of the bot's own exchange; `null` if none. */
  readonly checked: BalanceCheck | null;
  /**
   * Last comparison, in the last run, of the ledger with the balances of the other exchange; `null` if there was no
   * comparison.
   */
  readonly checkedThere: ElsewhereCheck | null;
  /** Profit since the opening at the last checkpoint, in the quote currency; `null` if not stored. */
  readonly profit: ProfitSinceOpening | null;
  /** Profit since the opening at the end of each UTC hour, oldest first. */
  readonly hours: readonly ProfitSinceOpening[];
  /** Symbol of the bot's first book; `null` if the state does not contain it. */
  readonly book: string | null;
  /** Further books with a stored state, including books that the bot no longer quotes; absent if there is none. */
  readonly otherBooks?: readonly LedgerBook[];
};

/** Further book of a ledger. In `LedgerFile`, the fields of the same names describe the first book. */
export type LedgerBook = Pick<LedgerFile, 'profit' | 'hours'> & { readonly book: string };

/** Reads the ledger; `null` if no ledger exists. Rejects if the file cannot be trusted. */
export const ledgerFileIn = (dir: string, clock: Clock): Promise<LedgerFile | null> => fromCopy(dir, clock, read);

function read(db: Database.Database): LedgerFile | null {
  const isThere = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'marks'").get() !== undefined;
  if (!isThere) return null;
  const row = db.prepare('SELECT account, mark FROM marks').get() as { account: string; mark: string } | undefined;
  if (!row) return null;
  const { ledger, checked, checkedThere, profit } = checkpointOf(row.mark);
  const entries = [...entriesIn(db, row.account)];
  const others = Object.entries(ledger.books ?? {}).map(([book, state]) => ({
    ...{ book, profit: state.profit ?? null },
    hours: hoursIn(db, row.account, book),
  }));
  return {
    causes: adjustedSums(entries, ledger.causes).causes,
    roundings: ledger.roundings,
    entries,
    checked,
    checkedThere,
    profit: ledger.profit ?? (profit && { since: null, at: null, twiceMid: null, profit }),
    hours: hoursIn(db, row.account),
    book: ownerIn(db)?.book ?? null,
    ...(others.length === 0 ? {} : { otherBooks: others }),
  };
}
