/**
 * Recordings of a comparison: every book in every given path, or in the folders of that path. Unusable recordings are
 * reported by name.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { textOfError } from '../../../src/core/index.ts';
import {
  booksIn,
  gapMs,
  gapsWithin,
  isStoredTape,
  isTimeFolder,
  KIND,
  loadStoredTape,
  openStoredTape,
  openTape,
  type Gap,
  type Tape,
} from '../../../src/tape/index.ts';
import type { ComparedTape } from '../../index.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { cutAt, spanOf, type OpenedTape } from '../backtest/market.ts';
import { withProgress, type OnShare, type Progress } from '../../../src/messages/progress.ts';

export type FoundTape = {
  /** Short, unique name of the recording. */
  readonly name: string;
  readonly given: Tape | OpenedTape;
};
/** Tape that was found, with its file or folder. */
export type PlacedTape = FoundTape & { readonly path: string };
export type LeftOut = { readonly path: string; readonly why: string };

/**
 * Finds the recordings at `paths`, and in the folders that these paths contain. With `hasAll`, also returns recordings
 * that cannot be replayed. Throws `UsageError` for a missing path.
 */
export async function findTapes(
  paths: readonly string[],
  progress: Progress,
  session?: string,
  hasAll = false,
): Promise<{ readonly found: readonly PlacedTape[]; readonly leftOut: readonly LeftOut[] }> {
  const found: PlacedTape[] = [];
  const leftOut: LeftOut[] = [];
  for (const path of paths) {
    if (!existsSync(path)) throw new UsageError(`${path}: no such file or folder; expected recordings for --tape`);
    for (const place of placesIn(path)) {
      try {
        for (const book of await booksIn(place)) {
          const given = await withProgress(progress, `reading ${pathName(place)}`, onShare =>
            opened(place, book, session, onShare),
          );
          const why = hasAll ? null : missingForReplay(given);
          const full = `${pathName(place)} ${book ?? ''}`.trim();
          const short = shortName(originOf(given) ?? pathName(place), book ?? '');
          const name = [short, full, `${place} ${book ?? ''}`].find(one => !found.some(other => other.name === one));
          if (why !== null) leftOut.push({ path: full, why });
          else found.push({ name: name ?? full, path: place, given });
        }
      } catch (error) {
        const told = textOfError(error);
        leftOut.push({ path: pathName(place), why: firstClause(told, place) });
      }
    }
  }
  return { found, leftOut };
}

/** Returns `path` if it is a recording, otherwise the paths of all folders in it. */
function placesIn(path: string): readonly string[] {
  if (!statSync(path).isDirectory() || isStoredTape(path)) return [path];
  const inside = readdirSync(path, { withFileTypes: true });
  const folders = inside.filter(entry => entry.isDirectory()).map(entry => join(path, entry.name));
  // Folders of hours or days form one recording. A stored tape is a recording by itself, whatever its name.
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

/** Returns the symbol of the recorded book. */
export const recordedBook = (given: Tape | OpenedTape): string =>
  'options' in given ? given.tape.book : given.instrument.symbol;

/** Returns the number and the length of gaps in the traded time. */
export function tradedGaps(gaps: readonly Gap[], from: number, to: number): ComparedTape['gaps'] {
  const traded = gapsWithin(gaps, from, to);
  return { count: traded.length, seconds: gapMs(traded) / 1000 };
}

/** Returns the reason why the recording cannot be replayed; `null` if it can be replayed. */
export function missingForReplay(given: Tape | OpenedTape): string | null {
  const trades = 'options' in given ? given.tape.kinds.has(KIND.trade) : given.columns.kind.includes(KIND.trade);
  return trades ? null : 'the recording has no trades, so no order can be filled';
}

/**
 * Minimum length of the measured part, in seconds, because arrivals are measured in windows of 20 s. The measured part
 * never exceeds `SHARE_MAX` of the recording.
 */
export const SECONDS_MIN = 240;
const SHARE_MAX = 0.6;
const endOf = (from: number, to: number, share: number): number =>
  Math.floor(from + Math.max(share * (to - from), Math.min(SHARE_MAX * (to - from), SECONDS_MIN * 1_000)));

/**
 * Loads the first `share` of a recording, extended to the minimum for measuring; with `since`, loads everything before
 * `since`. Also returns the end of that part, in epoch ms.
 */
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

/**
 * Returns a short name: the file name up to its first date, with the name of the book at its end removed, followed by
 * `book`. For bitstamp-btcusd-2015-05-01-books it is "bitstamp btc_usd".
 */
const shortName = (name: string, book: string): string => {
  const dated = name.search(/-\d/);
  const undated = dated < 0 ? name : name.slice(0, dated);
  const end = `-${book.replaceAll('_', '')}`;
  const words = undated.endsWith(end) ? undated.slice(0, -end.length) : undated;
  return `${words} ${book}`.trim();
};
/** Source file or folder of a stored tape, without file endings; `null` if an exchange or a run is its source. */
const originOf = (given: Tape | OpenedTape): string | null =>
  'options' in given && given.tape.source.includes('/') && !/^\w+:\/\//.test(given.tape.source)
    ? pathName(given.tape.source).replace(
        /(?:\.(?:csv|log|jsonl?|ndjson|parquet|np[yz]))?(?:\.(?:gz|zst|lz4|zip))?$/,
        '',
      )
    : null;
/**
 * Returns the last part of a path. For a mapping file, returns its name without the ending, or its folder's name if no
 * name remains.
 */
export const pathName = (path: string): string =>
  basename(path).replace(/^mapping\.ya?ml$|\.mapping\.ya?ml$/, '') || basename(dirname(path)) || path;
/** Removes the path and the remedy from a message, because the page has one line for the reason. */
const firstClause = (text: string, path: string): string => text.replace(`${path}: `, '').split(';')[0] ?? text;
