/**
 * Encoding of a block of rows: a summary that can be read separately, then the columns
 * (docs/development/tape-layout.md).
 */
import { counted } from '../../core/index.ts';
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { CODING, packNumbers, planeOf, unpackNumbers, type PackedNumbers, type Plane } from './numbersCodec.ts';
import { KIND, type Columns } from '../model/tape.ts';

export const BLOCK_ROWS = 65_536;

/**
 * Summary of a block. Times are in whole microseconds. If no row has a price, the lowest price is Infinity and the
 * highest price -Infinity.
 */
export type BlockSummary = {
  readonly rows: number;
  /** Number of rows of the same day before this block. */
  readonly firstRow: number;
  readonly from: number;
  readonly to: number;
  readonly low: number;
  readonly high: number;
  readonly tradedLow: number;
  readonly tradedHigh: number;
  /** Kinds of rows in the block, as bits: bit k is set if there is a row of kind k. */
  readonly kinds: number;
};

/** Size of a summary in bytes. A summary ends with its own checksum, because readers use it without the columns. */
export const SUMMARY_BYTES = 68;
const COLUMNS = 5;
/**
 * Size of a column's descriptor in bytes: coding, number of planes, bits of the deflated planes, one unused byte; base
 * and scale.
 */
const DESCRIPTOR_BYTES = 20;
const HEAD_BYTES = SUMMARY_BYTES + 8 + (COLUMNS + 1) * DESCRIPTOR_BYTES;

const hasPrice = (kind: number): boolean => kind !== KIND.clear;
const hasId = (kind: number): boolean => kind >= KIND.trade;
const CLEARS = 1 << KIND.clear;
const LEVELS = 1 << KIND.level;

/**
 * Encodes rows `from` to `to` (exclusive) of the columns as one block. Prices, amounts, ids, and times multiplied by
 * 1000 must be integers.
 */
export function encodeRows(columns: Columns, from: number, to: number, firstRow: number): Buffer {
  const rows = to - from;
  const marks = new Uint8Array(rows);
  const columnsOut = Array.from({ length: COLUMNS }, () => new Float64Array(rows));
  const [steps, delays, prices, amounts, ids] = columnsOut as [Float64Array, ...Float64Array[]] as FiveColumns;
  let [low, high, tradedLow, tradedHigh, kinds, idCount] = [Infinity, -Infinity, Infinity, -Infinity, 0, 0];
  let before = microsOf(columns.at[from] ?? 0);
  let lastPrice = firstPrice(columns, from, to);
  for (let i = 0, row = from; i < rows; i++, row++) {
    const kind = columns.kind[row]!;
    const at = microsOf(columns.at[row]!);
    marks[i] = kind | (columns.side[row]! << 4);
    kinds |= 1 << kind;
    steps[i] = at - before;
    before = at;
    delays[i] = microsOf(columns.local[row]!) - at;
    if (hasPrice(kind)) {
      const price = columns.price[row]!;
      lastPrice = price;
      if (price < low) low = price;
      if (price > high) high = price;
      if (kind === KIND.trade) {
        if (price < tradedLow) tradedLow = price;
        if (price > tradedHigh) tradedHigh = price;
      }
    }
    // A row without a price repeats the previous price, because a step of zero takes no space.
    prices[i] = lastPrice;
    amounts[i] = columns.amount[row]!;
    if (hasId(kind)) ids[idCount++] = columns.id[row]!;
  }
  const packed = [
    packMarks(marks),
    packNumbers(steps, rows),
    packNumbers(delays, rows),
    packNumbers(prices, rows),
    packNumbers(amounts, rows),
    packNumbers(ids, idCount),
  ];
  const first = microsOf(columns.at[from] ?? 0);
  const summary = { rows, firstRow, from: first, to: before, low, high, tradedLow, tradedHigh, kinds };
  return written(summary, idCount, packed);
}

type FiveColumns = [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array];

const microsOf = (millis: number): number => Math.round(millis * 1000);

function firstPrice({ kind, price }: Columns, from: number, to: number): number {
  for (let row = from; row < to; row++) if (hasPrice(kind[row]!)) return price[row]!;
  return 0;
}

function packMarks(marks: Uint8Array): PackedNumbers {
  if (marks.every(mark => mark === marks[0])) return { coding: CODING.same, base: marks[0] ?? 0, scale: 1, planes: [] };
  return { coding: CODING.plain, base: 0, scale: 1, planes: [planeOf(marks)] };
}

