/** Ledger entries and fills as tables. Each table has one list of columns for CSV and Parquet, with exact digits. */
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import {
  MONEY_DECIMALS,
  money,
  moneyOf,
  pairOrNull,
  textOfMoney,
  type Cause,
  type LedgerEntry,
  type Millis,
  type Money,
} from '../../core/index.ts';
import { bookedTrade, isOfBook, type BookedTrade, type BookNames } from './ledgerProfit.ts';

/** Column of a table. Times are UTC in ms, money is exact, `null` is an empty cell. */
export type Column<R> = { readonly name: string } & (
  | { readonly kind: 'time'; readonly of: (row: R) => Millis }
  | { readonly kind: 'text'; readonly of: (row: R) => string | null }
  | { readonly kind: 'money'; readonly of: (row: R) => Money | null }
);

export type EntryRow = {
  readonly at: Millis;
  readonly source: string;
  readonly cause: Cause;
  readonly currency: string;
  readonly amount: Money;
  readonly price: string | null;
  readonly why: string | null;
  /** Trade of the entry; `null` if the entry is not a trade. */
  readonly told: BookedTrade | null;
};

/** Returns a row for each balance that an entry changed. */
export function entryRows(entry: LedgerEntry): readonly EntryRow[] {
  const { at, source, why, changes } = entry;
  const told = bookedTrade(entry);
  const price = told?.price ?? null;
  return changes
    .filter(({ amount }) => amount !== 0n)
    .map(({ cause, currency, amount }) => ({ at, source, cause, currency, amount, price, why, told }));
}

export const ENTRY_COLUMNS: readonly Column<EntryRow>[] = [
  { name: 'at', kind: 'time', of: ({ at }) => at },
  { name: 'source', kind: 'text', of: ({ source }) => source },
  { name: 'cause', kind: 'text', of: ({ cause }) => cause },
  { name: 'currency', kind: 'text', of: ({ currency }) => currency },
  { name: 'amount', kind: 'money', of: ({ amount }) => amount },
  { name: 'price', kind: 'money', of: ({ price }) => (price === null ? null : moneyOf(price)) },
  { name: 'why', kind: 'text', of: ({ why }) => why },
  { name: 'time', kind: 'time', of: ({ at }) => at },
  { name: 'trade_id', kind: 'text', of: ({ told }) => told?.trade ?? null },
  { name: 'order_id', kind: 'text', of: ({ told }) => told?.order ?? null },
  { name: 'client_order_id', kind: 'text', of: ({ told }) => told?.clientOrderId ?? null },
  { name: 'role', kind: 'text', of: ({ told }) => told?.role ?? null },
  { name: 'level', kind: 'text', of: ({ told }) => told?.level ?? null },
];

export type BookedFill = {
  readonly at: Millis;
  readonly trade: string;
  readonly clientOrderId: string | null;
  readonly role: 'maker' | 'taker' | null;
  readonly level: string | null;
  readonly order: string;
  readonly book: string;
  readonly side: 'buy' | 'sell';
  /** Amount in the base currency, always positive. */
  readonly amount: Money;
  /** Amount of quote currency paid or received, always positive. */
  readonly value: Money;
  readonly price: string | null;
  /** Fee, positive if paid. */
  readonly fee: Money;
  readonly feeCurrency: string | null;
};

/**
 * Returns the fill of an entry; `null` if the entry is not a trade or its book is unknown. A trade that an older Puntas
 * stored without its book is assigned to the book `own` if its currencies match.
 */
