/**
 * Strict readers for fields of parsed replies. Each returns the exact value or throws a WireFault that names the field.
 */
import {
  isDecimalText,
  moneyOf,
  type DecimalText,
  type Millis,
  type Money,
  type Side,
  type UnreadableRow,
} from '../../core/index.ts';

/** Error for a reply that differs from the interface documents. The request then has the outcome `unknown`. */
export class WireFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WireFault';
  }
}

/** JSON object; unused fields are ignored. */
export type Row = Readonly<Record<string, unknown>>;

/** Reads an object; throws for null and arrays. `what` names the object in the fault. */
export function row(value: unknown, what = 'payload'): Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault(what, 'an object', value);
  return value as Row;
}

/**
 * Reads an array within a row; a fault of one element rejects the array. For a list that is the whole reply, use
 * `rows`. `what` names the array in the fault.
 */
export function list<T>(value: unknown, each: (element: unknown) => T, what = 'payload'): readonly T[] {
  if (!Array.isArray(value)) throw fault(what, 'an array', value);
  return value.map(each);
}

/**
 * Reads a list row by row. An unreadable row is omitted and added to `unreadable`; without `unreadable`, the fault of
 * the row is thrown. `what` names the list in the fault. `identify` reads ids, book and currencies of an unreadable
 * row.
 */
export function rows<T>(
  value: unknown,
  each: (element: unknown) => T,
  unreadable: UnreadableRow[] | undefined,
  what = 'payload',
  identify: RowIdentity = identityOf,
): readonly T[] {
  if (!Array.isArray(value)) throw fault(what, 'an array', value);
  const read: T[] = [];
  for (const [n, element] of (value as unknown[]).entries()) {
    try {
      read.push(each(element));
    } catch (error) {
      if (!(error instanceof WireFault) || unreadable === undefined) throw error;
      if (unreadable.length < UNREADABLE_MAX)
        unreadable.push({ why: `row ${n + 1}: ${error.message}`, ...identify(element) });
      // A reply with more than `UNREADABLE_MAX` unreadable rows is not a list of this exchange.
      else throw error;
    }
  }
  return read;
}

/** Reads the parts of a row's identity that are readable. */
export type RowIdentity = (element: unknown) => Omit<UnreadableRow, 'why'>;

/** Maximum number of unreadable rows per reply. */
const UNREADABLE_MAX = 1000;

/** Returns the readable parts of a row's identity. */
function identityOf(element: unknown): Omit<UnreadableRow, 'why'> {
  if (typeof element !== 'object' || element === null || Array.isArray(element)) return {};
  const of = element as Row;
  const shapedAs = (field: string, shape: RegExp): string | undefined => {
    const found = of[field];
    return typeof found === 'string' && shape.test(found) ? found : undefined;
  };
  const origin = of['origin_id'];
  const ids = ['tid', 'eid', 'id'].flatMap(field => {
    const found = of[field];
    return typeof found === 'number' && Number.isSafeInteger(found)
      ? [String(found)]
      : (shapedAs(field, SHAPES.id) ?? []);
  });
  return present({
    book: shapedAs('book', SHAPES.book),
    currencies: currenciesOf(of),
    oid: shapedAs('oid', SHAPES.id),
    originId: origin === undefined || origin === null ? null : shapedAs('origin_id', SHAPES.originId),
    id: ids[0],
  });
}

/** Formats of names and ids (rest-api, Conventions). Text in another format is not used as an identity. */
const SHAPES = {
  book: /^[a-z0-9]{1,20}_[a-z0-9]{1,20}$/,
  currency: /^[A-Za-z0-9]{1,20}$/,
  id: /^[A-Za-z0-9_-]{1,64}$/,
  originId: /^[A-Za-z0-9_-]{1,40}$/,
} as const;

/**
 * Returns the currencies that a row names. The row is a balance, a transfer with its updates, or a trade with its fee.
 */
function currenciesOf(of: Row): readonly string[] | undefined {
  if (of['fees_currency'] !== undefined) return tradedIn(of);
  const updates = of['balance_updates'];
  const rows: readonly unknown[] = Array.isArray(updates) ? (updates as unknown[]) : [of];
  const names = rows.map(row => (typeof row === 'object' && row !== null ? (row as Row)['currency'] : undefined));
  if (names.length === 0 || !names.every(isTicker)) return undefined;
  return names.map(name => name.toLowerCase());
}

const isTicker = (name: unknown): name is string => typeof name === 'string' && SHAPES.currency.test(name);

/**
 * Returns the currencies of a trade, from its book or its own fields. The fee is in one of the two currencies unless
 * the row names another currency.
 */
function tradedIn(of: Row): readonly string[] | undefined {
  const { book, fees_currency: fee, major_currency: major, minor_currency: minor } = of;
  const pair = typeof book === 'string' && SHAPES.book.test(book) ? book.split('_') : [major, minor];
  if (!pair.every(isTicker)) return undefined;
  return [...new Set([...pair, ...(isTicker(fee) ? [fee] : [])].map(name => name.toLowerCase()))];
}

/** Reads a field that may be absent or null. */
export const optional = <T>(of: Row, field: string, read: (of: Row, field: string) => T): T | undefined =>
  of[field] === undefined || of[field] === null ? undefined : read(of, field);

/** Reads text, which may be empty; throws for a number. */
export function text(of: Row, field: string): string {
  const value = of[field];
  if (typeof value !== 'string') throw fault(field, 'text', value);
  return value;
}