/** Returns the bytes of a block. All planes that deflate are deflated as one piece, after the other planes. */
function written(summary: BlockSummary, idCount: number, packed: readonly PackedNumbers[]): Buffer {
  const planes = packed.flatMap(column => column.planes);
  const raw = planes.filter(plane => !plane.deflates).map(({ bytes }) => bytes);
  const deflating = planes.filter(plane => plane.deflates).map(({ bytes }) => bytes);
  const deflated = deflating.length === 0 ? Buffer.alloc(0) : deflateRawSync(Buffer.concat(deflating));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(summary.rows, 0);
  head.writeUInt32LE(summary.kinds, 4);
  for (const [i, key] of SUMMARY_NUMBERS.entries()) head.writeDoubleLE(summary[key], 8 + 8 * i);
  head.writeUInt32LE(crc32(head.subarray(0, SUMMARY_BYTES - 4)), SUMMARY_BYTES - 4);
  head.writeUInt32LE(idCount, SUMMARY_BYTES);
  head.writeUInt32LE(deflated.length, SUMMARY_BYTES + 4);
  packed.forEach((column, i) => {
    const place = SUMMARY_BYTES + 8 + i * DESCRIPTOR_BYTES;
    head.writeUInt8(column.coding, place);
    head.writeUInt8(column.planes.length, place + 1);
    head.writeUInt8(bitsOf(column.planes), place + 2);
    head.writeDoubleLE(column.base, place + 4);
    head.writeDoubleLE(column.scale, place + 12);
  });
  return Buffer.concat([head, ...raw, deflated]);
}

const SUMMARY_NUMBERS = ['firstRow', 'from', 'to', 'low', 'high', 'tradedLow', 'tradedHigh'] as const;

const bitsOf = (planes: readonly Plane[]): number =>
  planes.reduce((bits, { deflates }, i) => (deflates ? bits | (1 << i) : bits), 0);

/** Reads the summary from the first SUMMARY_BYTES of a block. */
export function blockSummaryOf(block: Buffer): BlockSummary {
  const [firstRow, from, to, low, high, tradedLow, tradedHigh] = SUMMARY_NUMBERS.map((_, i) =>
    block.readDoubleLE(8 + 8 * i),
  ) as [number, number, number, number, number, number, number];
  const rows = block.readUInt32LE(0);
  return { rows, kinds: block.readUInt32LE(4), firstRow, from, to, low, high, tradedLow, tradedHigh };
}

/** Columns whose memory is reused for each block. */
export type ColumnBuffers = Omit<Columns, 'length'>;

/** Allocates columns for `rows` rows. With `shared`, other threads can read the memory. */
export function columnBuffers(rows: number, shared = false): ColumnBuffers {
  const room = (bytes: number) => (shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes));
  const numbers = () => new Float64Array(room(8 * rows));
  return {
    kind: new Uint8Array(room(rows)),
    side: new Uint8Array(room(rows)),
    at: numbers(),
    local: numbers(),
    price: numbers(),
    amount: numbers(),
    id: numbers(),
  };
}

/** Returns `length` rows from row `from` on, as views of the same memory. */
export function firstRows(buffers: ColumnBuffers | Columns, length: number, from = 0): Columns {
  const { kind, side, at, local, price, amount, id } = buffers;
  const to = from + length;
  return {
    length,
    kind: kind.subarray(from, to),
    side: side.subarray(from, to),
    at: at.subarray(from, to),
    local: local.subarray(from, to),
    price: price.subarray(from, to),
    amount: amount.subarray(from, to),
    id: id.subarray(from, to),
  };
}

/** Decoder of blocks, which reuses its working memory for every block. */
export class RowsDecoder {
  readonly #steps = new Float64Array(BLOCK_ROWS);
  readonly #delays = new Float64Array(BLOCK_ROWS);
  readonly #ids = new Float64Array(BLOCK_ROWS);

