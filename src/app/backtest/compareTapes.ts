/** The recordings of a comparison: every book of every path, or of the folders in it. What cannot be compared is left out by name. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { booksIn, isStoredTape, KIND, loadStoredTape, openStoredTape, openTape } from '../../tape/index.ts';
import type { Tape } from '../../tape/index.ts';
import { UsageError } from '../wiring/usageError.ts';
import type { OpenedTape } from './market.ts';

export type FoundTape = {
  /** Short, and none else's. */
  readonly name: string;
  readonly given: Tape | OpenedTape;
};
export type LeftOut = { readonly path: string; readonly why: string };

/** Paths are files or folders of recordings, or folders of those. Throws `UsageError` for a path that is not there. */
export async function findTapes(
  paths: readonly string[],
): Promise<{ readonly found: readonly FoundTape[]; readonly leftOut: readonly LeftOut[] }> {
  const found: FoundTape[] = [];
  const leftOut: LeftOut[] = [];
  for (const path of paths) {
    if (!existsSync(path)) throw new UsageError(`${path}: no such file or folder; expected recordings behind --tape`);
    for (const place of placesIn(path)) {
      try {
        for (const book of await booksIn(place)) {
          const given = await opened(place, book);
          const why = lacks(given);
          const full = `${nameOf(place)} ${book ?? ''}`.trim();
          const short = shortName(nameOf(place), book ?? '');
          const name = [short, full, `${place} ${book ?? ''}`].find(one => !found.some(other => other.name === one));
          if (why !== null) leftOut.push({ path: full, why });
          else found.push({ name: name ?? full, given });
        }
      } catch (error) {
        const told = error instanceof Error ? error.message : String(error);
        leftOut.push({ path: nameOf(place), why: firstClause(told, place) });
      }
    }
  }
  return { found, leftOut };
}

/** The path itself where it holds recordings, else every folder in it. */
function placesIn(path: string): readonly string[] {
  if (!statSync(path).isDirectory() || isStoredTape(path)) return [path];
  const inside = readdirSync(path, { withFileTypes: true });
  const folders = inside.filter(entry => entry.isDirectory()).map(entry => join(path, entry.name));
  return folders.length === 0 || inside.some(entry => entry.isFile() && !/^(readme|licen[cs]e)/i.test(entry.name))
    ? [path]
    : folders.sort();
}

async function opened(path: string, book: string | undefined): Promise<Tape | OpenedTape> {
  const options = book === undefined ? {} : { book };
  return isStoredTape(path) ? { tape: openStoredTape(path, options), options } : openTape(path, options);
}

/** What a replay needs and this recording has not; null where it has all. */
function lacks(given: Tape | OpenedTape): string | null {
  const { quotesOnly } = 'options' in given ? given.tape : given;
  if (quotesOnly) return 'best prices only, without amounts and trades: nothing can be filled';
  const trades = 'options' in given ? given.tape.kinds.has(KIND.trade) : given.columns.kind.includes(KIND.trade);
  return trades ? null : 'no trades: nothing can be filled';
}

/** Fewer seconds do not tell arrivals: they are counted in windows of 20 s. More than this share is not taken for it. */
const SECONDS_LEAST = 240;
const SHARE_MOST = 0.6;
const endOf = (from: number, to: number, share: number): number =>
  Math.floor(from + Math.max(share * (to - from), Math.min(SHARE_MOST * (to - from), SECONDS_LEAST * 1_000)));

/** The first share of a recording, and at least what it takes to measure anything, in memory; and where it ends. */
export function firstPart(given: Tape | OpenedTape, share: number): { readonly tape: Tape; readonly until: number } {
  if ('options' in given) {
    const { dir, from, to } = given.tape;
    const until = endOf(from, to, share);
    return { tape: loadStoredTape(openStoredTape(dir, { ...given.options, from, to: until })), until };
  }
  const { at, length } = given.columns;
  const [from, to] = [at[0] ?? 0, at[length - 1] ?? 0];
  const until = endOf(from, to, share);
  let rows = 0;
  while (rows < length && at[rows]! <= until) rows++;
  const { kind, side, local, price, amount, id } = given.columns;
  const columns = {
    length: rows,
    kind: kind.subarray(0, rows),
    side: side.subarray(0, rows),
    at: at.subarray(0, rows),
    local: local.subarray(0, rows),
    price: price.subarray(0, rows),
    amount: amount.subarray(0, rows),
    id: id.subarray(0, rows),
  };
  return { tape: { ...given, columns, gaps: given.gaps.filter(gap => gap.from < until) }, until };
}

/** What stands before the first date, without the book: "bitstamp btc_usd" of bitstamp-btcusd-2015-05-01-books. */
const shortName = (name: string, book: string): string => {
  const words = name.replace(/-\d.*$/, '').replace(new RegExp(`-${book.replaceAll('_', '')}$`), '');
  return `${words} ${book}`.trim();
};
const nameOf = (path: string): string => basename(path.replace(/\/+$/, '')) || path;
/** Without the path before it and what would be right after it: the page has a line for it. */
const firstClause = (text: string, path: string): string => text.replace(`${path}: `, '').split(';')[0] ?? text;
