/** The journal of a live file's promotions: only ever appended to, each line synced, bound to the one before it, and with a digest of itself at its end. */
import { LARGE_FILE, readRegularFile } from '../../guard/index.ts';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { appendLineDurably } from '../../live/files/durableFiles.ts';
import { assertFolderTrusted } from '../../live/files/stateDir.ts';
import { lockFolder } from '../../live/files/folderLock.ts';
import { digestOf } from '../run/reloading.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { liveTextOf, realPlace } from './liveFile.ts';
import type { PromotionRecord } from './records.ts';
import { after, NOTHING } from './standing.ts';
import type { Standing } from './standing.ts';

/** Beside a file, with its name: `my.yaml` has `my.promotions`, and `my.yml`, which may lie beside it, `my.yml.promotions`. */
const dirBeside = (file: string): string => join(dirname(file), `${basename(file, '.yaml')}.promotions`);

/** Beside the live file itself, whatever links lead there: one file has one journal. What an earlier version left beside a link stays in use. Throws `UsageError` where there is one at either place. */
export function promotionsDir(liveFile: string): string {
  const [named, real] = [dirBeside(resolve(liveFile)), dirBeside(realPlace(liveFile))];
  if (realPlace(named) === realPlace(real)) return named;
  if (!existsSync(join(named, FILE))) return real;
  if (existsSync(join(real, FILE)))
    throw new UsageError(
      `${liveFile}: is a link to ${realPlace(liveFile)}, and both have promotions: ${named} and ${real}; look which of them counts, and move the other away`,
    );
  return named;
}

/** Whoever names the file itself finds what lies beside a link to it. */
function linkToReal(liveFile: string, dir: string): void {
  const real = dirBeside(realPlace(liveFile));
  if (realPlace(dir) !== realPlace(real) && !existsSync(real)) symlinkSync(realPlace(dir), real);
}

/** A live file, and the folder of its promotions. */
type Place = { readonly liveFile: string; readonly dir: string };

export type PromotionJournal = {
  readonly file: string;
  readonly standing: Standing;
  readonly records: readonly PromotionRecord[];
};

const FILE = 'journal.jsonl';

/** `after`: digest of the line before; of the first line there is none. `digest`: of this line up to there; lines that were written before there was one have none. */
type Line = PromotionRecord & { readonly after: string | null; readonly digest?: string };

/** Throws `UsageError` where another user could have written what lies in the folder: the journal decides what the live file says. */
function heedPromotions(dir: string): void {
  if (!existsSync(dir)) return;
  try {
    for (const folder of [dir, join(dir, 'files')])
      if (existsSync(folder)) assertFolderTrusted(folder, 'the promotions');
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Empty where nothing was ever begun. Throws `UsageError` where it is not what was written. */
export function promotionJournal(dir: string): PromotionJournal {
  heedPromotions(dir);
  const file = join(dir, FILE);
  let standing = NOTHING;
  let last: string | null = null;
  let areSealed = false;
  const records: PromotionRecord[] = [];
  for (const [i, text] of linesIn(file).entries()) {
    const line = lineOf(text);
    // A line that a kill cut off: nobody was told that it was written.
    if (line === null && !SEAL.test(text)) continue;
    try {
      if (line === null || !isWhole(text, line, areSealed))
        throw new Error('it does not say what was written: it was changed');
      if (line.after !== last)
        throw new Error('it does not follow the line before it: a line was changed or taken out');
      const { after: _, digest, ...record } = line;
      standing = after(standing, record);
      areSealed = digest !== undefined;
      records.push(record);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new UsageError(
        `${file}:${i + 1}: ${why}; restore the file from a copy, or move ${dir} away and begin anew`,
      );
    }
    last = digestOf(text);
  }
  return { file, standing, records };
}

/** A name that nothing lies under, and of which nothing was ever begun, is a slip: throws `UsageError` then. `instead`: what else can be done. */
export function journalOf({ liveFile, dir }: Place, instead = ''): PromotionJournal {
  const journal = promotionJournal(dir);
  if (journal.records.length === 0 && liveTextOf(liveFile) === null)
    throw new UsageError(`${liveFile}: no such file: name the live file with -c FILE${instead}`);
  return journal;
}

/** To be thrown by `back` and its preview. */
export const nothingToGoBack = ({ liveFile }: Pick<Place, 'liveFile'>): UsageError =>
  new UsageError(`${liveFile}: no promotion of it is under way or in place; there is nothing to roll back`);

/** Durable when it returns. Throws an Error on a record that cannot follow, `UsageError` when the disk does not take it. */
export function noteInJournal(dir: string, record: PromotionRecord): Standing {
  const { file, standing } = promotionJournal(dir);
  const next = after(standing, record);
  const last = linesIn(file).findLast(text => lineOf(text) !== null);
  const line: Line = { ...record, after: last === undefined ? null : digestOf(last) };
  try {
    appendLineDurably(file, sealed(JSON.stringify(line)));
  } catch (error) {
    throw new UsageError(`${file}: cannot be written: ${error instanceof Error ? error.message : String(error)}`, 1);
  }
  return next;
}

const SEAL = /,"digest":"([0-9a-f]{64})"\}$/;

/** With the digest of all that stands before it. */
function sealed(line: string): string {
  const text = line.slice(0, -1);
  return `${text},"digest":"${digestOf(text)}"}`;
}

/** Once a line has its digest, every later one has. */
function isWhole(text: string, { digest }: Line, areSealed: boolean): boolean {
  if (digest === undefined) return !areSealed;
  const seal = SEAL.exec(text);
  return seal !== null && seal[1] === digestOf(text.slice(0, seal.index));
}

/** Nobody else decides on that live file meanwhile. Rejects with `UsageError` (code 1) where another process is at it. */
export async function alone<T>({ liveFile, dir }: Place, work: () => Promise<T>): Promise<T> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const unlock = lockFolder(dir);
  if (unlock === null)
    throw new UsageError(`${dir}: another puntas promote is running there; wait until it has ended, then try again`, 1);
  try {
    linkToReal(liveFile, dir);
    return await work();
  } finally {
    unlock();
  }
}

const linesIn = (file: string): readonly string[] =>
  existsSync(file)
    ? readRegularFile(file, LARGE_FILE)
        .split('\n')
        .filter(text => text !== '')
    : [];

function lineOf(text: string): Line | null {
  try {
    const read = JSON.parse(text) as Partial<Line> | null;
    return typeof read === 'object' && read !== null && typeof read.kind === 'string' ? (read as Line) : null;
  } catch {
    return null;
  }
}
