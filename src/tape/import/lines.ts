/**
 * Lines of text files, plain or compressed, read in chunks and converted to rows. Memory does not grow with the file.
 */
import { dirname, join } from 'node:path';
import type { Instrument, Millis } from '../../core/index.ts';
import type { Gap } from '../model/tape.ts';
import { OffGrid } from './digits.ts';
import { shown, WrongFile, type Findings } from './read/findings.ts';
import { unpackedBytes, unpackedName } from './read/packed.ts';
import { LateRow, RowBuffer, type Chunk } from './rows.ts';

export { shown };

/** Input of every reader of a recording. */
export type ImportReading = {
  readonly instrument: Instrument;
  readonly findings: Findings;
  /** Reports a time range with missing data. */
  readonly gap: (gap: Gap) => void;
  /** Registers a function that reports data missing at the end; it receives the time of the recording's last row. */
  readonly onEnd: (report: (at: Millis) => void) => void;
  /** Receives the number of bytes read since the last call. */
  readonly bytes: (count: number) => void;
  /** Maximum delay, in ms, of late rows that are sorted into order of time. Default: 0. */
  readonly sortMs?: Millis | undefined;
};

/**
 * Reads one line into rows. Throws a RangeError or SyntaxError for an unreadable line, a WrongFile for an unreadable
 * file.
 */
export type LineReader = (line: string, number: number, rows: RowBuffer, file: string) => void;

/** Maximum length of a line in bytes; a file with longer lines is not text. */
export const LINE_MAX = 8 * 1024 * 1024;
/**
 * Maximum size of a .json file in bytes. The file is read as one list; an hour of a busy book has tens of megabytes.
 */
const LIST_MAX = 128 * 1024 * 1024;
/** UTF-8 byte order mark; some programs start a file with it. */
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Reads files that are consecutive in time. Unreadable lines are skipped and counted. Rejects with a WrongFile if more
 * than 1% of the lines are unreadable.
 */
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

/**
 * Reads rows as `rowsOfLines` does, but from parsed items. `numberOf` returns the line number of an item, for messages.
 */
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

/** Returns the name of the data flaw for skipped items; `items` is `lines` or `records`. */
export function unreadKind(items: string, error: unknown): string {
  if (error instanceof LateRow) return `${items} more than a minute earlier than a previous row`;
  return error instanceof OffGrid
    ? `${items} with prices or amounts that are not whole ticks or lots`
    : `${items} that cannot be read`;
}

/** Returns the reason why a line cannot be read; `null` if the error is not about the line. */
function unreadable(error: unknown): string | null {
  if (error instanceof RangeError || error instanceof SyntaxError) return error.message;
  // Readers do not check the structure of parsed JSON, so an unexpected structure gives a TypeError.
  if (error instanceof TypeError) return 'the line does not have the structure of this format';
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

/** Returns the location of a recording for messages: the file, or the innermost folder that contains all files. */
export function sourceOf(files: readonly string[]): string {
  const [first = '', ...others] = files;
  if (others.length === 0) return first;
  let folder = dirname(first);
  while (folder !== dirname(folder) && others.some(file => !file.startsWith(join(folder, '/'))))
    folder = dirname(folder);
  return folder;
}

/**
 * Yields the lines of a file without line ends, in batches; an empty last line is dropped. A .json file is one line.
 * Rejects with a WrongFile whose message starts with the path.
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
          `the file is longer than ${LIST_MAX / 1024 ** 2} MiB, the maximum for one JSON list; use a file with one JSON message per line`,
        );
      if (!isOne && rest.length > LINE_MAX)
        throw new WrongFile(`a line is longer than ${LINE_MAX} bytes; expected a text file`);
      if (lines.length > 0) yield lines.map(withoutReturn);
    }
  } catch (error) {
    if (error instanceof WrongFile && error.message.startsWith(path)) throw error;
    throw new WrongFile(`${path}: ${reasonOf(error)}`, { cause: error });
  }
  if (rest !== '') yield [withoutReturn(rest)];
}

/** Reads the first lines of a file, at most `count`. Rejects like `lineBatches`. */
export async function firstLines(path: string, count: number): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const lines of lineBatches(path, () => undefined)) {
    found.push(...lines.slice(0, count - found.length));
    if (found.length >= count) break;
  }
  return found;
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);

/** Returns the reason why a file could not be read. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'Z_BUF_ERROR') return 'the compressed file is incomplete';
  if (code === 'Z_DATA_ERROR') return `the compressed file is damaged (${String((error as Error).message)})`;
  return error instanceof Error ? error.message : String(error);
}