  /**
   * Writes the block's rows into `to` from row `offset` on and returns their number. Times are in milliseconds, or in
   * whole microseconds if `inMicros`. Throws a RangeError if the block's length contradicts its summary.
   */
  decode(block: Buffer, to: ColumnBuffers, offset: number, inMicros = false): number {
    const { rows, from, kinds } = blockSummaryOf(block);
    const idCount = block.readUInt32LE(SUMMARY_BYTES);
    if (rows > BLOCK_ROWS || offset + rows > to.kind.length || idCount > rows) {
      throw new RangeError(`a block of ${counted(rows, 'row')} does not fit into the buffer`);
    }
    const columns = columnsIn(block, rows, idCount);
    const [marks, steps, delays, prices, amounts, ids] = columns;
    this.#marks(to, offset, rows, marks!);
    unpack(this.#steps, rows, steps!);
    unpack(this.#delays, rows, delays!);
    unpack(to.price.subarray(offset), rows, prices!);
    unpack(to.amount.subarray(offset), rows, amounts!);
    this.#times(to, offset, rows, from, inMicros ? 1 : 1000);
    if ((kinds & CLEARS) !== 0) {
      for (let row = offset; row < offset + rows; row++) if (!hasPrice(to.kind[row]!)) to.price[row] = 0;
    }
    const { coding, base } = ids!.packed;
    if (idCount === 0 || (coding === CODING.same && base === 0)) to.id.fill(0, offset, offset + rows);
    else if ((kinds & (CLEARS | LEVELS)) === 0) unpack(to.id.subarray(offset), rows, ids!);
    else this.#spreadIds(to, offset, rows, idCount, ids!);
    return rows;
  }

  #marks(to: ColumnBuffers, offset: number, rows: number, { packed, planes }: Found): void {
    const { kind, side } = to;
    const marks = planes[0];
    if (!marks) {
      kind.fill(packed.base & 15, offset, offset + rows);
      side.fill(packed.base >> 4, offset, offset + rows);
      return;
    }
    for (let i = 0, row = offset; i < rows; i++, row++) {
      const mark = marks[i]!;
      kind[row] = mark & 15;
      side[row] = mark >> 4;
    }
  }

  #times({ at, local }: ColumnBuffers, offset: number, rows: number, from: number, divisor: number): void {
    const steps = this.#steps;
    const delays = this.#delays;
    let time = from;
    for (let i = 0, row = offset; i < rows; i++, row++) {
      const step = steps[i]!;
      if (!(step >= 0)) throw new RangeError(`row ${i} of a block is earlier than the previous row`);
      time += step;
      at[row] = time / divisor;
      local[row] = (time + delays[i]!) / divisor;
    }
  }

  #spreadIds({ kind, id }: ColumnBuffers, offset: number, rows: number, idCount: number, found: Found): void {
    const ids = this.#ids;
    unpack(ids, idCount, found);
    for (let row = offset, next = 0; row < offset + rows; row++) id[row] = hasId(kind[row]!) ? ids[next++]! : 0;
  }
}

type Found = {
  readonly packed: Pick<PackedNumbers, 'coding' | 'base' | 'scale'>;
  readonly planes: readonly Uint8Array[];
};

const unpack = (to: Float64Array, length: number, { packed, planes }: Found): void =>
  unpackNumbers(to, length, packed, planes);

/** Maximum number of planes of a column: one for each of a number's eight bytes. */
const PLANES_MAX = 8;

function columnsIn(block: Buffer, rows: number, idCount: number): readonly Found[] {
  const deflatedBytes = block.readUInt32LE(SUMMARY_BYTES + 4);
  const lengths = [rows, rows, rows, rows, rows, idCount];
  let raw = HEAD_BYTES;
  let inflatedBytes = 0;
  const wanted = lengths.map((length, i) => {
    const place = SUMMARY_BYTES + 8 + i * DESCRIPTOR_BYTES;
    const deflates = block.readUInt8(place + 2);
    const planeCount = block.readUInt8(place + 1);
    // The summary bounds the number of rows, and a number has eight bytes, so the inflated size is bounded.
    if (!(planeCount <= PLANES_MAX))
      throw new RangeError(`a column has ${counted(planeCount, 'plane')}, expected at most ${PLANES_MAX}`);
    const planes = Array.from({ length: planeCount }, (_, plane) => {
      const deflated = (deflates & (1 << plane)) !== 0;
      const from = deflated ? inflatedBytes : raw;
      if (deflated) inflatedBytes += length;
      else raw += length;
      return { deflated, from, to: from + length };
    });
    const coding = block.readUInt8(place) as PackedNumbers['coding'];
    return { packed: { coding, base: block.readDoubleLE(place + 4), scale: block.readDoubleLE(place + 12) }, planes };
  });
  if (raw + deflatedBytes !== block.length) {
    throw new RangeError(
      `a block has ${counted(block.length, 'byte')}, but its header states ${counted(raw + deflatedBytes, 'byte')}`,
    );
  }
  const inflated =
    inflatedBytes === 0
      ? block
      : inflateRawSync(block.subarray(raw), {
          maxOutputLength: inflatedBytes,
          chunkSize: Math.max(64, inflatedBytes),
        });
  if (inflatedBytes > 0 && inflated.length !== inflatedBytes) {
    throw new RangeError(`a block inflates to ${counted(inflated.length, 'byte')}, expected ${inflatedBytes}`);
  }
  return wanted.map(({ packed, planes }) => ({
    packed,
    planes: planes.map(({ deflated, from, to }) => (deflated ? inflated : block).subarray(from, to)),
  }));
}
