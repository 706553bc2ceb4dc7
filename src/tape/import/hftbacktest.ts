/**
 * Importer for hftbacktest's market data files: npz (a zip of one npy) or npy, with records of ev, exch_ts, local_ts,
 * px, qty, order_id, ival, fval.
 */
import type { Readable } from 'node:stream';
import { counted, type Instrument } from '../../core/index.ts';
import { regularFileStream } from '../../guard/index.ts';
import { KIND, SIDE, type SideCode } from '../model/tape.ts';
import { OffGrid } from './digits.ts';
import { WrongFile, type Findings } from './read/findings.ts';
import { GridFinder, type Grid } from './inferredGrid.ts';
import { shown, sourceOf, unreadKind, type ImportReading } from './lines.ts';
import { openEntry } from './read/packed.ts';
import type { Recording } from './recording.ts';
import { RowBuffer, type Chunk } from './rows.ts';
import { Silence } from './silence.ts';

/** Bits and numbers of the field `ev` (hftbacktest, types.rs). */
const EXCHANGE_EVENT = 2 ** 31;
const BUY_EVENT = 1 << 29;
const SELL_EVENT = 1 << 28;
const EVENT = { depth: 1, trade: 2, clear: 3, snapshot: 4, bbo: 5, add: 10, cancel: 11, modify: 12, fill: 13 } as const;

const FIELDS = ['ev', 'exch_ts', 'local_ts', 'px', 'qty', 'order_id', 'ival', 'fval'];
const TYPES = ['u8', 'i8', 'i8', 'f8', 'f8', 'u8', 'i8', 'f8'];
const RECORD_BYTES = 64;
const HEADER_MAX = 1 << 20;
/** Time without a record of the book after which a gap is recorded, in ms, as for Tardis files. */
const GAP_MS = 10 * 60_000;

/** Whether the file name ends in .npy or .npz; reading checks the content. */
export const isHftbacktest = (name: string): boolean => /\.np[yz]$/.test(name);

/**
 * Opens files that are consecutive in time. `fromOrders`: whether per-order records define the book. Nanoseconds are
 * rounded to microseconds and converted to ms. More than 10 minutes without book records are a gap.
 */
export function hftbacktest(
  files: readonly string[],
  instrument: Instrument,
  fromOrders: boolean,
  notes: readonly string[],
): Recording {
  return {
    source: sourceOf(files),
    format: 'hftbacktest',
    files,
    passes: 1,
    instrument,
    fromOrders,
    depth: Infinity,
    quotesOnly: false,
    notes,
    streams: reading => [events(files, reading)],
  };
}

/** Infers tick and lot from all prices and amounts. Rejects with a WrongFile that names the file. */
export async function hftbacktestGrid(files: readonly string[], onBytes: (count: number) => void): Promise<Grid> {
  const finder = new GridFinder();
  for (const file of files) {
    for await (const records of recordsOf(file, onBytes)) {
      for (let at = 0; at + RECORD_BYTES <= records.length; at += RECORD_BYTES) {
        const [px, qty] = [records.readDoubleLE(at + 24), records.readDoubleLE(at + 32)];
        if (records[at] === EVENT.clear || !(px > 0 && px < 1e15 && qty >= 0 && qty < 1e15)) continue;
        finder.price(decimalOfDouble(px));
        finder.amount(decimalOfDouble(qty));
      }
    }
  }
  return finder.grid();
}

/**
 * Whether per-order records define the book. The first record of levels or of orders decides. Rejects with a WrongFile
 * that names the file.
 */
export async function hasOrderRecords(files: readonly string[]): Promise<boolean> {
  for (const file of files) {
    for await (const records of recordsOf(file, () => undefined)) {
      for (let at = 0; at + RECORD_BYTES <= records.length; at += RECORD_BYTES) {
        const kind = records[at];
        if (kind === EVENT.add) return true;
        if (kind === EVENT.depth || kind === EVENT.snapshot) return false;
      }
    }
  }
  return false;
}

/** Returns the decimal number that a double stands for. Digits after the 13th are noise. */
const decimalOfDouble = (double: number): string => String(Number(double.toPrecision(13)));

async function* events(files: readonly string[], reading: ImportReading): AsyncGenerator<Chunk> {
  const { findings } = reading;
  const rows = new RowBuffer(findings, reading.sortMs);
  const reader = new EventReader(reading);
  for (const file of files) {
    let number = 0;
    for await (const records of recordsOf(file, reading.bytes)) {
      for (let at = 0; at + RECORD_BYTES <= records.length; at += RECORD_BYTES) {
        number++;
        findings.line();
        rows.begin(file, number);
        try {
          reader.read(records, at, rows);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          rows.undo();
          findings.unread(file, number, unreadKind('records', error), error.message);
        }
      }
      yield* rows.take();
    }
    yield* rows.take(true);
    if (number === 0) throw new WrongFile(`${file}: no records`);
  }
  findings.check();
}