/** Reads text that is not empty. */
export function filled(of: Row, field: string): string {
  const value = text(of, field);
  if (value === '') throw fault(field, 'non-empty text', value);
  return value;
}

/** Reads true or false; throws for "true" and 1. */
export function flag(of: Row, field: string): boolean {
  const value = of[field];
  if (typeof value !== 'boolean') throw fault(field, 'true or false', value);
  return value;
}

/** Reads unsigned decimal text. A JSON number is rejected, because it may have passed through a float. */
export function decimal(of: Row, field: string): DecimalText {
  const value = of[field];
  if (!isDecimalText(value)) throw fault(field, 'decimal digits', value);
  return value;
}

/** Reads decimal text without its optional minus, because trades show debits as negative (public facts 9.2). */
export function magnitude(of: Row, field: string): DecimalText {
  const value = of[field];
  const size = typeof value === 'string' && value.startsWith('-') ? value.slice(1) : value;
  if (!isDecimalText(size)) throw fault(field, 'decimal digits with an optional minus sign', value);
  return size;
}

/** Reads exact money from decimal text with an optional minus. */
export function sum(of: Row, field: string): Money {
  const size = magnitude(of, field);
  return moneyOf(of[field] === size ? size : `-${size}`);
}

const FIGURE = /^-?\d{1,40}(?:\.\d{1,60})?$/;

/** Reads signed decimal text of any length, for statistics that no order depends on. */
export function figure(of: Row, field: string): string {
  const value = of[field];
  if (typeof value !== 'string' || !FIGURE.test(value)) throw fault(field, 'a decimal figure', value);
  return value;
}

const INTEGER = /^\d{1,19}$/;

/** Reads a whole number of up to 64 bits with all digits; on the wire it is a number or text. */
export function integer(of: Row, field: string): bigint {
  const value = of[field];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  if (typeof value === 'string' && INTEGER.test(value)) return BigInt(value);
  throw fault(field, 'a whole number', value);
}

/** Reads a whole number within the safe integers. */
export function count(of: Row, field: string): number {
  const value = Number(integer(of, field));
  if (!Number.isSafeInteger(value)) throw fault(field, 'a whole number below 2^53', of[field]);
  return value;
}

/** Reads an identifier: text, or a whole number converted to text with all digits. */
export function identifier(of: Row, field: string): string {
  return typeof of[field] === 'number' ? integer(of, field).toString() : filled(of, field);
}

const shaped =
  (shape: RegExp, expected: string) =>
  (of: Row, field: string): string => {
    const value = of[field];
    if (typeof value !== 'string' || !shape.test(value)) throw fault(field, expected, value);
    return value;
  };

/** Reads the lower-case symbol of a book. */
export const bookName = shaped(SHAPES.book, 'a book like btc_mxn');
/** Reads the ticker of a currency, in any case. */
export const currencyName = shaped(SHAPES.currency, 'a ticker like btc');
/** Reads an order id assigned by the exchange. */
export const exchangeId = shaped(SHAPES.id, 'an order id');
/** Reads an id supplied by the client. */
export const originId = shaped(SHAPES.originId, 'an origin_id of 1 to 40 characters from a-z, A-Z, 0-9, _ and -');

/** Reads one of the allowed words, case-sensitive. */
export function oneOf<T extends string>(of: Row, field: string, allowed: readonly T[]): T {
  const value = of[field];
  const found = allowed.find(each => each === value);
  if (found === undefined) throw fault(field, `one of ${allowed.join(', ')}`, value);
  return found;
}

/** Reads a side as a word, as in REST; the stream uses 0 and 1 (rest-api 6). */
export const side = (of: Row, field: string): Side => oneOf(of, field, ['buy', 'sell']);

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):?(\d\d))$/;

/**
 * Reads a time in any format seen on the wire (public facts 3): `Z`, `+0000` or `+00:00`, with or without a fraction of
 * a second.
 */
export function time(of: Row, field: string): Millis {
  const parts = TIMESTAMP.exec(text(of, field));
  if (!parts) throw fault(field, 'an ISO 8601 time', of[field]);
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const local = Date.UTC(
    year,
    month - 1,
    day,
    hour,
    minute,
    second,
    Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0')),
  );
  const real =
    year >= 1970 &&
    // `Date` moves a day that does not exist into the next month, so the month shows whether the day exists.
    new Date(local).getUTCMonth() === month - 1 &&
    hour < 24 &&
    minute < 60 &&
    second < 60;
  const [offsetHours, offsetMinutes] = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)];
  if (!real || offsetHours > 23 || offsetMinutes > 59) throw fault(field, 'a valid date and time', of[field]);
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000;
  return parts[8] === '-' ? local + offset : local - offset;
}

/** Omits undefined fields, as exact optional properties require. */
export function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** Returns a fault for the caller to throw. Shows at most 60 characters of a text, and only the kind of a container. */
export function fault(field: string, expected: string, found: unknown): WireFault {
  return new WireFault(`${field}: expected ${expected}, found ${shownShortly(found)}`);
}

/**
 * Shortens a value for a fault. Does not print containers, because a hostile reply can nest deeper than a printer's
 * stack.
 */
function shownShortly(found: unknown): string {
  if (Array.isArray(found)) return 'an array';
  if (typeof found === 'object' && found !== null) return 'an object';
  if (found === undefined) return 'nothing';
  return JSON.stringify(typeof found === 'string' ? found.slice(0, 60) : found);
}
