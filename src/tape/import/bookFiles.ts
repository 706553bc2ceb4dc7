/** Files of one book, found by name and sorted by time. */
import { readdir, stat } from 'node:fs/promises';
import { pathProblem } from '../../guard/index.ts';
import { basename, dirname, join } from 'node:path';
import type { DecimalText, Instrument } from '../../core/index.ts';
import { tapeRules } from '../model/tapeRules.ts';
import { inferredTick } from './inferredGrid.ts';
import { firstLines } from './lines.ts';
import type { BookFiles, Recording } from './recording.ts';

/** Properties that the operator can give for a recording that lacks them. */
export type Given = {
  readonly book?: string;
  readonly format?: string;
  readonly tick?: DecimalText;
  readonly lot?: DecimalText;
};

/** Book found in a folder. `name` is `null` if only the operator can name the book. */
export type BookChoice = {
  readonly name: string | null;
  /** Name of the book in the recording, if it differs from `name`. */
  readonly called?: string;
  readonly open: (book: string, given: Given, onBytes: (count: number) => void) => Promise<Recording> | Recording;
};

/** Folder, and the files in the folder. */
export type Found = {
  readonly dir: string;
  readonly files: readonly string[];
  readonly onBytes: (count: number) => void;
};

/** Whether a folder name is a date or an hour, as in archives: 2025-09-04, 20250904, 19, hour=19. */
export const isTimeFolder = (name: string): boolean =>
  /^(?:\d{1,2}|\d{4}(?:-?\d\d){0,2}(?:[T_-]?\d\d)?|(?:year|month|day|date|dt|hour)=[\w-]+)$/i.test(name);

/** Compares names so that part 9 precedes part 10. */
const byName = new Intl.Collator('en', { numeric: true }).compare;
/** Maximum depth of the folders that are searched, such as coin, day, hour and kind. */
const DEPTH_MAX = 5;

/** Lists the files of a folder, or a single file. Rejects with an Error of one line. */
export async function filesAt(path: string): Promise<Pick<Found, 'dir' | 'files'>> {
  const problem = pathProblem(path, 'any', 'read');
  if (problem !== null) throw new Error(`${path}: ${problem}; give the path of a recording`);
  if ((await stat(path)).isFile()) return { dir: dirname(path), files: [basename(path)] };
  return { dir: path, files: (await readdir(path)).sort(byName) };
}

/**
 * Lists the files in folders named by times, in `dir` or one of its folders (`BTC/2025-09-04/19/`), as paths relative
 * to `dir`.
 */
export async function filesBelow(dir: string, below = '', isTimed = false, depth = 0): Promise<readonly string[]> {
  if (depth > DEPTH_MAX) return [];
  const entries = await readdir(join(dir, below), { withFileTypes: true });
  const here = isTimed ? entries.filter(entry => entry.isFile()).map(({ name }) => join(below, name)) : [];
  const inside = entries
    .filter(entry => entry.isDirectory() && (isTimed || depth === 0 || isTimeFolder(entry.name)))
    .map(({ name }) => filesBelow(dir, join(below, name), isTimed || isTimeFolder(name), depth + 1));
  return [...here, ...(await Promise.all(inside)).flat()].sort(byName);
}

/** Files of one book and one time range. */
type Part = {
  readonly name: string | null;
  /** Name of the book in its rows, if different. */
  readonly symbol?: string;
  readonly called?: string;
  /** Known tick of the book; if omitted, the tick is inferred from the prices. */
  readonly tick?: DecimalText;
  readonly books: string;
  /** File to read before `books`, if it exists. */
  readonly before?: string;
  /** File of the trades; `null` if `books` contains the trades. */
  readonly trades: string | null;
};

type Reader = (files: BookFiles, instrument: Instrument) => Recording;

/**
 * Combines the parts of each book into one recording, in order of their first times. A part without its file of trades
 * is skipped and reported. If no part remains, `open` rejects.
 */