export function bookedFill(entry: LedgerEntry, own: BookNames): BookedFill | null {
  const told = bookedTrade(entry);
  const book = told?.book ?? (isOfBook(entry, own) ? own.book : null);
  const pair = book === null ? null : pairOrNull(book);
  if (told === null || book === null || pair === null) return null;
  const of = (currency: string): bigint =>
    entry.changes.find(one => one.cause === 'trades' && one.currency === currency)?.amount ?? 0n;
  const [bought, got] = pair.map(of) as [bigint, bigint];
  const size = (sum: bigint): Money => money(sum < 0n ? -sum : sum);
  const fee = entry.changes.find(({ cause }) => cause === 'fees');
  return {
    ...{ at: entry.at, trade: told.trade, order: told.order, book },
    ...{ clientOrderId: told.clientOrderId, role: told.role, level: told.level },
    ...{ side: bought > 0n ? 'buy' : 'sell', amount: size(bought), value: size(got), price: told.price },
    ...{ fee: money(-(fee?.amount ?? 0n)), feeCurrency: fee?.currency ?? null },
  };
}

export const FILL_COLUMNS: readonly Column<BookedFill>[] = [
  { name: 'at', kind: 'time', of: ({ at }) => at },
  { name: 'trade', kind: 'text', of: ({ trade }) => trade },
  { name: 'order', kind: 'text', of: ({ order }) => order },
  { name: 'book', kind: 'text', of: ({ book }) => book },
  { name: 'side', kind: 'text', of: ({ side }) => side },
  { name: 'amount', kind: 'money', of: ({ amount }) => amount },
  { name: 'price', kind: 'money', of: ({ price }) => (price === null ? null : moneyOf(price)) },
  { name: 'value', kind: 'money', of: ({ value }) => value },
  { name: 'fee', kind: 'money', of: ({ fee }) => fee },
  { name: 'fee_currency', kind: 'text', of: ({ feeCurrency }) => feeCurrency },
  { name: 'time', kind: 'time', of: ({ at }) => at },
  { name: 'trade_id', kind: 'text', of: ({ trade }) => trade },
  { name: 'order_id', kind: 'text', of: ({ order }) => order },
  { name: 'client_order_id', kind: 'text', of: ({ clientOrderId }) => clientOrderId },
  { name: 'role', kind: 'text', of: ({ role }) => role },
  { name: 'level', kind: 'text', of: ({ level }) => level },
];

/** Returns the column names as a CSV line, without a line end. */
export const csvHead = (columns: readonly { readonly name: string }[]): string =>
  columns.map(({ name }) => name).join(',');

/** Returns a row as a CSV line, without a line end. */
export const csvLine = <R>(columns: readonly Column<R>[], row: R): string =>
  columns.map(column => quoted(cellOf(column, row))).join(',');

function cellOf<R>(column: Column<R>, row: R): string {
  if (column.kind === 'time') return new Date(column.of(row)).toISOString();
  if (column.kind === 'text') return column.of(row) ?? '';
  const sum = column.of(row);
  return sum === null ? '' : textOfMoney(sum);
}

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

/** Returns a Parquet file. Money is DECIMAL(38, 18), enough for every sum of the ledger; times are TIMESTAMP in UTC. */
export function parquetOf<R>(columns: readonly Column<R>[], rows: readonly R[]): Uint8Array {
  const buffer = parquetWriteBuffer({
    schema: [{ name: 'root', num_children: columns.length }, ...columns.map(schemaOf)],
    columnData: columns.map(column => ({ name: column.name, data: rows.map(row => storedOf(column, row)) })),
    codec: 'GZIP',
    compressors: { GZIP: bytes => gzipSync(bytes) },
  });
  return new Uint8Array(buffer);
}

const storedOf = <R>(column: Column<R>, row: R): string | bigint | null =>
  column.kind === 'time' ? BigInt(Math.floor(column.of(row))) * 1_000n : column.of(row);

/** Returns the Parquet type of a column. Money needs 16 bytes for 38 digits. */
function schemaOf<R>({ name, kind }: Column<R>) {
  if (kind === 'time')
    return { name, type: 'INT64', repetition_type: 'REQUIRED', converted_type: 'TIMESTAMP_MICROS' } as const;
  if (kind === 'text')
    return { name, type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL', converted_type: 'UTF8' } as const;
  return {
    ...({ name, type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, repetition_type: 'OPTIONAL' } as const),
    ...({ converted_type: 'DECIMAL', precision: 38, scale: MONEY_DECIMALS } as const),
  };
}
