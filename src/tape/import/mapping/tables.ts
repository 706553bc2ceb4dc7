/** Rows of CSV and Parquet files as text, by the packages that read these formats; memory does not grow with a CSV file, and with Parquet to one group of its rows. */
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { WrongFile } from '../findings.ts';
import { checkUnpacked, LINE_MAX, openText, reasonOf } from '../lines.ts';

/** The cells of the columns that were asked for, in that order; null when the row has not as many cells as the header. */
export type TableRow = readonly string[] | null;

type Asked = {
  readonly columns: readonly string[];
  readonly delimiter: string;
  readonly header: readonly string[] | undefined;
};

const BATCH = 1_000;

/** Some rows at a time. Rejects with a WrongFile that begins with the path. */
export async function* rowBatches(
  path: string,
  asked: Asked,
  onBytes: (count: number) => void,
): AsyncGenerator<readonly TableRow[]> {
  try {
    yield* path.endsWith('.parquet') ? parquetRows(path, asked.columns, onBytes) : csvRows(path, asked, onBytes);
  } catch (error) {
    throw new WrongFile(`${path}: ${reasonOf(error)}`, { cause: error });
  }
}

async function* csvRows(
  path: string,
  { columns, delimiter, header }: Asked,
  onBytes: (count: number) => void,
): AsyncGenerator<readonly TableRow[]> {
  const { text, file } = openText(path);
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: LINE_MAX,
  });
  let told = 0;
  let unpacked = 0;
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      onBytes(file.bytesRead - told);
      told = file.bytesRead;
      checkUnpacked((unpacked += chunk.length), file.bytesRead);
      yield chunk;
    }
  };
  // What goes wrong in it also ends the parser, whose error is the one that is told.
  const fed = pipeline(text, counted, parser).catch(() => undefined);
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
  if (places === null) throw new WrongFile(`is empty: expected a header with ${columns.join(', ')}`);
  if (batch.length > 0) yield batch;
}

function placesOf(columns: readonly string[], header: readonly string[]): readonly number[] {
  return columns.map(column => {
    const place = header.indexOf(column);
    if (place >= 0) return place;
    const other = header.length === 1 ? /[;\t|,]/.exec(header[0]!)?.[0] : undefined;
    const asked = other === undefined ? '' : `: is the delimiter ${JSON.stringify(other)}?`;
    throw new WrongFile(`no column ${column}; it has ${header.join(', ')}${asked}`);
  });
}

/** Times are told as text, to the microsecond. */
const PARSERS = {
  timestampFromMilliseconds: (ms: bigint) => isoOf(ms * 1_000n),
  timestampFromMicroseconds: (us: bigint) => isoOf(us),
  timestampFromNanoseconds: (ns: bigint) => isoOf(ns / 1_000n),
};

const isoOf = (micros: bigint): string =>
  `${new Date(Number(micros / 1_000n)).toISOString().slice(0, -1)}${String(micros % 1_000n).padStart(3, '0')}Z`;

async function* parquetRows(
  path: string,
  columns: readonly string[],
  onBytes: (count: number) => void,
): AsyncGenerator<readonly TableRow[]> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  placesOf(
    columns,
    parquetSchema(metadata).children.map(({ element }) => element.name),
  );
  const { size } = await stat(path);
  let from = 0;
  for (const { num_rows } of metadata.row_groups) {
    const upTo = from + Number(num_rows);
    const options = { file, metadata, compressors, parsers: PARSERS, columns: [...new Set(columns)] };
    const rows = await parquetReadObjects({ ...options, rowStart: from, rowEnd: upTo });
    for (let at = 0; at < rows.length; at += BATCH)
      yield rows.slice(at, at + BATCH).map(row => columns.map(column => textOf(row[column])));
    onBytes(size / metadata.row_groups.length);
    from = upTo;
  }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'bigint' || typeof value === 'number' ? String(value) : JSON.stringify(value);
}
