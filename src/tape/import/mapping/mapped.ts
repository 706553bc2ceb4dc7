/** Recording that a mapping file describes: its tables in order of time, and their rows. */
import { pathLine, readRegularFile, TEXT_FILE } from '../../../guard/index.ts';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { counted, type DecimalText, type Instrument, type Millis } from '../../../core/index.ts';
import { sessionOf } from '../../model/session.ts';
import { tapeRules } from '../../model/tapeRules.ts';
import { WrongFile, type Findings } from '../read/findings.ts';
import { inferredTick } from '../inferredGrid.ts';
import { rowsOf, sourceOf, type ImportReading } from '../lines.ts';
import { filesAt, filesBelow } from '../bookFiles.ts';
import { unpackedName } from '../read/packed.ts';
import type { Recording } from '../recording.ts';
import type { Chunk } from '../rows.ts';
import { Silence } from '../silence.ts';
import { mappingOf, type Table, type Time } from './mapping.ts';
import { clockText, dateIn, timeReader } from '../read/times.ts';
import { columnsOf, readerOf, timeColumns } from './readers.ts';
import { MappingCheck } from './mappingCheck.ts';
import { rowBatches } from './tables.ts';
import type { TableRow } from './cells.ts';

/** Values that override the mapping file. */
export type GivenMapped = { readonly book?: string; readonly tick?: DecimalText; readonly lot?: DecimalText };

/** Time without a book after which a gap is recorded, in seconds; a table may set another value. */
const SILENCE_S = 600;

type FilesOfTable = {
  readonly table: Table;
  readonly files: readonly string[];
  /** Companion file of each file, with other columns of the same rows. */
  readonly beside: ReadonlyMap<string, string>;
};

/** Opens the files at `path`, a folder or one file. Rejects with a WrongFile of one line. */
export async function mappedRecording(
  path: string,
  mappingPath: string,
  given: GivenMapped = {},
  onBytes: (count: number) => void = () => undefined,
): Promise<Recording> {
  const text = mappingText(mappingPath);
  const mapping = mappingOf(text, mappingPath);
  const { dir, files: flat } = await filesAt(path);
  const all = [...flat, ...((await stat(path)).isDirectory() ? await filesBelow(path) : [])];
  const tables: FilesOfTable[] = [];
  for (const table of mapping.tables) {
    const like = (pattern: string): readonly string[] => {
      const found = all.filter(file => matches(pattern, file)).map(file => join(dir, file));
      if (found.length > 0) return found;
      throw new WrongFile(
        `${path}: no file matches ${pattern} of ${mappingPath}; found ${all.slice(0, 3).join(', ') || 'none'}${all.length > 3 ? ', …' : ''}`,
      );
    };
    const files = like(table.files);
    const others = table.beside === undefined ? [] : like(table.beside.files);
    if (table.beside !== undefined && others.length !== files.length)
      throw new WrongFile(
        `${path}: ${counted(files.length, 'file matches', 'files match')} ${table.files}, and ${others.length} match ${table.beside.files}; expected equal numbers of files`,
      );
    const beside = new Map(others.map((other, i) => [files[i]!, other]));
    tables.push({ table, beside, files: await inOrderOfTime({ table, files, beside }) });
  }
  // Tables of trades come last, so that books precede trades at equal times.
  tables.sort((a, b) => Number(a.table.kind === 'trades') - Number(b.table.kind === 'trades'));
  const book = given.book ?? mapping.book;
  const lot = given.lot ?? mapping.lot;
  const session = mapping.session === undefined ? {} : { session: sessionOf(mapping.session) };
  const open = (tick: DecimalText): Recording => ({
    ...recordingOf(path, tables, tapeRules(book, tick, lot).instrument),
    ...session,
  });
  const tick = given.tick ?? mapping.tick;
  if (tick !== undefined) return open(tick);
  const found = await inferredTick(open, onBytes);
  const recording = open(found);
  return {
    ...recording,
    notes: [...recording.notes, `tick size ${found} was inferred from the prices (override with --tick)`],
  };
}

/** Reads a mapping file. Throws a WrongFile if it cannot be read or is too long. */
export function mappingText(path: string): string {
  try {
    return readRegularFile(path, TEXT_FILE);
  } catch (error) {
    throw new WrongFile(pathLine(path, error, 'read', 'pass a mapping file with --mapping'));
  }
}

/**
 * Whether a path matches the pattern. A pattern with a folder is compared with the path below the recording's folder,
 * any other pattern with the file name.
 */
const matches = (pattern: string, path: string): boolean =>
  matchesStars(pattern, pattern.includes('/') ? path : basename(path));

/**
 * Whether `text` matches `pattern`, in which each `*` matches any number of characters. Matching each part at its first
 * position is sufficient.
 */
