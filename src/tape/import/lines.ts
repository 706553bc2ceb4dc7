/** Lines of text files, plain or packed, read in chunks and turned into rows: memory does not grow with the file. */
import { dirname, join } from 'node:path';
import type { Instrument, Millis } from '../../core/index.ts';
import type { Gap } from '../model/tape.ts';
import { OffGrid } from './digits.ts';
import { shown, WrongFile } from './read/findings.ts';
import type { Findings } from './read/findings.ts';
import { unpackedBytes, unpackedName } from './read/packed.ts';
import { LateRow, RowBuffer } from './rows.ts';
import type { Chunk } from './rows.ts';

export { shown };

/** What every reader of a recording is handed. */
export type ImportReading = {
  readonly instrument: Instrument;
  readonly findings: Findings;
  /** Tells of a stretch of which something is missing. */
  readonly gap: (gap: Gap) => void;
  /** Tells how many bytes of the files were read since it was told last. */
  readonly bytes: (count: number) => void;
  /** Rows that come late by at most this time are put in their place. Default: 0. */
  readonly sortMs?: Millis | undefined;
};

/** Reads one line into rows. A RangeError or SyntaxError says that the line cannot be read, a WrongFile that the file cannot. */
export type LineReader = (line: string, number: number, rows: RowBuffer, file: string) => void;

/** A longer line is no text. */
export const LINE_MAX = 8 * 1024 * 1024;
/** A .json file is read at once, as one list: of a busy book's hour tens of megabytes. */
const LIST_MAX = 128 * 1024 * 1024;
/** The mark of UTF-8 that some programs put before everything. */
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Rows of files that follow each other in time. Lines that cannot be read are left out and counted; more than one in a hundred is a WrongFile. */
export const rowsOfLines = (
  files: readonly string[],
  reading: Pick<ImportReading, 'findings' | 'bytes' | 'sortMs'>,
  read: LineReader,
): AsyncGenerator<Chunk> =>
  rowsOf(
    files,
    reading,
    file => lineBatches(file, reading.bytes),
    (_line, count) => count,
    read,
  );

/** As `rowsOfLines`, of lines that something else has taken apart; `numberOf` gives the number that people know an item by. */
export async function* rowsOf<T>(
  files: readonly string[],
  { findings, sortMs }: Pick<ImportReading, 'findings' | 'sortMs'>,
  batches: (file: string) => AsyncIterable<readonly T[]>,
  numberOf: (item: T, count: number) => number,
  read: (line: T, number: number, rows: RowBuffer, file: string) => void,
): AsyncGenerator<Chunk> {
  const rows = new RowBuffer(findings, sortMs);
  for (const file of files) {
    let count = 0;
    for await (const lines of batches(file)) {
      for (const line of lines) {
        const number = numberOf(line, ++count);
        findings.line();
        rows.begin(file, number);
        try {
          read(line, number, rows, file);
        } catch (error) {
          const why = unreadable(error);
          if (why === null) throw named(error, file, number);
          rows.undo();
          findings.unread(file, number, unreadKind('lines', error), why);
        }
      }
      yield* rows.take();
    }
    yield* rows.take(true);
  }
  findings.check();
}

/** The kind of flaw of `lines` or `records` that are left out. */
export function unreadKind(items: string, error: unknown): string {
  if (error instanceof LateRow) return `${items} that come more than a minute late`;
  return error instanceof OffGrid ? `${items} off the grid of ticks or lots` : `${items} that cannot be read`;
}

/** Why a line cannot be read; null when it is not the line's fault. */
function unreadable(error: unknown): string | null {
  if (error instanceof RangeError || error instanceof SyntaxError) return error.message;
  // Readers take the shape of parsed JSON for granted.
  if (error instanceof TypeError) return 'it does not have the shape that lines of this format have';
  return null;
}

function named(error: unknown, file: string, number: number): unknown {
  if (!(error instanceof WrongFile) || error.message.startsWith(file)) return error;
  return new WrongFile(`${file}: line ${number}: ${error.message}`);
}

/** Throws a WrongFile unless the line is this header. */
export function expectHeader(line: string, header: string): void {
  if (line !== header) throw new WrongFile(`expected the header ${header}, found ${shown(line)}`);
}

/** Where a recording is, for people: its file, or the innermost folder that has all of them. */
export function sourceOf(files: readonly string[]): string {
  const [first = '', ...others] = files;
  if (others.length === 0) return first;
  let folder = dirname(first);
  while (folder !== dirname(folder) && others.some(file => !file.startsWith(join(folder, '/'))))
    folder = dirname(folder);
  return folder;
}

/**
 * The file's lines without their line ends, some at a time; an empty last line is left out. A .json file is one line. Rejects with a WrongFile that
 * begins with the path.
 */
export async function* lineBatches(path: string, onBytes: (count: number) => void): AsyncGenerator<readonly string[]> {
  const isOne = unpackedName(path).endsWith('.json');
  let rest = '';
  let isFirst = true;
  try {
    for await (const chunk of unpackedBytes(path, onBytes)) {
      rest += chunk.toString('latin1', isFirst && BOM.equals(chunk.subarray(0, 3)) ? 3 : 0);
      isFirst = false;
      const lines = isOne ? [] : rest.split('\n');
      rest = lines.pop() ?? rest;
      if (isOne && rest.length > LIST_MAX)
        throw new WrongFile(
          `is longer than ${LIST_MAX / 1024 ** 2} MiB, which is too much for one list: give it as lines of JSON, one message each`,
        );
      if (!isOne && rest.length > LINE_MAX)
        throw new WrongFile(`a line is longer than ${LINE_MAX} bytes; this is no text`);
      if (lines.length > 0) yield lines.map(withoutReturn);
    }
  } catch (error) {
    if (error instanceof WrongFile && error.message.startsWith(path)) throw error;
    throw new WrongFile(`${path}: ${reasonOf(error)}`, { cause: error });
  }
  if (rest !== '') yield [withoutReturn(rest)];
}

/** The first lines of a file, at most `count`. Rejects as `lineBatches`. */
export async function firstLines(path: string, count: number): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const lines of lineBatches(path, () => undefined)) {
    found.push(...lines.slice(0, count - found.length));
    if (found.length >= count) break;
  }
  return found;
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);

/** Why a file could not be read, for people. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'Z_BUF_ERROR') return 'the compressed file ends early: it was cut off';
  if (code === 'Z_DATA_ERROR') return `the compressed file is damaged (${String((error as Error).message)})`;
  return error instanceof Error ? error.message : String(error);
}
