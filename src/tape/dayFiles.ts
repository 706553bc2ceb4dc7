/** Where a stored tape lies: `DIR/book=btc_mxn/day=2026-11-21/`, and what the first frame of a day says. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BookRules, DecimalText, Millis } from '../core/index.ts';

/** Sealed blocks. */
export const ROWS_FILE = 'rows.tape';
/** What came since the last sealed block; only while a day is being recorded, or after a recorder died. */
export const TAIL_FILE = 'rows.tail';
export const FORMAT = 'puntas tape';
export const VERSION = 1;

export const DAY_MS = 86_400_000;
/** The UTC day of a time, like 2026-11-21. */
export const dayOf = (at: Millis): string => new Date(at).toISOString().slice(0, 10);
export const startOfDay = (day: string): Millis => Date.parse(`${day}T00:00:00Z`);

export const bookFolder = (dir: string, book: string): string => join(dir, `book=${book}`);
export const dayFolder = (dir: string, book: string, day: string): string => join(bookFolder(dir, book), `day=${day}`);

/** The first frame of each day's file. */
export type Head = {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  readonly book: string;
  readonly day: string;
  /** The day of the rows before these; null at the beginning of a tape. */
  readonly previous: string | null;
  readonly lot: DecimalText;
  /** Where the rows come from, for people. */
  readonly source: string;
  /** Levels a side that are shown; null: all. */
  readonly depth: number | null;
  readonly quotesOnly: boolean;
  /** In force when the day began; amounts are in lots, prices in ticks of these until they change. */
  readonly rules: BookRules;
};

/** Checks what a file says of itself. Throws an Error of one line. */
export function headOf(value: unknown, path: string): Head {
  const head = value as Partial<Head> | null;
  if (head?.format !== FORMAT) throw new Error(`${path}: not a tape of this program (it begins with no "${FORMAT}")`);
  if (head.version !== VERSION) {
    throw new Error(
      `${path}: is of version ${String(head.version)} of the format; this program reads version ${VERSION}`,
    );
  }
  const { book, day, previous, lot, source, depth, quotesOnly, rules } = head;
  const texts = [book, day, previous ?? '', lot, source].every(text => typeof text === 'string');
  if (!texts || !(depth === null || typeof depth === 'number') || typeof quotesOnly !== 'boolean' || !isRules(rules)) {
    throw new Error(`${path}: its first frame lacks book, day, lot, source, depth or rules`);
  }
  return head as Head;
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

export const isRules = (value: unknown): value is BookRules =>
  typeof value === 'object' && value !== null && RULES.every(key => typeof (value as BookRules)[key] === 'string');

/** Only what the rules are, in one order. */
export const plainRules = (rules: BookRules): BookRules =>
  Object.fromEntries(RULES.map(key => [key, rules[key]])) as BookRules;

export const sameRules = (a: BookRules, b: BookRules): boolean => RULES.every(key => a[key] === b[key]);

/** Names after `prefix` of the folders in `dir`, sorted; none where it does not exist. */
export function partitions(dir: string, prefix: 'book=' | 'day='): readonly string[] {
  try {
    return readdirSync(dir)
      .filter(name => name.startsWith(prefix))
      .map(name => name.slice(prefix.length))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