export async function booksOfParts(
  { dir, files }: Found,
  reader: Reader,
  pattern: RegExp,
  partOf: (groups: readonly string[]) => Omit<Part, 'books'>,
): Promise<readonly BookChoice[]> {
  const parts = files.flatMap((books): Part[] => {
    const match = pattern.exec(basename(books));
    if (match === null) return [];
    const { before, trades, ...part } = partOf(match.slice(1));
    const beside = (name: string) => join(dirname(books), name);
    return [
      { ...part, books, ...(before && { before: beside(before) }), trades: trades === null ? null : beside(trades) },
    ];
  });
  const choices: BookChoice[] = [];
  for (const key of new Set(parts.map(({ name, called }) => name ?? called))) {
    const of = parts.filter(({ name, called }) => (name ?? called) === key);
    const whole = of.filter(({ trades }) => trades === null || files.includes(trades));
    const [first] = whole;
    if (first === undefined) {
      const [{ name, called, books, trades }] = of as [Part];
      const open = () =>
        Promise.reject(new Error(`${join(dir, books)}: expected the file ${trades} in the same folder, found none`));
      choices.push({ name, ...(called === undefined ? {} : { called }), open });
      continue;
    }
    const sorted = await inOrderOfTime(dir, whole);
    const joined: BookFiles = {
      books: sorted.flatMap(({ before, books }) =>
        [...(before !== undefined && files.includes(before) ? [before] : []), books].map(name => join(dir, name)),
      ),
      trades: sorted.flatMap(({ trades }) => (trades === null ? [] : [join(dir, trades)])),
    };
    const lonely = of.filter(part => !whole.includes(part));
    const notes = lonely.map(
      ({ books, trades }) => `${books} skipped: the file ${trades} is missing in the same folder`,
    );
    choices.push({
      name: first.name,
      ...(first.called === undefined ? {} : { called: first.called }),
      open: (book, given, onBytes) =>
        opened(reader, joined, { ...first, name: first.symbol ?? book }, given, notes, onBytes),
    });
  }
  return choices;
}

async function opened(
  reader: Reader,
  files: BookFiles,
  { name, tick: known }: { readonly name: string; readonly tick?: DecimalText },
  given: Given,
  notes: readonly string[],
  onBytes: (count: number) => void,
): Promise<Recording> {
  const tick =
    given.tick ??
    known ??
    (await inferredTick(finest => reader(files, tapeRules(name, finest, given.lot).instrument), onBytes));
  const recording = reader(files, tapeRules(name, tick, given.lot).instrument);
  const inferred = given.tick === undefined && known === undefined ? [INFERRED(tick)] : [];
  return { ...recording, notes: [...recording.notes, ...inferred, ...notes] };
}

/** Returns a note for the operator that the tick was inferred. */
export const INFERRED = (tick: DecimalText) => `tick size ${tick} was inferred from the prices (override with --tick)`;

/** Sorts parts by the first time in their book files: a number or a date at the start of a line. */
async function inOrderOfTime(dir: string, parts: readonly Part[]): Promise<readonly Part[]> {
  const timed: { part: Part; at: number }[] = [];
  // The files are read one after another, because hourly files of a year would exceed the limit of open files.
  for (const part of parts) timed.push({ part, at: await startOf(join(dir, part.books)) });
  return timed.sort((a, b) => a.at - b.at).map(({ part }) => part);
}

async function startOf(path: string): Promise<number> {
  const cells = (await firstLines(path, 2)).map(line => /^\d[^, ]*/.exec(line)?.[0] ?? '');
  const times = cells.map(cell => (/^\d+(\.\d+)?$/.test(cell) ? Number(cell) : Date.parse(cell)));
  return times.find(at => !Number.isNaN(at)) ?? Infinity;
}

const QUOTES = ['usdt', 'usdc', 'fdusd', 'busd', 'usd', 'mxn', 'brl', 'eur', 'gbp', 'jpy', 'btc', 'eth'];

/**
 * Returns a book name such as btc_usdt for BTCUSDT, BTC-USDT, BTC/USDT and btc_usdt; `null` if the two currencies
 * cannot be determined.
 */
export function bookNameOf(symbol: string): string | null {
  const plain = symbol.toLowerCase();
  const split = /^([a-z0-9]{2,12})[-_/]([a-z0-9]{2,12})$/.exec(plain);
  if (split) return QUOTES.includes(split[2]!) ? `${split[1]}_${split[2]}` : null;
  const quote = QUOTES.find(each => plain.endsWith(each) && plain.length > each.length + 1);
  if (quote === undefined || !/^[a-z0-9]+$/.test(plain)) return null;
  return `${plain.slice(0, -quote.length)}_${quote}`;
}
