/** Where a stored tape lies: `DIR/book=btc_mxn/day=2026-11-21/`, and what the first frame of a day says. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDecimalText, shownText } from '../../core/index.ts';
import type { BookRules, DecimalText, Millis } from '../../core/index.ts';
import type { DataFlaw, Gap } from '../model/tape.ts';

/** Sealed blocks. */
export const ROWS_FILE = 'rows.tape';
/** What came since the last sealed block; only while a day is being recorded, or after a recorder died. */
export const TAIL_FILE = 'rows.tail';
export const FORMAT = 'puntas tape';
export const VERSION = 1;

export const DAY_MS = 86_400_000;
/** The UTC day of a time, like 2026-11-21. */
export const dayOf = (at: Millis): string => new Date(at).toISOString().slice(0, 10);
/** Midnight UTC of a day like 2026-11-21, in ms since 1970; NaN of what is no date. */
export const startOfDay = (day: string): Millis => Date.parse(`${day}T00:00:00Z`);

/** `DIR/book=btc_mxn`; the name is taken as it is. */
export const bookFolder = (dir: string, book: string): string => join(dir, `book=${book}`);
/** `DIR/book=btc_mxn/day=2026-11-21`; names are taken as they are. */
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
  /** Levels a side that are shown, 0 for trades alone; null: all. */
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
  const isWhole =
    [book, rules?.book].every(name => typeof name === 'string' && BOOK.test(name)) &&
    [day, previous ?? day].every(text => typeof text === 'string' && DAY.test(text)) &&
    isAmount(lot) &&
    typeof source === 'string' &&
    (depth === null || (Number.isSafeInteger(depth) && depth! >= 0)) &&
    typeof quotesOnly === 'boolean' &&
    isRules(rules);
  if (!isWhole)
    throw new Error(`${path}: its first frame lacks book, day, lot, source, depth or rules, or they are none`);
  return { ...(head as Head), source: toldText(source) };
}

/** Letters that mean nothing to a page, a path or a terminal. */
const BOOK = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const isAmount = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= 64 && isDecimalText(value) && !value.startsWith('-');

/** Longer than any path or sentence that this program writes. */
const TOLD_MAX = 1_000;

/** What a tape says to people: whoever made it may have put anything there. */
const toldText = (text: string): string => shownText(text.slice(0, TOLD_MAX));

/** A gap as a frame tells it; null when it is none. */
export function gapOf({ from, to, why }: Readonly<Record<string, unknown>>): Gap | null {
  if (!Number.isFinite(from) || !Number.isFinite(to) || !((from as number) <= (to as number))) return null;
  return { from: from as number, to: to as number, why: toldText(String(why)) };
}

/** Flaws as a frame tells it; null when any of it is none. */
export function flawsOf(entries: unknown): readonly DataFlaw[] | null {
  if (!Array.isArray(entries)) return null;
  const found: DataFlaw[] = [];
  for (const entry of entries as readonly unknown[]) {
    const { what, count, done, first } = (entry ?? {}) as Readonly<Record<string, unknown>>;
    const isFlaw = typeof what === 'string' && typeof done === 'string' && Number.isSafeInteger(count);
    if (!isFlaw || !(first === undefined || typeof first === 'string')) return null;
    const place = first === undefined ? {} : { first: toldText(first) };
    found.push({ what: toldText(what), count: count as number, done: toldText(done), ...place });
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

/** A book's name and seven unsigned decimals of at most 64 characters; whether they fit together is not asked, and more fields may be there. */
export const isRules = (value: unknown): value is BookRules =>
  typeof value === 'object' &&
  value !== null &&
  RULES.every(key =>
    key === 'book' ? BOOK.test(String((value as BookRules)[key])) : isAmount((value as BookRules)[key]),
  );

/** Only what the rules are, in one order. */
export const plainRules = (rules: BookRules): BookRules =>
  Object.fromEntries(RULES.map(key => [key, rules[key]])) as BookRules;

/** Compares the text of the eight fields that `plainRules` keeps: 0.1 and 0.10 are not the same. */
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