export function matchesStars(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

function recordingOf(path: string, tables: readonly FilesOfTable[], instrument: Instrument): Recording {
  const kinds = new Set(tables.map(({ table }) => table.kind));
  const has = (...of: readonly Table['kind'][]) => of.some(kind => kinds.has(kind));
  const hasAmounts = tables.some(
    ({ table }) => table.kind !== 'trades' && (table.kind !== 'quotes' || (table.bidAmount ?? null) !== null),
  );
  const depths = tables.map(({ table }) => (table.kind === 'books' ? table.levels : table.kind === 'quotes' ? 1 : 0));
  const notes = !has('quotes', 'books', 'levels', 'orders')
    ? ['trades without a book: usable for statistics, not for a replay']
    : hasAmounts
      ? []
      : ['best prices without amounts: usable for statistics, not for a replay'];
  return {
    source: path,
    format: 'mapping',
    files: tables.flatMap(({ files, beside }) => [...files, ...beside.values()]),
    passes: 1,
    instrument,
    fromOrders: has('orders') && !has('levels', 'books', 'quotes'),
    depth: has('levels', 'orders') ? Infinity : Math.max(...depths),
    quotesOnly: !hasAmounts,
    notes,
    streams: reading => tables.map(of => chunksOf(of, reading)),
  };
}

/** Yields the given columns of a file in batches, joined with the columns of its companion file. */
async function* batchesOf(
  { table, beside }: FilesOfTable,
  file: string,
  columns: readonly string[],
  onBytes: (count: number) => void,
): AsyncGenerator<readonly TableRow[]> {
  const { delimiter, header, json } = table;
  const asked = { columns, delimiter, header, json: json && { rows: json.rows, before: json.before } };
  const other = beside.get(file);
  if (table.beside === undefined || other === undefined) {
    yield* rowBatches(file, asked, onBytes);
    return;
  }
  const theirs = new Set(table.beside.header);
  const [own, others] = [columns.filter(name => !theirs.has(name)), columns.filter(name => theirs.has(name))];
  const places = columns.map(name => (theirs.has(name) ? own.length + others.indexOf(name) : own.indexOf(name)));
  const rows = rowBatches(file, { ...asked, columns: own }, onBytes);
  const otherRows = oneByOne(rowBatches(other, { columns: others, delimiter, header: table.beside.header }, onBytes));
  for await (const batch of rows) {
    const joined: TableRow[] = [];
    for (const row of batch) {
      const next = await otherRows.next();
      if (next.done === true)
        throw new WrongFile(`${other}: has fewer rows than ${file}; expected equal numbers of rows`);
      const all = row === null || next.value === null ? null : [...row, ...next.value];
      joined.push(all === null ? null : places.map(place => all[place]!));
    }
    yield joined;
  }
  if ((await otherRows.next()).done !== true)
    throw new WrongFile(`${other}: has more rows than ${file}; expected equal numbers of rows`);
}

async function* oneByOne<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}

function chunksOf(of: FilesOfTable, reading: ImportReading): AsyncGenerator<Chunk> {
  const { table, files } = of;
  const columns = columnsOf(table);
  const places = new Map(columns.map((column, place) => [column, place]));
  let here = '';
  const place = () => here;
  const timeOf = rowTime(table.time, reading.findings, place);
  const receivedOf = table.received === undefined ? null : rowTime(table.received);
  const read = readerOf(table, reading.instrument, reading.findings);
  const seconds = table.silence ?? (table.kind === 'trades' ? Infinity : SILENCE_S);
  const silence = new Silence(reading, seconds * 1_000, table.kind === 'trades' ? 'trade' : 'book row');
  const where = Object.entries(table.where);
  const stated = new MappingCheck(table);
  const above =
    table.header === undefined && table.json === undefined && /\.(?:csv|tsv|txt)$/.test(unpackedName(files[0]!))
      ? 1
      : 0;
  const timed = async function* (file: string) {
    let line = above;
    for await (const batch of batchesOf(of, file, columns, reading.bytes)) {
      const items: Item[] = [];
      for (const row of batch) {
        const item = itemOf(row, ++line, file);
        if (item !== null) items.push(item);
      }
      yield items;
    }
  };
  const itemOf = (row: TableRow, line: number, file: string): Item | null => {
    here = `${file}:${line}`;
    if (row === null)
      return {
        row: [],
        line,
        why: new RangeError('the line is neither valid JSON nor a row with as many cells as the header'),
      };
    const cells = (column: string): string => row[places.get(column)!]!;
    stated.row(cells);
    if (where.some(([column, of]) => !of.includes(cells(column)))) return null;
    stated.ownRow(cells);
    try {
      return { row, line, at: timeOf(cells, file) };
    } catch (error) {
      return { row, line, why: error };
    }
  };
  const batches = (file: string) =>
    table.sort === undefined ? timed(file) : sortedByTime(timed(file), table.sort * 1_000, reading.findings, file);
  const chunks = rowsOf<Item>(
    files,
    reading,
    batches,
    ({ line }) => line,
    (item, _line, rows, file) => {
      if ('why' in item) throw item.why;
      const { row, at } = item;
      const cells = (column: string): string => row[places.get(column)!]!;
      read(cells, at, receivedOf === null ? at : receivedOf(cells, file), rows);
      silence.heard(at);
    },
  );
  return checked(chunks, stated, reading.findings, files);
}

