/**
 * Append-only journal of a live file's promotions. Each line is synced to disk, and has its own digest and the digest
 * of the previous line.
 */
import { textOfError } from '../../core/index.ts';
import { LARGE_FILE, readRegularFile, appendLineDurably, makeFolder } from '../../guard/index.ts';
import { existsSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { assertFolderTrusted } from '../../live/files/stateDir.ts';
import { lockFolder } from '../../live/files/folderLock.ts';
import { digestOf } from '../run/reloading.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { liveTextOf, realPlace } from './liveFile.ts';
import type { PromotionRecord } from './records.ts';
import { after, NOTHING, type PromotionState } from './promotionState.ts';

/** Returns the folder next to a file: `my.promotions` for `my.yaml`, and `my.yml.promotions` for `my.yml`. */
const dirBeside = (file: string): string => join(dirname(file), `${basename(file, '.yaml')}.promotions`);

/**
 * Returns the journal folder. It is next to the real live file, so that all links to the file share one journal. A
 * journal that an earlier version created next to a link stays in use.
 * @throws UsageError if both folders have a journal.
 */
export function promotionsDir(liveFile: string): string {
  const [named, real] = [dirBeside(resolve(liveFile)), dirBeside(realPlace(liveFile))];
  if (realPlace(named) === realPlace(real)) return named;
  if (!existsSync(join(named, FILE))) return real;
  if (existsSync(join(real, FILE)))
    throw new UsageError(
      `${liveFile}: the link and its target ${realPlace(liveFile)} both have a promotion journal (${named} and ${real}); decide which journal is valid, and move the other journal away`,
    );
  return named;
}

/**
 * Creates a link to the journal folder next to the real live file, if the journal is next to a link. Both names then
 * find the journal.
 */
function linkToReal(liveFile: string, dir: string): void {
  const real = dirBeside(realPlace(liveFile));
  if (realPlace(dir) !== realPlace(real) && !existsSync(real)) symlinkSync(realPlace(dir), real);
}

/** Live file, and the folder of its promotions. */
type Place = { readonly liveFile: string; readonly dir: string };

export type PromotionJournal = {
  readonly file: string;
  readonly standing: PromotionState;
  readonly records: readonly PromotionRecord[];
};

const FILE = 'journal.jsonl';

/**
 * Line of the journal. `after` is the digest of the previous line; `null` in the first line. `digest` is the digest of
 * this line without that field; absent in lines of earlier versions.
 */
type Line = PromotionRecord & { readonly after: string | null; readonly digest?: string };

/**
 * Asserts that other users cannot write in the folder, because the journal decides the live file's text.
 * @throws UsageError otherwise.
 */
function assertPromotionsTrusted(dir: string): void {
  if (!existsSync(dir)) return;
  try {
    for (const folder of [dir, join(dir, 'files')])
      if (existsSync(folder)) assertFolderTrusted(folder, 'the promotions');
  } catch (error) {
    throw new UsageError(textOfError(error));
  }
}

/**
 * Reads the promotion journal in a folder; without a promotion, the journal is empty.
 * @throws UsageError if the journal was changed or the folder is not trusted.
 */
export function promotionJournal(dir: string): PromotionJournal {
  assertPromotionsTrusted(dir);
  const file = join(dir, FILE);
  let standing = NOTHING;
  let last: string | null = null;
  let areSealed = false;
  const records: PromotionRecord[] = [];
  for (const [i, text] of linesIn(file).entries()) {
    const line = lineOf(text);
    // This line is incomplete, because its process was killed before it reported the line as written.
    if (line === null && !SEAL.test(text)) continue;
    try {
      if (line === null || !isWhole(text, line, areSealed))
        throw new Error('the line was changed after it was written');
      if (line.after !== last)
        throw new Error('the line does not continue the line before it, so a line was changed or removed');
      const { after: _, digest, ...record } = line;
      standing = after(standing, record);
      areSealed = digest !== undefined;
      records.push(record);
    } catch (error) {
      const why = textOfError(error);
      throw new UsageError(
        `${file}:${i + 1}: ${why}; restore the file from a copy, or move ${dir} away and start again`,
      );
    }
    last = digestOf(text);
  }
  return { file, standing, records };
}

/**
 * Returns the promotion journal of a live file. `instead` is a second remedy, which is appended to the error message.
 * @throws UsageError if neither the live file nor a promotion exists, because the name is then probably mistyped.
 */
export function journalOf({ liveFile, dir }: Place, instead = ''): PromotionJournal {
  const journal = promotionJournal(dir);
  if (journal.records.length === 0 && liveTextOf(liveFile) === null)
    throw new UsageError(`${liveFile}: no such file; pass the live file with -c FILE${instead}`);
  return journal;
}

/** Returns the error for a rollback, or for a preview of a rollback, if there is nothing to roll back. */
export const nothingToRollBack = ({ liveFile }: Pick<Place, 'liveFile'>): UsageError =>
  new UsageError(`${liveFile}: no promotion is under way or complete, so there is nothing to roll back`);

/**
 * Appends a record, which is on disk when the function returns.
 * @throws Error if the record is not valid in this state, UsageError if the write fails.
 */
export function noteInJournal(dir: string, record: PromotionRecord): PromotionState {
  const { file, standing } = promotionJournal(dir);
  const next = after(standing, record);
  const last = linesIn(file).findLast(text => lineOf(text) !== null);
  const line: Line = { ...record, after: last === undefined ? null : digestOf(last) };
  try {
    appendLineDurably(file, sealed(JSON.stringify(line)));
  } catch (error) {
    throw new UsageError(`${file}: cannot be written: ${textOfError(error)}`, 1);
  }
  return next;
}

const SEAL = /,"digest":"([0-9a-f]{64})"\}$/;

/** Returns the line with its digest added. */
function sealed(line: string): string {
  const text = line.slice(0, -1);
  return `${text},"digest":"${digestOf(text)}"}`;
}

/** Whether a line matches its digest. After the first line with a digest, all lines must have a digest. */
function isWhole(text: string, { digest }: Line, areSealed: boolean): boolean {
  if (digest === undefined) return !areSealed;
  const seal = SEAL.exec(text);
  return seal !== null && seal[1] === digestOf(text.slice(0, seal.index));
}

/** Runs `work` under the lock of the folder. Rejects with `UsageError` (code 1) if another process has the lock. */
export async function withPromotionLock<T>({ liveFile, dir }: Place, work: () => Promise<T>): Promise<T> {
  makeFolder(dir, 0o700);
  const unlock = lockFolder(dir);
  if (unlock === null)
    throw new UsageError(
      `${dir}: another puntas promote is running in this folder; wait until that command has ended, then try again`,
      1,
    );
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
