/** Folders and files of a stored tape, such as `DIR/book=btc_mxn/day=2026-11-21/`, and the first frame of a day. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathLine } from '../../guard/index.ts';
import { isDecimalText, shownText, type BookRules, type DecimalText, type Millis } from '../../core/index.ts';
import type { DataFlaw, Gap } from '../model/tape.ts';

/** Name of the file with the sealed blocks. */
export const ROWS_FILE = 'rows.tape';
/**
 * Name of the file with the rows after the last sealed block. The file exists only during a recording, and after a
 * crash of the recorder.
 */
export const TAIL_FILE = 'rows.tail';
export const FORMAT = 'puntas tape';
export const VERSION = 1;

/** Returns the UTC day of a time, such as 2026-11-21. */
export const dayOf = (at: Millis): string => new Date(at).toISOString().slice(0, 10);
/** Returns midnight UTC of a day such as 2026-11-21, in epoch ms; NaN if the text is not a date. */
export const startOfDay = (day: string): Millis => Date.parse(`${day}T00:00:00Z`);

/** Returns the path `DIR/book=btc_mxn`; does not check the name. */
export const bookFolder = (dir: string, book: string): string => join(dir, `book=${book}`);
/** Returns the path `DIR/book=btc_mxn/day=2026-11-21`; does not check the names. */
export const dayFolder = (dir: string, book: string, day: string): string => join(bookFolder(dir, book), `day=${day}`);

/** First frame of each day's file. */
export type Head = {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  readonly book: string;
  readonly day: string;
  /** Previous day of the tape; `null` for the first day. */
  readonly previous: string | null;
  readonly lot: DecimalText;
  /** Origin of the rows, as text for the operator. */
  readonly source: string;
  /** Number of levels per side in the source; 0 for trades only, `null` for all levels. */
  readonly depth: number | null;
  readonly quotesOnly: boolean;
  /**
   * Rules in force at the start of the day. Until the rules change, prices are in ticks of these rules; amounts are in
   * lots.
   */
  readonly rules: BookRules;
};

/** Checks and returns the head of a file. Throws an Error of one line if it is invalid. */
export function headOf(value: unknown, path: string): Head {
  const head = value as Partial<Head> | null;
  if (head?.format !== FORMAT) throw new Error(`${path}: not a Puntas tape; expected "${FORMAT}" at the start`);
  if (head.version !== VERSION) {
    throw new Error(`${path}: has format version ${String(head.version)}, but this program reads version ${VERSION}`);
  }
  const { book, day, previous, lot, source, depth, quotesOnly, rules } = head;
  const isWhole =
    [book, rules?.book].every(name => typeof name === 'string' && BOOK.test(name)) &&
    [day, previous ?? day].every(text => typeof text === 'string' && DAY.test(text)) &&
    isAmount(lot) &&
    typeof source === 'string' &&
    (depth === null || (Number.isSafeInteger(depth) && depth! >= 0)) &&
    typeof quotesOnly === 'boolean' &&
    isRules(rules);
  if (!isWhole) throw new Error(`${path}: expected a valid book, day, lot, source, depth and rules in the first frame`);
  return { ...(head as Head), source: printableText(source) };
}

/** Valid name of a book, without characters that are special in HTML, paths or terminals. */
const BOOK = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const isAmount = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= 64 && isDecimalText(value) && !value.startsWith('-');

/** Maximum length of a text in a tape, in characters; this program writes only shorter texts. */
const TOLD_MAX = 1_000;

/** Makes text from a tape safe to print, because the tape may be from an untrusted author. */
const printableText = (text: string): string => shownText(text.slice(0, TOLD_MAX));

/** Parses the gap of a frame; returns `null` if it is invalid. */
export function gapOf({ from, to, why }: Readonly<Record<string, unknown>>): Gap | null {
  if (!Number.isFinite(from) || !Number.isFinite(to) || !((from as number) <= (to as number))) return null;
  return { from: from as number, to: to as number, why: printableText(String(why)) };
}

/** Parses the flaws of a frame; returns `null` if any is invalid. */
export function flawsOf(entries: unknown): readonly DataFlaw[] | null {
  if (!Array.isArray(entries)) return null;
  const found: DataFlaw[] = [];
  for (const entry of entries as readonly unknown[]) {
    const { what, count, done, first } = (entry ?? {}) as Readonly<Record<string, unknown>>;
    const isFlaw = typeof what === 'string' && typeof done === 'string' && Number.isSafeInteger(count);
    if (!isFlaw || !(first === undefined || typeof first === 'string')) return null;
    const place = first === undefined ? {} : { first: printableText(first) };
    found.push({ what: printableText(what), count: count as number, done: printableText(done), ...place });
  }
  return found;
}

const RULES: readonly (keyof BookRules)[] = [
  'book',
  'tickSize',
  'minimumAmount',
  'maximumAmount',
  'minimumPrice',
  'maximumPrice',
  'minimumValue',
  'maximumValue',
];

/**
 * Whether the value has the fields of `BookRules`: a book name and seven unsigned decimals of at most 64 characters.
 * Other fields may be present, and the consistency of the values is not checked.
 */
export const isRules = (value: unknown): value is BookRules =>
  typeof value === 'object' &&
  value !== null &&
  RULES.every(key =>
    key === 'book' ? BOOK.test(String((value as BookRules)[key])) : isAmount((value as BookRules)[key]),
  );

/** Returns a copy with only the fields of `BookRules`, in a fixed order. */
export const plainRules = (rules: BookRules): BookRules =>
  Object.fromEntries(RULES.map(key => [key, rules[key]])) as BookRules;

/** Whether all eight fields of `BookRules` are equal as text: 0.1 and 0.10 differ. */
export const sameRules = (a: BookRules, b: BookRules): boolean => RULES.every(key => a[key] === b[key]);

/**
 * Returns the names of the folders in `dir` that start with `prefix`, sorted and without this prefix; empty if `dir`
 * does not exist.
 */
export function partitions(dir: string, prefix: 'book=' | 'day='): readonly string[] {
  try {
    return readdirSync(dir)
      .filter(name => name.startsWith(prefix))
      .map(name => name.slice(prefix.length))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new Error(pathLine(dir, error, 'read', 'give the path of a recording'), { cause: error });
  }
}