/**
 * Yields the chunks unchanged, and checks the words of the mapping after the last chunk. If a wrong word makes rows
 * unreadable, the error lists the words that occur in the column.
 */
async function* checked(
  chunks: AsyncGenerator<Chunk>,
  stated: MappingCheck,
  findings: Findings,
  files: readonly string[],
): AsyncGenerator<Chunk> {
  const named = (why: string) => new WrongFile(`${sourceOf(files)}: ${why}`);
  try {
    yield* chunks;
  } catch (error) {
    const why = error instanceof WrongFile ? stated.failure(key => /^(side|event|unchanged)/.test(key)) : null;
    throw why === null ? error : named(why);
  }
  try {
    stated.check(findings);
  } catch (error) {
    throw error instanceof WrongFile ? named(error.message) : error;
  }
}

/** Row with its time, or the reason why the row has no time. */
type Item = { readonly row: readonly string[]; readonly line: number } & (
  { readonly at: Millis } | { readonly why: unknown }
);

/** Sorts rows that are at most `window` ms late. Keeps the rows of the last `window` ms in memory. */
async function* sortedByTime(
  batches: AsyncIterable<readonly Item[]>,
  window: Millis,
  findings: Findings,
  file: string,
): AsyncGenerator<readonly Item[]> {
  let held: { readonly item: Item; readonly at: Millis }[] = [];
  let latest = -Infinity;
  for await (const batch of batches) {
    for (const item of batch) {
      const at = 'at' in item ? item.at : latest;
      if (at < latest) findings.found('rows out of order', 'sorted by time', `${file}:${item.line}`);
      latest = Math.max(latest, at);
      held.push({ item, at });
    }
    held.sort((a, b) => a.at - b.at);
    const ready = held.filter(({ at }) => at <= latest - window);
    held = held.slice(ready.length);
    yield ready.map(({ item }) => item);
  }
  yield held.map(({ item }) => item);
}

/** Sorts files by their first readable time; files without a readable time come last. */
async function inOrderOfTime(of: FilesOfTable): Promise<readonly string[]> {
  const { table, files } = of;
  const columns = timeColumns(table.time);
  const startOf = async (file: string): Promise<Millis> => {
    const timeOf = rowTime(table.time);
    for await (const batch of batchesOf(of, file, columns, () => undefined)) {
      for (const row of batch) {
        if (row === null) continue;
        try {
          return timeOf(column => row[columns.indexOf(column)]!, file);
        } catch {
          continue;
        }
      }
    }
    return Infinity;
  };
  const timed: { file: string; at: Millis }[] = [];
  for (const file of files) timed.push({ file, at: files.length === 1 ? 0 : await startOf(file) });
  return timed.sort((a, b) => a.at - b.at).map(({ file }) => file);
}

/** Function that returns the time of a row. */
type RowTime = (cells: (column: string) => string, file: string) => Millis;

function rowTime(time: Time, findings?: Findings, place?: () => string): RowTime {
  const { column, hour, clock, clockDigits, unit, day } = time;
  const read = timeReader(time, findings, place);
  let midnight = { file: '', at: 0 };
  return (cells, file) => {
    const first = column.map(cells).find(cell => cell !== '') ?? '';
    if (day && midnight.file !== file) midnight = { file, at: midnightOf(file) };
    const given = day ? midnight.at : undefined;
    const text =
      hour !== undefined
        ? `${dateAlone(first)} ${cells(hour).padStart(2, '0')}:00:00`
        : clock !== undefined
          ? `${dateAlone(first)} ${clockText(cells(clock), clockDigits)}`
          : day && unit === 'text'
            ? clockText(first, clockDigits)
            : first;
    return read(text, given);
  };
}

/** Removes the time 00:00:00, which some programs add to a date. */
const dateAlone = (text: string): string => text.replace(/[T ]00:00:00(?:\.0+)?Z?$/, '');

function midnightOf(file: string): Millis {
  const found = dateIn(basename(file), 'first') ?? dateIn(dirname(file), 'last');
  if (found === null)
    throw new WrongFile(`${file}: expected a date in the name of the file or of its folder, found none`);
  return found;
}
