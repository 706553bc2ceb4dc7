/** A recording that a mapping file describes: its tables in order of time, and their rows. */
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DecimalText, Instrument, Millis } from '../../../core/index.ts';
import { tapeRules } from '../../model/tapeRules.ts';
import { WrongFile } from '../findings.ts';
import type { Findings } from '../findings.ts';
import { inferredTick } from '../grid.ts';
import { rowsOf, shown } from '../lines.ts';
import type { ImportReading } from '../lines.ts';
import { filesAt, filesBelow } from '../parts.ts';
import type { Recording } from '../recording.ts';
import type { Chunk } from '../rows.ts';
import { Silence } from '../silence.ts';
import { mappingOf } from './mapping.ts';
import type { Table, Time } from './mapping.ts';
import { columnsOf, readerOf, timeColumns } from './readers.ts';
import { rowBatches } from './tables.ts';
import type { TableRow } from './tables.ts';

/** What is said of the recording besides the mapping file, and goes before it. */
export type GivenMapped = { readonly book?: string; readonly tick?: DecimalText; readonly lot?: DecimalText };

/** Without a book for longer, nothing was recorded; a table may say another time. */
const SILENCE_S = 600;

type FilesOfTable = { readonly table: Table; readonly files: readonly string[] };

/** Opens the files at `path`, a folder or one file. Rejects with a WrongFile of one line. */
export async function mappedRecording(
  path: string,
  mappingPath: string,
  given: GivenMapped = {},
  onBytes: (count: number) => void = () => undefined,
): Promise<Recording> {
  const text = await readFile(mappingPath, 'utf8').catch((error: unknown) => {
    throw new WrongFile(`${mappingPath}: cannot be read: ${(error as Error).message}`);
  });
  const mapping = mappingOf(text, mappingPath);
  const { dir, files: flat } = await filesAt(path);
  const all = [...flat, ...((await stat(path)).isDirectory() ? await filesBelow(path) : [])];
  const tables: FilesOfTable[] = [];
  for (const table of mapping.tables) {
    const files = all.filter(file => matches(table.files, file)).map(file => join(dir, file));
    if (files.length === 0)
      throw new WrongFile(
        `${path}: no file is like ${table.files}, which ${mappingPath} asks for; there are ${all.slice(0, 3).join(', ') || 'none'}${all.length > 3 ? ', …' : ''}`,
      );
    tables.push({ table, files: await inOrderOfTime(table, files) });
  }
  // At equal times books stand before trades.
  tables.sort((a, b) => Number(a.table.kind === 'trades') - Number(b.table.kind === 'trades'));
  const book = given.book ?? mapping.book;
  const lot = given.lot ?? mapping.lot;
  const open = (tick: DecimalText) => recordingOf(path, tables, tapeRules(book, tick, lot).instrument);
  const tick = given.tick ?? mapping.tick;
  if (tick !== undefined) return open(tick);
  const found = await inferredTick(open, onBytes);
  const recording = open(found);
  return { ...recording, notes: [...recording.notes, `tick ${found} inferred from the prices (or say --tick)`] };
}

/** `*` stands for any letters; a pattern with a folder in it is one of the path from the given folder, another of the file's name. */
const matches = (pattern: string, path: string): boolean =>
  new RegExp(`^${pattern.split('*').map(escaped).join('.*')}$`).test(pattern.includes('/') ? path : basename(path));
const escaped = (text: string): string => text.replace(/[^\w]/g, '\\$&');

function recordingOf(path: string, tables: readonly FilesOfTable[], instrument: Instrument): Recording {
  const kinds = new Set(tables.map(({ table }) => table.kind));
  const has = (...of: readonly Table['kind'][]) => of.some(kind => kinds.has(kind));
  const hasAmounts = tables.some(
    ({ table }) => table.kind !== 'trades' && (table.kind !== 'quotes' || (table.bidAmount ?? null) !== null),
  );
  const depths = tables.map(({ table }) => (table.kind === 'books' ? table.levels : table.kind === 'quotes' ? 1 : 0));
  const notes = !has('quotes', 'books', 'levels', 'orders')
    ? ['trades without a book: good for statistics, not for a replay']
    : hasAmounts
      ? []
      : ['best prices without amounts: good for statistics, not for a replay'];
  return {
    source: path,
    format: 'mapping',
    files: tables.flatMap(({ files }) => files),
    passes: 1,
    instrument,
    fromOrders: has('orders') && !has('levels', 'books', 'quotes'),
    depth: has('levels', 'orders') ? Infinity : Math.max(...depths),
    quotesOnly: !hasAmounts,
    notes,
    streams: reading => tables.map(of => chunksOf(of, reading)),
  };
}

