/** Rows of JSON: one per line, or elements of a list in a line. Numbers keep their original text. */
import { lineBatches } from '../lines.ts';
import { unpackedName } from '../read/packed.ts';
import type { TableRow } from './cells.ts';

/** Location of the rows in the JSON of a line. */
export type JsonShape = {
  /** Path of the list whose elements are the rows; `undefined` if each line is one row. */
  readonly rows: string | undefined;
  /** Column names of the space-separated words before the JSON in a line. */
  readonly before: readonly string[];
};

/** Whether a file name belongs to a JSON file, compressed or not. */
export const isJson = (path: string): boolean => /\.(?:json|jsonl|ndjson)$/.test(unpackedName(path));

/**
 * Yields rows as `rowBatches` does. A column is a path in the row (`data.px`, `levels.0.1`); with a leading `/`, the
 * path starts at the top of the line. A row is `null` if its line is not JSON.
 */
export async function* jsonRows(
  path: string,
  columns: readonly string[],
  { rows, before }: JsonShape,
  onBytes: (count: number) => void,
): AsyncGenerator<readonly TableRow[]> {
  const paths = columns.map(column => ({ column, isOfLine: column.startsWith('/'), keys: keysOf(column) }));
  const isList = unpackedName(path).endsWith('.json');
  const rowOf = (words: readonly string[], line: unknown, row: unknown): TableRow =>
    paths.map(({ column, isOfLine, keys }) => {
      const word = before.indexOf(column);
      return word >= 0 ? words[word]! : textAt(isOfLine ? line : row, keys);
    });
  for await (const lines of lineBatches(path, onBytes)) {
    const found: TableRow[] = [];
    for (const text of lines) {
      if (text.trim() === '') continue;
      const [words, json] = parted(text, before.length);
      const line = parsed(json);
      if (line === undefined) {
        found.push(null);
        continue;
      }
      const items = rows === undefined ? (isList && Array.isArray(line) ? line : [line]) : listAt(line, rows);
      for (const item of items) found.push(rowOf(words, line, item));
    }
    yield found;
  }
}

function parted(text: string, count: number): readonly [readonly string[], string] {
  const words: string[] = [];
  let rest = text;
  for (let i = 0; i < count; i++) {
    const end = rest.indexOf(' ');
    if (end < 0) return [words, ''];
    words.push(rest.slice(0, end));
    rest = rest.slice(end + 1);
  }
  return [words, rest];
}

/** Matches strings, numbers, and the text between them. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[-\d][\d.eE+-]*|[^"\d-]+/gsy;

/** Parses JSON and keeps numbers as the text of their digits; `undefined` if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return JSON.parse(text.replace(TOKENS, token => (/^[-\d]/.test(token) ? `"${token}"` : token))) as unknown;
}

const keysOf = (column: string): readonly string[] => column.replace(/^\//, '').split('.');

/** Returns the text at a path; empty if there is no value. Also finds keys that contain dots. */
function textAt(from: unknown, keys: readonly string[]): string {
  const whole = keys.length > 1 ? own(from, keys.join('.')) : undefined;
  const value = whole ?? keys.reduce<unknown>(own, from);
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const own = (from: unknown, key: string): unknown =>
  typeof from === 'object' && from !== null && Object.hasOwn(from, key)
    ? (from as Readonly<Record<string, unknown>>)[key]
    : undefined;

/**
 * Returns the list at a path; empty if there is no value at the path. A value that is not a list becomes a list of one
 * row.
 */
function listAt(line: unknown, path: string): readonly unknown[] {
  const value = keysOf(path).reduce<unknown>(own, line);
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
