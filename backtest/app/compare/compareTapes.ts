/** The recordings of a comparison: every book of every path, or of the folders in it. What cannot be compared is left out by name. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  booksIn,
  isStoredTape,
  isTimeFolder,
  KIND,
  loadStoredTape,
  openStoredTape,
  openTape,
} from '../../../src/tape/index.ts';
import type { Tape } from '../../../src/tape/index.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { cutAt, spanOf } from '../backtest/market.ts';
import type { OpenedTape } from '../backtest/market.ts';
import { withProgress } from '../../../src/messages/progress.ts';
import type { OnShare, Progress } from '../../../src/messages/progress.ts';

export type FoundTape = {
  /** Short, and none else's. */
  readonly name: string;
  readonly given: Tape | OpenedTape;
};
/** And the file or folder that it is in. */
export type PlacedTape = FoundTape & { readonly path: string };
export type LeftOut = { readonly path: string; readonly why: string };

/** Paths are files or folders of recordings, or folders of those. Throws `UsageError` for a path that is not there. */
export async function findTapes(
  paths: readonly string[],
  progress: Progress,
  session?: string,
): Promise<{ readonly found: readonly PlacedTape[]; readonly leftOut: readonly LeftOut[] }> {
  const found: PlacedTape[] = [];
  const leftOut: LeftOut[] = [];
  for (const path of paths) {
    if (!existsSync(path)) throw new UsageError(`${path}: no such file or folder; expected recordings behind --tape`);
    for (const place of placesIn(path)) {
      try {
        for (const book of await booksIn(place)) {
          const given = await withProgress(progress, `reading ${pathName(place)}`, onShare =>
            opened(place, book, session, onShare),
          );
          const why = lacks(given);
          const full = `${pathName(place)} ${book ?? ''}`.trim();
          const short = shortName(originOf(given) ?? pathName(place), book ?? '');
          const name = [short, full, `${place} ${book ?? ''}`].find(one => !found.some(other => other.name === one));
          if (why !== null) leftOut.push({ path: full, why });
          else found.push({ name: name ?? full, path: place, given });
        }
      } catch (error) {
        const told = error instanceof Error ? error.message : String(error);
        leftOut.push({ path: pathName(place), why: firstClause(told, place) });
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
  // Hours and days of one recording are not many; a tape is one whatever it is called.
  const isOne = folders.every(folder => isTimeFolder(basename(folder)) && !isStoredTape(folder));
  return isOne || inside.some(entry => entry.isFile() && !/^(readme|licen[cs]e)/i.test(entry.name))
    ? [path]
    : folders.sort();
}

async function opened(
  path: string,
  book: string | undefined,
  session: string | undefined,
  onShare: OnShare,
): Promise<Tape | OpenedTape> {
  const options = { ...(book !== undefined && { book }), ...(session !== undefined && { session }) };
  return isStoredTape(path) ? { tape: openStoredTape(path, options), options } : openTape(path, options, onShare);
}

/** What a replay needs and this recording has not; null where it has all. */
function lacks(given: Tape | OpenedTape): string | null {
  const trades = 'options' in given ? given.tape.kinds.has(KIND.trade) : given.columns.kind.includes(KIND.trade);
  return trades ? null : 'no trades: nothing can be filled';
}

/** Fewer seconds do not tell arrivals: they are counted in windows of 20 s. More than this share is not taken for it. */
export const SECONDS_LEAST = 240;
const SHARE_MOST = 0.6;
const endOf = (from: number, to: number, share: number): number =>
  Math.floor(from + Math.max(share * (to - from), Math.min(SHARE_MOST * (to - from), SECONDS_LEAST * 1_000)));

/** The first share of a recording, and at least what it takes to measure anything, in memory; with `since` all that is before it. And where it ends. */
export function firstPart(
  given: Tape | OpenedTape,
  share: number,
  since?: number,
): { readonly tape: Tape; readonly until: number } {
  const { from, to } = spanOf(given);
  const until = since === undefined ? endOf(from, to, share) : since;
  const first = cutAt(given, until);
  return { tape: 'options' in first ? loadStoredTape(first.tape) : first, until };
}

/** What stands before the first date, without the book: "bitstamp btc_usd" of bitstamp-btcusd-2015-05-01-books. */
const shortName = (name: string, book: string): string => {
  const dated = name.search(/-\d/);
  const undated = dated < 0 ? name : name.slice(0, dated);
  const end = `-${book.replaceAll('_', '')}`;
  const words = undated.endsWith(end) ? undated.slice(0, -end.length) : undated;
  return `${words} ${book}`.trim();
};
/** Of a stored tape the file or folder that it was imported from, without the endings of its name. */
const originOf = (given: Tape | OpenedTape): string | null =>
  'options' in given && given.tape.source.includes('/')
    ? pathName(given.tape.source).replace(
        /(?:\.(?:csv|log|jsonl?|ndjson|parquet|np[yz]))?(?:\.(?:gz|zst|lz4|zip))?$/,
        '',
      )
    : null;
const pathName = (path: string): string => basename(path) || path;
/** Without the path before it and what would be right after it: the page has a line for it. */
const firstClause = (text: string, path: string): string => text.replace(`${path}: `, '').split(';')[0] ?? text;