function chunksOf({ table, files }: FilesOfTable, reading: ImportReading): AsyncGenerator<Chunk> {
  const columns = columnsOf(table);
  const places = new Map(columns.map((column, place) => [column, place]));
  const asked = { columns, delimiter: table.delimiter, header: table.header };
  const read = readerOf(table, reading.instrument, reading.findings);
  const seconds = table.silence ?? (table.kind === 'trades' ? Infinity : SILENCE_S);
  const silence = new Silence(reading, seconds * 1_000, table.kind === 'trades' ? 'trade' : 'row of the book');
  const where = Object.entries(table.where);
  const above = table.header === undefined && !files[0]?.endsWith('.parquet') ? 1 : 0;
  const timed = async function* (file: string) {
    let line = above;
    for await (const batch of rowBatches(file, asked, reading.bytes)) {
      const items: Item[] = [];
      for (const row of batch) {
        const item = itemOf(row, ++line, file);
        if (item !== null) items.push(item);
      }
      yield items;
    }
  };
  const itemOf = (row: TableRow, line: number, file: string): Item | null => {
    if (row === null) return { row: [], line, why: new RangeError('not as many cells as the header has') };
    const cells = (column: string): string => row[places.get(column)!]!;
    if (where.some(([column, of]) => !of.includes(cells(column)))) return null;
    try {
      return { row, line, at: timeOf(table.time, cells, file) };
    } catch (error) {
      return { row, line, why: error };
    }
  };
  const batches = (file: string) =>
    table.sort === undefined ? timed(file) : sorted(timed(file), table.sort * 1_000, reading.findings, file);
  return rowsOf<Item>(
    files,
    reading,
    batches,
    ({ line }) => line,
    (item, _line, rows, file) => {
      if ('why' in item) throw item.why;
      const { row, at } = item;
      const cells = (column: string): string => row[places.get(column)!]!;
      read(cells, at, table.received === undefined ? at : timeOf(table.received, cells, file), rows);
      silence.heard(at);
    },
  );
}

/** A row with its time, or why it has none. */
type Item = { readonly row: readonly string[]; readonly line: number } & (
  { readonly at: Millis } | { readonly why: unknown }
);

/** In order of time, as long as no row comes more than `window` ms late. Holds what came in that time. */
async function* sorted(
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

/** By the first row that says when it was; a file without one comes last. */
async function inOrderOfTime(table: Table, files: readonly string[]): Promise<readonly string[]> {
  const columns = timeColumns(table.time);
  const asked = { columns, delimiter: table.delimiter, header: table.header };
  const startOf = async (file: string): Promise<Millis> => {
    for await (const batch of rowBatches(file, asked, () => undefined)) {
      for (const row of batch) {
        if (row === null) continue;
        try {
          return timeOf(table.time, column => row[columns.indexOf(column)]!, file);
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

const TEXT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\s*(Z|UTC|[+-]\d\d:?\d\d)?$/;
const PER_MS = { ms: 1, us: 1e3, ns: 1e6 } as const;
/** 2000 and 2100: a time outside has another unit than was said. */
const [FIRST, LAST] = [946_684_800_000, 4_102_444_800_000];

/** Milliseconds since 1970, to the microsecond. Throws a RangeError on a time that is none. */
function timeOf({ column, hour, unit, zone, day }: Time, cells: (column: string) => string, file: string): Millis {
  const first = column.map(cells).find(cell => cell !== '') ?? '';
  const text = hour === undefined ? first : `${first} ${cells(hour).padStart(2, '0')}:00:00`;
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  const at = unit === 'text' ? textTime(text, zone) : unit === 's' ? number * 1_000 : number / PER_MS[unit];
  const time = Math.round((day ? at + midnightOf(file, zone) : at) * 1_000) / 1_000;
  if (!(time >= FIRST && time < LAST))
    throw new RangeError(`expected a time in ${unit === 'text' ? 'text with a zone' : unit}, found ${shown(text)}`);
  return time;
}

function textTime(text: string, zone: string | undefined): Millis {
  const [, date, time, fraction = '', written] = TEXT.exec(text) ?? [];
  const offset = (written ?? zone)?.replace('UTC', 'Z').replace(/(\d\d)(\d\d)$/, '$1:$2');
  if (date === undefined || offset === undefined) return Number.NaN;
  return Date.parse(`${date}T${time}${offset}`) + Number(`0.${fraction}0`) * 1_000;
}

function midnightOf(file: string, zone = 'Z'): Millis {
  const dates = (text: string) => [...text.matchAll(/(\d{4})-?(\d\d)-?(\d\d)/g)];
  const [, year, month, day] = dates(basename(file))[0] ?? dates(dirname(file)).at(-1) ?? [];
  if (year === undefined) throw new WrongFile(`${file}: no date in its name, nor in a folder's`);
  return Date.parse(`${year}-${month}-${day}T00:00:00${zone}`);
}
