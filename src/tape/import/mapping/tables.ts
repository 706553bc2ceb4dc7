/**
 * Rows of CSV, Parquet and JSON files as text. Memory does not grow with the file, only with the row groups of a
 * Parquet file.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { WrongFile } from '../read/findings.ts';
import { LINE_MAX, reasonOf } from '../lines.ts';
import { unpackedBytes } from '../read/packed.ts';
import { parquetGroups } from '../read/parquet.ts';
import type { TableRow } from './cells.ts';
import { isJson, jsonRows, type JsonShape } from './jsonRows.ts';

type Asked = {
  readonly columns: readonly string[];
  readonly delimiter: string;
  readonly header: readonly string[] | undefined;
  readonly json?: JsonShape | undefined;
};

const BATCH = 1_000;

/**
 * Yields rows in batches. The columns `sign(x)` and `abs(x)` give the sign (`+` or `-`) and the absolute value of the
 * numbers in column x. Rejects with a WrongFile whose message starts with the path.
 */
export async function* rowBatches(
  path: string,
  asked: Asked,
  onBytes: (count: number) => void,
): AsyncGenerator<readonly TableRow[]> {
  const derived = asked.columns.map(column => /^(sign|abs)\((.+)\)$/.exec(column)?.slice(1) ?? null);
  const plain = { ...asked, columns: asked.columns.map((column, i) => derived[i]?.[1] ?? column) };
  const batches = tableRows(path, plain, onBytes);
  const cellOf = (cell: string, i: number): string => {
    const [what] = derived[i] ?? [];
    return what === undefined ? cell : what === 'abs' ? cell.replace(/^[+-]/, '') : signOf(cell);
  };
  try {
    if (derived.every(one => one === null)) yield* batches;
    else for await (const batch of batches) yield batch.map(row => (row === null ? null : row.map(cellOf)));
  } catch (error) {
    throw new WrongFile(`${path}: ${reasonOf(error)}`, { cause: error });
  }
}

const signOf = (cell: string): string => (cell === '' ? '' : cell.startsWith('-') ? '-' : '+');

function tableRows(path: string, asked: Asked, onBytes: (count: number) => void): AsyncGenerator<readonly TableRow[]> {
  if (path.endsWith('.parquet')) return parquetRows(path, asked.columns, onBytes);
  const json = asked.json ?? (isJson(path) ? { rows: undefined, before: [] } : undefined);
  return json === undefined ? csvRows(path, asked, onBytes) : jsonRows(path, asked.columns, json, onBytes);
}

async function* parquetRows(
  path: string,
  columns: readonly string[],
  onBytes: (count: number) => void,
): AsyncGenerator<readonly TableRow[]> {
  const chosen = (names: readonly string[]) => placesOf(columns, names).map(place => names[place]!);
  for await (const { rows, texts } of parquetGroups(path, chosen, onBytes)) {
    const cells = columns.map(column => texts.get(column)!);
    for (let at = 0; at < rows; at += BATCH)
      yield Array.from({ length: Math.min(BATCH, rows - at) }, (_, i) => cells.map(cell => cell(at + i)));
  }
}

async function* csvRows(
  path: string,
  { columns, delimiter, header }: Asked,
  onBytes: (count: number) => void,
): AsyncGenerator<readonly TableRow[]> {
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: LINE_MAX,
  });
  // The parser reports errors of its input, so the rejection of the pipeline is ignored.
  const fed = pipeline(Readable.from(unpackedBytes(path, onBytes)), parser).catch(() => undefined);
  let places = header === undefined ? null : placesOf(columns, header);
  let width = header?.length ?? 0;
  let batch: TableRow[] = [];
  for await (const record of parser as AsyncIterable<string[]>) {
    if (places === null) {
      places = placesOf(columns, record);
      width = record.length;
      continue;
    }
    batch.push(record.length === width ? places.map(place => record[place]!) : null);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  await fed;
  if (places === null) throw new WrongFile(`the file is empty; expected a header with ${columns.join(', ')}`);
  if (batch.length > 0) yield batch;
}

function placesOf(columns: readonly string[], header: readonly string[]): readonly number[] {
  return columns.map(column => {
    const place = header.indexOf(column);
    if (place >= 0) return place;
    const other = header.length === 1 ? /[;\t|,]/.exec(header[0]!)?.[0] : undefined;
    const asked = other === undefined ? '' : `: is the delimiter ${JSON.stringify(other)}?`;
    throw new WrongFile(`no column ${column}; the file has ${someOf(header)}${asked}`);
  });
}

const NAMES_SHOWN = 50;
const someOf = (names: readonly string[]): string =>
  names.length <= NAMES_SHOWN
    ? names.map(cutName).join(', ')
    : `${names.slice(0, NAMES_SHOWN).map(cutName).join(', ')} and ${names.length - NAMES_SHOWN} more`;
const cutName = (name: string): string => (name.length > 80 ? `${name.slice(0, 80)}…` : name);