/** Resting order. `filled`: executed amount that no later record has removed from the order yet. */
type Resting = {
  readonly id: number;
  readonly side: SideCode;
  readonly price: number;
  readonly lots: number;
  filled: number;
};

/**
 * Reader of single records. Prices and amounts are doubles in the file; the reader converts these doubles to the
 * nearest whole ticks and lots, or rejects the record.
 */
class EventReader {
  readonly #findings: Findings;
  readonly #instrument: Instrument;
  readonly #tick: number;
  readonly #lot: number;
  readonly #silence: Silence;
  /** Prices with an amount, by side. A `clear` of a part of a side needs these prices. */
  readonly #levels = [new Set<number>(), new Set<number>()] as const;
  /** Resting orders by their ids. The 64-bit ids do not fit a double, so orders are numbered by arrival. */
  readonly #orders = new Map<bigint, Resting>();
  #lastId = 0;

  constructor(reading: ImportReading) {
    const { instrument, findings } = reading;
    this.#silence = new Silence(reading, GAP_MS, 'book record');
    this.#instrument = instrument;
    this.#findings = findings;
    this.#tick = Number(instrument.tick);
    this.#lot = Number(instrument.lot);
  }

  read(from: Buffer, offset: number, rows: RowBuffer): void {
    const flags = from.readUInt32LE(offset);
    const at = millisOf(from, offset + 8);
    const local = millisOf(from, offset + 16);
    const kind = flags & 0xff;
    // An event can be in the file twice, because the exchange's clock and the local clock order events differently. The
    // local copy is skipped.
    if (flags < EXCHANGE_EVENT) {
      this.#findings.found(
        'records that apply only to the local clock',
        'skipped; records for the exchange clock contain the same events',
        rows.place,
      );
      return;
    }
    const side = (flags & BUY_EVENT) !== 0 ? SIDE.buy : (flags & SELL_EVENT) !== 0 ? SIDE.sell : SIDE.unknown;
    const px = from.readDoubleLE(offset + 24);
    const qty = from.readDoubleLE(offset + 32);
    if (kind !== EVENT.trade && kind !== EVENT.bbo) this.#silence.heard(at);
    switch (kind) {
      case EVENT.depth:
      case EVENT.snapshot: {
        const [price, lots] = [this.#ticks(px), this.#lots(qty)];
        if (side === SIDE.unknown) throw new RangeError('expected a level with a side (bid or ask), found no side');
        if (lots > 0) this.#levels[side].add(price);
        else this.#levels[side].delete(price);
        rows.push(KIND.level, side, at, local, price, lots, 0);
        return;
      }
      case EVENT.trade:
        rows.push(KIND.trade, side, at, local, this.#ticks(px), this.#lots(qty), 0);
        return;
      case EVENT.clear:
        this.#clear(rows, at, local, side, px);
        return;
      case EVENT.add:
      case EVENT.modify:
      case EVENT.cancel:
        this.#order(rows, kind, at, local, side, px, qty, from.readBigUInt64LE(offset + 40));
        return;
      case EVENT.fill: {
        const order = this.#orders.get(from.readBigUInt64LE(offset + 40));
        if (order) order.filled += this.#lots(qty);
        return;
      }
      case EVENT.bbo:
        this.#findings.found('best bids and offers', 'skipped; the depth records contain the same prices', rows.place);
        return;
      default:
        throw new RangeError(`unknown event kind ${kind}`);
    }
  }

  /**
   * Clears the complete book if the record has no side. Otherwise clears that side from the best price to the given
   * price, or completely if the price is invalid.
   */
  #clear(rows: RowBuffer, at: number, local: number, side: SideCode, px: number): void {
    if (side === SIDE.unknown) {
      this.#levels[0].clear();
      this.#levels[1].clear();
      this.#orders.clear();
      rows.clear(at, local);
      return;
    }
    const limit = px > 0 && Number.isFinite(px) ? this.#ticks(px) : null;
    const isIn = (price: number) => limit === null || (side === SIDE.buy ? price >= limit : price <= limit);
    for (const price of this.#levels[side]) {
      if (!isIn(price)) continue;
      this.#levels[side].delete(price);
      rows.push(KIND.level, side, at, local, price, 0, 0);
    }
    for (const [id, order] of this.#orders) {
      if (order.side !== side) continue;
      this.#orders.delete(id);
      rows.push(KIND.remove, side, at, local, order.price, order.lots, order.id);
    }
  }

