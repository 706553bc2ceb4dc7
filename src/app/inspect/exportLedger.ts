/** `puntas export` of a state: its fills or its ledger as one CSV or Parquet file, for taxes and analysis. */
import { counted, pairOf, type Clock, type LedgerEntry, type Millis } from '../../core/index.ts';
import { isBroughtForward } from '../../live/state/ledgerEntries.ts';
import { ledgerFileIn, type LedgerFile } from '../../live/state/ledgerFile.ts';
import { writeOut } from '../../wiring/outFiles.ts';
import { UsageError } from '../../wiring/usageError.ts';
import {
  csvHead,
  csvLine,
  ENTRY_COLUMNS,
  entryRows,
  FILL_COLUMNS,
  bookedFill,
  parquetOf,
  type BookedFill,
  type Column,
} from './exportColumns.ts';

export type LedgerExport = {
  readonly rows: 'fills' | 'ledger';
  readonly from?: Millis;
  /** End of the exported time, inclusive. */
  readonly to?: Millis;
  /** Book whose fills are exported; if absent, fills of all books are exported. */
  readonly book?: string;
};

/**
 * Reads the ledger of a state directory from a copy.
 * @throws UsageError if there is no ledger.
 */
export async function ledgerAt(dir: string, clock: Clock): Promise<LedgerFile> {
  const file = await ledgerFileIn(dir, clock);
  if (file === null)
    throw new UsageError(`${dir}: no ledger yet; expected the state directory of a bot that has read its balances`);
  return file;
}

/**
 * Writes the export of a ledger. An existing file is replaced only when the new file is complete. Resolves to a
 * summary, which also says whether the ledger has older entries only as a sum.
 */
export async function exportLedger(dir: string, asked: LedgerExport, path: string, clock: Clock): Promise<string> {
  const bytes = path.endsWith('.parquet') ? parquetOf : path.endsWith('.csv') ? csvOf : null;
  if (bytes === null) throw new UsageError(`${path}: expected a name that ends in .parquet or .csv`);
  const file = await ledgerAt(dir, clock);
  const { from = -Infinity, to = Infinity, book } = asked;
  const entries = file.entries.filter(({ at }) => at >= from && at <= to);
  const [count, data] =
    asked.rows === 'ledger'
      ? rowsIn(ENTRY_COLUMNS, entries.flatMap(entryRows), bytes)
      : rowsIn(FILL_COLUMNS, fillsOf(file, entries, book), bytes);
  writeOut(path, () => data);
  const [first] = file.entries;
  const folded = first !== undefined && isBroughtForward(first) && from <= first.at;
  const before = folded
    ? `; the ledger has only the sum of the entries before ${new Date(first.at).toISOString()}`
    : '';
  return `${path}: ${counted(count, 'row')} of ${asked.rows}${before}`;
}

/**
 * Returns the fills of entries of a ledger. If `book` is given, returns only fills of this book, which is also the book
 * of the state if the state does not name one.
 */
export function fillsOf(
  file: LedgerFile,
  entries: readonly LedgerEntry[],
  book: string | undefined,
): readonly BookedFill[] {
  const own = file.book ?? book;
  // If the state names no book, every trade in the ledger names its book, so no default currencies are needed.
  const [major, minor] = own === undefined ? ['', ''] : pairOf(own);
  return entries
    .flatMap(entry => bookedFill(entry, { book: own ?? '', major, minor }) ?? [])
    .filter(row => book === undefined || row.book === book);
}

type Made = <R>(columns: readonly Column<R>[], rows: readonly R[]) => string | Uint8Array;
const rowsIn = <R>(columns: readonly Column<R>[], rows: readonly R[], made: Made) =>
  [rows.length, made(columns, rows)] as const;

const csvOf: Made = (columns, rows) => `${[csvHead(columns), ...rows.map(row => csvLine(columns, row))].join('\n')}\n`;
