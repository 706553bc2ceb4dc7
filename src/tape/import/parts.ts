/** Files of one book that follow each other in time, found by their names and put in order. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DecimalText, Instrument } from '../../core/index.ts';
import { tapeRules } from '../model/tapeRules.ts';
import { inferredTick } from './grid.ts';
import { firstLines } from './lines.ts';
import type { BookFiles, Recording } from './recording.ts';

/** What a person may say about a recording that does not say it itself. */
export type Given = {
  readonly book?: string;
  readonly format?: string;
  readonly tick?: DecimalText;
  readonly lot?: DecimalText;
};

/** One book that a folder can give. `name` is null where only a person knows which book it is. */
export type BookChoice = {
  readonly name: string | null;
  /** What the recording itself calls it, where that is not the name. */
  readonly called?: string;
  readonly open: (book: string, given: Given, onBytes: (count: number) => void) => Promise<Recording> | Recording;
};

/** A folder whose files are looked at. */
export type Found = {
  readonly dir: string;
  readonly files: readonly string[];
  readonly onBytes: (count: number) => void;
};

/** Named by a date or an hour, as archives name their folders: 2025-09-04, 20250904, 19, hour=19. */
export const isTimeFolder = (name: string): boolean =>
  /^(?:\d{1,2}|\d{4}(?:-?\d\d){0,2}(?:[T_-]?\d\d)?|(?:year|month|day|date|dt|hour)=[\w-]+)$/i.test(name);

/** Part 9 before part 10. */
const byName = new Intl.Collator('en', { numeric: true }).compare;
/** Folders below the one with a time in its name: hours, kinds, coins. */
const DEPTH_MAX = 5;

/** The names of the files in a folder, or of the one file. Rejects with an Error of one line. */
export async function filesAt(path: string): Promise<Pick<Found, 'dir' | 'files'>> {
  try {
    if ((await stat(path)).isFile()) return { dir: dirname(path), files: [basename(path)] };
    return { dir: path, files: (await readdir(path)).sort(byName) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    const why = code === 'ENOENT' ? 'no such folder' : code === 'ENOTDIR' ? 'not a folder' : code;
    throw new Error(`${path}: ${why}`, { cause: error });
  }
}

/** Of the files in folders that are named by times, in `dir` or in a folder of it (`BTC/2025-09-04/19/`): their paths from there. */
export async function filesBelow(dir: string, below = '', isTimed = false, depth = 0): Promise<readonly string[]> {
  if (depth > DEPTH_MAX) return [];
  const entries = await readdir(join(dir, below), { withFileTypes: true });
  const here = isTimed ? entries.filter(entry => entry.isFile()).map(({ name }) => join(below, name)) : [];
  const inside = entries
    .filter(entry => entry.isDirectory() && (isTimed || depth === 0 || isTimeFolder(entry.name)))
    .map(({ name }) => filesBelow(dir, join(below, name), isTimed || isTimeFolder(name), depth + 1));
  return [...here, ...(await Promise.all(inside)).flat()].sort(byName);
}

/** Files that belong together, of one book at one time. */
type Part = {
  readonly name: string | null;
  /** What its own rows call the book, where that is not the name. */
  readonly symbol?: string;
  readonly called?: string;
  /** What this venue's book is known to have; inferred from the prices where it is not said. */
  readonly tick?: DecimalText;
  readonly books: string;
  /** A file that goes before it, if it is there. */
  readonly before?: string;
  /** The file of its trades: null where they are in the same one. */
  readonly trades: string | null;
};

type Reader = (files: BookFiles, instrument: Instrument) => Recording;

/** Parts of one book are one recording, in the order of their first times. A part whose trades are missing is left out, and named; with none left, opening it rejects. */
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
      const open = () => Promise.reject(new Error(`${join(dir, books)}: there is no ${trades} beside it`));
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
    const notes = lonely.map(({ books, trades }) => `${books} left out: there is no ${trades} beside it`);
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

/** What is said of a tick that nobody gave. */
export const INFERRED = (tick: DecimalText) => `tick ${tick} inferred from the prices (or say --tick)`;

/** By the first time of the files with the books, which begins a line of theirs: a number or a date. */
async function inOrderOfTime(dir: string, parts: readonly Part[]): Promise<readonly Part[]> {
  const timed: { part: Part; at: number }[] = [];
  // One after another: a year of hours is more files than may be open at once.
  for (const part of parts) timed.push({ part, at: await startOf(join(dir, part.books)) });
  return timed.sort((a, b) => a.at - b.at).map(({ part }) => part);
}

async function startOf(path: string): Promise<number> {
  const cells = (await firstLines(path, 2)).map(line => /^\d[^, ]*/.exec(line)?.[0] ?? '');
  const times = cells.map(cell => (/^\d+(\.\d+)?$/.test(cell) ? Number(cell) : Date.parse(cell)));
  return times.find(at => !Number.isNaN(at)) ?? Infinity;
}

const QUOTES = ['usdt', 'usdc', 'fdusd', 'busd', 'usd', 'mxn', 'brl', 'eur', 'gbp', 'jpy', 'btc', 'eth'];

/** btc_usdt for BTCUSDT, BTC-USDT, BTC/USDT and btc_usdt; null for what does not say its two currencies. */
export function bookNameOf(symbol: string): string | null {
  const plain = symbol.toLowerCase();
  const split = /^([a-z0-9]{2,12})[-_/]([a-z0-9]{2,12})$/.exec(plain);
  if (split) return QUOTES.includes(split[2]!) ? `${split[1]}_${split[2]}` : null;
  const quote = QUOTES.find(each => plain.endsWith(each) && plain.length > each.length + 1);
  if (quote === undefined || !/^[a-z0-9]+$/.test(plain)) return null;
  return `${plain.slice(0, -quote.length)}_${quote}`;
}