  #order(
    rows: RowBuffer,
    kind: number,
    at: number,
    local: number,
    side: SideCode,
    px: number,
    qty: number,
    id: bigint,
  ): void {
    const known = this.#orders.get(id);
    if (kind === EVENT.add) {
      if (side === SIDE.unknown) throw new RangeError('expected an order with a side (bid or ask), found no side');
      const order: Resting = {
        id: known?.id ?? ++this.#lastId,
        side,
        price: this.#ticks(px),
        lots: this.#lots(qty),
        filled: 0,
      };
      if (this.#orders.size >= ORDERS_MAX)
        throw new WrongFile(
          `more than ${ORDERS_MAX} orders rest in the book at the same time: the records that remove orders are missing`,
        );
      rows.push(KIND.add, side, at, local, order.price, order.lots, order.id);
      this.#orders.set(id, order);
      return;
    }
    if (known === undefined) {
      this.#findings.found('changes of unknown orders', 'left out', rows.place);
      return;
    }
    if (kind === EVENT.cancel) {
      const left = Math.max(0, known.lots - known.filled);
      rows.push(KIND.remove, known.side, at, local, known.price, left, known.id);
      this.#orders.delete(id);
      return;
    }
    const order: Resting = { ...known, price: this.#ticks(px), lots: this.#lots(qty), filled: 0 };
    rows.push(KIND.change, known.side, at, local, order.price, order.lots, known.id);
    this.#orders.set(id, order);
  }

  #ticks(px: number): number {
    return wholeUnits(px, this.#tick, `${this.#instrument.symbol}'s tick size ${this.#instrument.tick}`);
  }

  #lots(qty: number): number {
    return wholeUnits(qty, this.#lot, `${this.#instrument.symbol}'s lot size ${this.#instrument.lot}`);
  }
}

/** Maximum number of resting orders in a recorded book; the largest known books have about 10,000 orders. */
const ORDERS_MAX = 1_000_000;

/**
 * Converts a double to whole units. Throws an OffGrid if the double is further from a whole number of units than 0.0001
 * units plus a few rounding errors of a double.
 */
function wholeUnits(double: number, unit: number, name: string): number {
  if (!(double >= 0 && Number.isFinite(double)))
    throw new RangeError(`expected a price or amount of zero or more, found ${double}`);
  const exact = double / unit;
  const whole = Math.floor(exact + 0.5);
  if (Math.abs(exact - whole) <= Math.min(0.25, 1e-4 + whole * 2 ** -50)) return whole;
  throw new OffGrid(`${double} is not a multiple of ${name}`);
}

/** Converts 64-bit nanoseconds to milliseconds, rounded to the microsecond. */
const millisOf = (from: Buffer, offset: number): number =>
  Math.floor((from.readUInt32LE(offset) + from.readInt32LE(offset + 4) * 2 ** 32) / 1e3 + 0.5) / 1e3;

/** Yields complete records in batches. */
async function* recordsOf(path: string, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let left = -1;
  try {
    const { stream, share } = await openArray(path);
    for await (const chunk of stream) {
      onBytes((chunk as Buffer).length * share);
      rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
      if (left < 0) {
        const header = headerOf(rest);
        if (header === null) continue;
        rest = rest.subarray(header.bytes);
        left = header.records;
      }
      const count = Math.min(left, Math.floor(rest.length / RECORD_BYTES));
      if (count === 0) continue;
      left -= count;
      yield rest.subarray(0, count * RECORD_BYTES);
      rest = rest.subarray(count * RECORD_BYTES);
    }
    if (left !== 0)
      throw new WrongFile(
        left < 0
          ? 'the file has no npy header'
          : `the file ends early: ${counted(left, 'record is', 'records are')} missing`,
      );
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw message.startsWith(path) ? error : new WrongFile(`${path}: ${message}`, { cause: error });
  }
}

/** Parses the header (npy format, versions 1 to 3); `null` until enough bytes are available. */
function headerOf(bytes: Buffer): { readonly bytes: number; readonly records: number } | null {
  if (bytes.length < 12) return null;
  if (bytes.toString('latin1', 0, 6) !== '\x93NUMPY') throw new WrongFile('not a numpy array');
  const isLong = bytes[6]! > 1;
  const length = isLong ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8);
  const end = (isLong ? 12 : 10) + length;
  if (length > HEADER_MAX)
    throw new WrongFile(`expected a numpy header of at most ${HEADER_MAX} bytes, found ${length}`);
  if (bytes.length < end) return null;
  const text = bytes.toString('latin1', isLong ? 12 : 10, end);
  const found = [...text.matchAll(/\('(\w+)', '[<=|]?(\w+)'\)/g)].map(([, name, type]) => `${name} ${type}`);
  const expected = FIELDS.map((name, i) => `${name} ${TYPES[i]}`);
  if (found.join() !== expected.join()) {
    throw new WrongFile(
      `expected records with the fields ${expected.join(', ')}, found ${found.join(', ') || shown(text)}`,
    );
  }
  const shape = /'shape': \((\d+),\)/.exec(text);
  if (!shape) throw new WrongFile(`expected an array with one dimension, found ${shown(text)}`);
  return { bytes: end, records: Number(shape[1]) };
}

/**
 * Opens the bytes of the array. `share` is the number of file bytes per byte of the array, for the progress display.
 */
async function openArray(path: string): Promise<{ readonly stream: Readable; readonly share: number }> {
  if (path.endsWith('.npy')) return { stream: regularFileStream(path), share: 1 };
  const { entry, stream } = await openEntry(path, name => name.endsWith('.npy'));
  return { stream, share: entry.uncompressedSize === 0 ? 0 : entry.compressedSize / entry.uncompressedSize };
}
