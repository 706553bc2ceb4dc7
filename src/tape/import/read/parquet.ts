/**
 * Columns of a Parquet file, one row group at a time. Sizes, counts and repetitions are checked against the file size
 * before decoding, so that a small file cannot use much memory.
 */
import { counted } from '../../../core/index.ts';
import { closeSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import {
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetRead,
  type AsyncBuffer,
  type ColumnMetaData,
  type CompressionCodec,
  type Compressors,
  type FileMetaData,
  type SchemaElement,
} from 'hyparquet';
import { compressors as packaged } from 'hyparquet-compressors';
import { decompress } from 'fzstd';
import { openRegularFile } from '../../../guard/index.ts';
import { shown, WrongFile } from './findings.ts';
import { checkThrift, listOfThrift, numberOfThrift, thriftStruct } from './thrift.ts';
import { checkFrames } from './zstd.ts';

/** Columns by name, all of the same length. */
export type ColumnGroup = { readonly rows: number; readonly texts: ReadonlyMap<string, (row: number) => string> };

const FOOTER_MAX = 32 * 1024 * 1024;
/** Maximum number of values in the footer, which has several values for each column of each row group. */
const FOOTER_VALUES_MAX = 2_000_000;
const COLUMNS_MAX = 10_000;
/**
 * Number of cells of the requested columns that a row group may have in a file of any size. `CELLS_PER_BYTE` more cells
 * are allowed per byte of the file.
 */
const CELLS_SMALL = 4_000_000;
/** Cells per byte of the file that are allowed in addition to `CELLS_SMALL`. */
const CELLS_PER_BYTE = 4;
/** Maximum number of cells in a row group, whatever the size of the file. */
const CELLS_MAX = 64_000_000;
/**
 * Number of decompressed bytes that a row group may have in a file of any size. `BYTES_PER_BYTE` more bytes are allowed
 * per byte of the file.
 */
const BYTES_SMALL = 64 * 1024 * 1024;
/** Decompressed bytes per byte of the file that are allowed in addition to `BYTES_SMALL`. */
const BYTES_PER_BYTE = 250;
/** Maximum number of decompressed bytes in a row group, whatever the size of the file. */
const BYTES_MAX = 1024 * 1024 * 1024;

/** Decompressors; each returns at most the number of bytes that the page states. */
const compressors: Compressors = {
  ...packaged,
  LZ4: (packed, length) => packaged[isHadoopLz4(packed) ? 'LZ4' : 'LZ4_RAW']!(packed, length),
  GZIP: (packed, length) => gunzipSync(packed, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (packed, length) => brotliDecompressSync(packed, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (packed, length) => {
    checkFrames(packed);
    return decompress(packed, new Uint8Array(length));
  },
};

/**
 * Whether the bytes are LZ4 blocks in Hadoop's format: each block follows its unpacked and its packed length. The
 * decompressor of the package never returns on a negative length, so it receives only bytes that pass this check.
 */
function isHadoopLz4(packed: Uint8Array): boolean {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  let at = 0;
  while (at + 8 <= packed.length) {
    const length = view.getInt32(at + 4);
    if (length < 0) return false;
    at += 8 + length;
  }
  return at === packed.length;
}

/**
 * Yields the row groups of a Parquet file. `columnsOf` selects from the columns of the file. Error messages do not name
 * the file.
 */
export async function* parquetGroups(
  path: string,
  columnsOf: (names: readonly string[]) => readonly string[],
  onBytes: (count: number) => void,
): AsyncGenerator<ColumnGroup> {
  closeSync(openRegularFile(path));
  const file = await asyncBufferFromFile(path);
  await checkFooter(file);
  const metadata = await parquetMetadataAsync(file, { geoparquet: false });
  const elements = leavesOf(metadata);
  const columns = [...new Set(columnsOf([...elements.keys()]))];
  let from = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    await checkGroup(file, group, columns, elements);
    const texts = new Map<string, (row: number) => string>();
    const parts = new Map(columns.map(column => [column, [] as Part[]]));
    if (rows > 0)
      await parquetRead({
        ...{ file, metadata, compressors, parsers: PARSERS, columns, rowStart: from, rowEnd: from + rows },
        onChunk: ({ columnName, columnData, rowStart }) =>
          void parts.get(columnName)?.push({ from: rowStart - from, data: columnData }),
      });
    for (const [column, of] of parts) texts.set(column, cellsOf(of, rows, column, elements.get(column)!));
    yield { rows, texts };
    onBytes(file.byteLength / metadata.row_groups.length);
    from += rows;
  }
}

type Part = { readonly from: number; readonly data: ArrayLike<unknown> };

/** Returns a function that returns the text of a column's cell by row number. `parts` must cover all rows. */
function cellsOf(
  parts: readonly Part[],
  rows: number,
  column: string,
  element: SchemaElement,
): (row: number) => string {
  const sorted = [...parts].sort((a, b) => a.from - b.from);
  let end = 0;
  for (const { from, data } of sorted) {
    if (from !== end) throw new WrongFile(`column ${column}: rows ${end} to ${from} are missing`);
    end += data.length;
  }
  if (end < rows) throw new WrongFile(`column ${column}: expected ${counted(rows, 'row')}, found ${end}`);
  const textOf = element.type === 'FLOAT' ? textOfFloat32 : textOfValue;
  let at = 0;
  return row => {
    let part = sorted[at]!;
    while (row < part.from || row >= part.from + part.data.length) {
      at = row < part.from ? 0 : at + 1;
      part = sorted[at]!;
    }
    return textOf(part.data[row - part.from]);
  };
}

/** Returns the columns with one value per row, by name. Nested columns are omitted. */
function leavesOf({ schema }: FileMetaData): ReadonlyMap<string, SchemaElement> {
  const elements = schema.slice(1);
  if (elements.length > COLUMNS_MAX)
    throw new WrongFile(`expected at most ${COLUMNS_MAX} columns, found ${elements.length}`);
  const flat = new Map<string, SchemaElement>();
  let inside = 0;
  for (const element of elements) {
    if (inside > 0) inside--;
    else if (element.num_children === undefined && element.repetition_type !== 'REPEATED' && !flat.has(element.name))
      flat.set(element.name, element);
    inside += element.num_children ?? 0;
  }
  return flat;
}

async function checkFooter(file: AsyncBuffer): Promise<void> {
  const { byteLength } = file;
  const tail = new DataView(await file.slice(Math.max(0, byteLength - 8), byteLength));
  if (tail.byteLength < 8 || tail.getUint32(4, true) !== 0x3152_4150)
    throw new WrongFile('not a Parquet file: expected PAR1 as the last four bytes');
  const length = tail.getUint32(0, true);
  if (!(length <= byteLength - 8 && length <= FOOTER_MAX))
    throw new WrongFile(
      `a Parquet footer of ${counted(length, 'byte')} is too large; expected at most ${counted(Math.min(FOOTER_MAX, byteLength - 8), 'byte')}`,
    );
  const footer = new DataView(await file.slice(byteLength - 8 - length, byteLength - 8));
  checkThrift(footer, 0, FOOTER_VALUES_MAX);
}

type Group = FileMetaData['row_groups'][number];

async function checkGroup(
  file: AsyncBuffer,
  group: Group,
  columns: readonly string[],
  elements: ReadonlyMap<string, SchemaElement>,
): Promise<void> {
  const rows = Number(group.num_rows);
  const size = file.byteLength;
  let cells = rows * columns.length;
  const cellsMax = Math.min(CELLS_MAX, CELLS_SMALL + size * CELLS_PER_BYTE);
  if (!(rows >= 0 && cells <= cellsMax))
    throw new WrongFile(
      `a row group of ${counted(rows, 'row')} and ${counted(columns.length, 'column')} is too large for a file of ${counted(size, 'byte')}; write the file with smaller row groups`,
    );
  let bytes = 0;
  for (const column of columns) {
    const [meta, other] = group.columns.flatMap(({ meta_data: of }) => (of?.path_in_schema[0] === column ? [of] : []));
    if (meta === undefined || other !== undefined || meta.path_in_schema.length !== 1)
      throw new WrongFile(`column ${column}: missing or repeated in a row group of ${counted(rows, 'row')}`);
    try {
      for (const page of await pagesOf(file, meta, elements.get(column)!, rows)) {
        bytes += page.bytes;
        if (!((cells += page.entries) <= cellsMax))
          throw new WrongFile(`the dictionary of ${counted(page.entries, 'value')} is too large`);
        if (!(bytes <= Math.min(BYTES_MAX, BYTES_SMALL + size * BYTES_PER_BYTE)))
          throw new WrongFile(
            `a row group of ${counted(rows, 'row')} unpacks to ${counted(bytes, 'byte')}, too many for a file of ${counted(size, 'byte')}; write the file with smaller row groups`,
          );
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new WrongFile(`column ${column}: ${why}`, { cause: error });
    }
  }
}

/** Page of a column: decompressed size in bytes, and number of dictionary entries. */
type Page = { readonly bytes: number; readonly entries: number };

/** Checks each page of a column before it is decoded. */
async function pagesOf(
  file: AsyncBuffer,
  meta: ColumnMetaData,
  element: SchemaElement,
  rows: number,
): Promise<Generator<Page>> {
  const {
    num_values: values,
    total_compressed_size: packed,
    dictionary_page_offset: dictionary,
    data_page_offset: data,
  } = meta;
  const start = Number(dictionary === undefined || dictionary === 0n ? data : dictionary);
  const end = start + Number(packed);
  if (meta.type !== element.type)
    throw new WrongFile(`the values have the type ${meta.type}, expected ${element.type}`);
  if (!(Number(values) === rows))
    throw new WrongFile(`the metadata states ${counted(values, 'value')}, expected ${rows}, one per row`);
  if (!(start >= 0 && end >= start && end <= file.byteLength))
    throw new WrongFile(
      `the metadata places the column at bytes ${start} to ${end}, but the file has only ${counted(file.byteLength, 'byte')}`,
    );
  return pages(new DataView(await file.slice(start, end)), meta.codec, element, rows);
}

const PAGE = { data: 0, dictionary: 2, dataV2: 3 };
const ENCODING = {
  plain: 0,
  plainDictionary: 2,
  rle: 3,
  delta: 5,
  deltaLength: 6,
  deltaBytes: 7,
  rleDictionary: 8,
  split: 9,
};

function* pages(view: DataView, codec: CompressionCodec, element: SchemaElement, rows: number): Generator<Page> {
  let offset = 0;
  let left = rows;
  while (left > 0 && offset < view.byteLength - 1) {
    const { value: header, end } = thriftStruct(view, offset);
    const [type, unpacked, packed] = [1, 2, 3].map(field => numberOfThrift(header[field]));
    const details = listOfThrift(header[type === PAGE.data ? 5 : type === PAGE.dictionary ? 7 : 8]);
    if (!(packed! >= 0 && end + packed! <= view.byteLength && unpacked! >= 0))
      throw new WrongFile(
        `a page has ${counted(`${packed}`, 'byte')} (${unpacked} unpacked), but only ${counted(view.byteLength - end, 'byte')} of the column remain`,
      );
    const bytes = new Uint8Array(view.buffer, view.byteOffset + end, packed);
    const count = numberOfThrift(details[1]);
    offset = end + packed!;
    const isDictionary = type === PAGE.dictionary;
    yield { bytes: unpacked!, entries: isDictionary ? count : 0 };
    if (!(count >= 0)) throw new WrongFile(`a page states an invalid number of values: ${count}`);
    if (isDictionary) {
      if (!(count <= unpacked!))
        throw new WrongFile(`a dictionary of ${counted(count, 'value')} has only ${counted(`${unpacked}`, 'byte')}`);
      unpackedPage(bytes, unpacked!, codec);
      continue;
    }
    if (count > left)
      throw new WrongFile(
        `a page has ${counted(count, 'value')}, but only ${counted(left, 'row remains', 'rows remain')}`,
      );
    left -= count;
    if (type === PAGE.data) {
      const levels = element.repetition_type === 'OPTIONAL' ? 1 : 0;
      checkPage(unpackedPage(bytes, unpacked!, codec), numberOfThrift(details[2]), count, levels, element);
    } else if (type === PAGE.dataV2) checkPageV2(bytes, unpacked!, codec, details, element);
    else throw new WrongFile(`a page has the unsupported type ${type}`);
  }
  if (left > 0) throw new WrongFile(`the pages end early: ${left} of ${counted(rows, 'row is', 'rows are')} missing`);
}

function unpackedPage(bytes: Uint8Array, unpacked: number, codec: CompressionCodec): Uint8Array {
  if (codec === 'UNCOMPRESSED') {
    if (bytes.length !== unpacked)
      throw new WrongFile(`a page has ${counted(bytes.length, 'byte')}, expected ${unpacked}`);
    return bytes;
  }
  const unpack = compressors[codec];
  if (unpack === undefined) throw new WrongFile(`the compression ${codec} is not supported`);
  const page = unpack(bytes, unpacked);
  if (page.length !== unpacked)
    throw new WrongFile(`a page unpacks to ${counted(page.length, 'byte')}, expected ${unpacked}`);
  return page;
}

function checkPageV2(
  bytes: Uint8Array,
  unpacked: number,
  codec: CompressionCodec,
  details: readonly unknown[],
  element: SchemaElement,
): void {
  const [count, nulls, ownRows, encoding, definitions, repetitions] = [1, 2, 3, 4, 5, 6].map(field =>
    numberOfThrift(details[field]),
  ) as [number, number, number, number, number, number];
  if (!(
    nulls >= 0 &&
    nulls <= count &&
    ownRows === count &&
    repetitions === 0 &&
    definitions >= 0 &&
    definitions <= bytes.length
  ))
    throw new WrongFile(
      `a page states ${counted(ownRows, 'row')}, ${counted(count, 'value')} and ${counted(nulls, 'null')}, which do not match`,
    );
  if (element.repetition_type === 'OPTIONAL') checkRuns(bytes, 0, definitions, 1, count);
  const isPacked = details[7] !== false;
  const body = unpackedPage(bytes.subarray(definitions), unpacked - definitions, isPacked ? codec : 'UNCOMPRESSED');
  const isDictionary = encoding === ENCODING.plainDictionary || encoding === ENCODING.rleDictionary;
  // If indices have a width of 0 bits, the decoder reads their runs in a page of version 2, so the runs are checked
  // here. In a page of version 1, the decoder skips the runs.
  if (isDictionary && body[0] === 0) checkRuns(body, 1, body.length, 0, count - nulls);
  else checkPage(body, encoding, count - nulls, 0, element);
}

/**
 * Throws if the runs of a page repeat more values than the page has, or if its encoding can copy earlier values
 * repeatedly.
 */
function checkPage(page: Uint8Array, encoding: number, count: number, levels: 0 | 1, element: SchemaElement): void {
  let [offset, values] = [0, count];
  if (levels === 1) {
    const length = uint32(page, 0);
    if (!(length <= page.length - 4))
      throw new WrongFile(
        `definition levels of ${counted(length, 'byte')} exceed their page of ${counted(page.length, 'byte')}`,
      );
    values = checkRuns(page, 4, 4 + length, 1, count);
    offset = 4 + length;
  }
  if (encoding === ENCODING.plainDictionary || encoding === ENCODING.rleDictionary) {
    const width = page[offset] ?? 0;
    if (width > 32) throw new WrongFile(`dictionary indexes have ${counted(width, 'bit')}, expected at most 32`);
    if (width > 0) checkRuns(page, offset + 1, page.length, width, values);
  } else if (encoding === ENCODING.rle) {
    if (element.type !== 'BOOLEAN') throw new WrongFile('run-length encoding is supported only for boolean columns');
    checkRuns(page, offset + 4, page.length, 1, values);
  } else if (encoding === ENCODING.delta || encoding === ENCODING.deltaLength) {
    const { value: block, end } = varint(page, offset);
    const { value: parts } = varint(page, end);
    if (!(values === 0 || (parts > 0 && parts <= page.length && block % parts === 0 && block > 0)))
      throw new WrongFile(
        `invalid delta encoding with blocks of ${counted(block, 'value')} in ${counted(parts, 'part')}`,
      );
  } else if (encoding === ENCODING.split) {
    const width = element.type_length ?? 8;
    if (element.type === 'FIXED_LEN_BYTE_ARRAY' && !(values * width <= page.length))
      throw new WrongFile(
        `${counted(values, 'value')} of ${counted(width, 'byte')} exceed their page of ${counted(page.length, 'byte')}`,
      );
  } else if (encoding !== ENCODING.plain)
    throw new WrongFile(
      `the encoding ${encoding === ENCODING.deltaBytes ? 'DELTA_BYTE_ARRAY' : encoding} is not supported; write the file with another encoding`,
    );
}

const uint32 = (bytes: Uint8Array, at: number): number =>
  bytes.length < at + 4 ? Number.NaN : new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true);

function varint(bytes: Uint8Array, from: number): { readonly value: number; readonly end: number } {
  let [value, factor, at] = [0, 1, from];
  for (;;) {
    const byte = bytes[at++];
    if (byte === undefined || factor > 2 ** 28) throw new WrongFile('a number is incomplete or too long');
    value += (byte & 127) * factor;
    if (byte < 128) return { value, end: at };
    factor *= 128;
  }
}

/**
 * Checks the runs of `count` values; a run must not have more values than remain. Returns the number of ones if `width`
 * is 1.
 */
function checkRuns(bytes: Uint8Array, from: number, to: number, width: number, count: number): number {
  let [at, left, ones] = [from, count, 0];
  while (left > 0) {
    const { value: header, end } = varint(bytes, at);
    const isPacked = header % 2 === 1;
    const values = Math.floor(header / 2) * (isPacked ? 8 : 1);
    at = end + (isPacked ? (values * width) / 8 : Math.ceil(width / 8));
    // The last groups of eight values may be padded.
    if (!(values > 0 && values < left + (isPacked ? 512 : 1)))
      throw new WrongFile(
        `a run has ${counted(values, 'value')}, but only ${counted(left, 'value remains', 'values remain')}`,
      );
    if (at > to && !(isPacked && values >= left))
      throw new WrongFile('the runs of values extend beyond the end of their page');
    const taken = Math.min(values, left);
    if (width === 1 && !isPacked) ones += (bytes[end]! & 1) * taken;
    else if (width === 1) for (let i = 0; i < taken; i++) ones += (bytes[end + (i >>> 3)]! >>> (i & 7)) & 1;
    left -= taken;
  }
  return ones;
}

/** Parsers that convert times to text, exact to the microsecond. */
const PARSERS = {
  timestampFromMilliseconds: (ms: bigint) => isoOf(ms * 1_000n),
  timestampFromMicroseconds: (us: bigint) => isoOf(us),
  timestampFromNanoseconds: (ns: bigint) => isoOf((ns + 500n) / 1_000n),
};

function isoOf(micros: bigint): string {
  const ms = Number(micros / 1_000n);
  // A Date can represent 100 million days. For other times, the text is the number of microseconds.
  return Math.abs(ms) <= 8.64e15
    ? `${new Date(ms).toISOString().slice(0, -1)}${String(micros % 1_000n).padStart(3, '0')}Z`
    : String(micros);
}

function textOfValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'no date' : value.toISOString();
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  return shown(JSON.stringify(value, (_, of: unknown) => (typeof of === 'bigint' ? String(of) : of)));
}

/** Returns the shortest decimal text of a 32-bit float. */
export function textOfFloat32(value: unknown): string {
  if (typeof value !== 'number' || !Number.isFinite(value)) return textOfValue(value);
  for (let digits = 1; digits < 9; digits++) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) return text;
  }
  return String(Number(value.toPrecision(9)));
}
