/**
 * Recordings of fixed 24-byte little-endian records: time (f64, us), receive delay (i32, us), tick, lots, flags (i32
 * each).
 */
import { openRegularFile } from '../../src/guard/index.ts';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { amount, price } from '../../src/core/index.ts';
import { SIDE, type TapeWriter } from '../../src/tape/index.ts';
import { FLAG, windowOf, type MarketRows } from '../../backtest/rows/rows.ts';

const RECORD = 24;
const CHUNK = 32_768;

/**
 * Reads the rows, with times in microseconds. Throws an Error of one line if the file is torn, empty, or not in order
 * of time.
 */
export function readEventFile(path: string): MarketRows {
  let filled = 0;
  let columns: ReturnType<typeof emptyRows> | undefined;
  let heard = -Infinity;
  eachRecord(path, (total, count, times, fields) => {
    const { at, local, place, lots, flags } = (columns ??= emptyRows(total));
    for (let i = 0; i < count; i++, filled++) {
      const time = times[3 * i]!;
      const field = 6 * i;
      heard = Math.max(heard, time, time + fields[field + 2]!);
      at[filled] = time;
      local[filled] = heard;
      place[filled] = fields[field + 3]!;
      lots[filled] = fields[field + 4]!;
      flags[filled] = fields[field + 5]!;
    }
  });
  const { at, local, place, lots, flags } = columns ?? emptyRows(0);
  const length = filled;
  at[length] = Infinity;
  local[length] = Infinity;
  const { base, places } = windowOf(place.subarray(0, length), flags);
  for (let row = 0; row < length; row++) place[row] = Math.min(Math.max(place[row]! - base, 0), places - 1);
  return { length, base, places, depth: Infinity, at, local, place, lots, flags, orders: null };
}

const emptyRows = (length: number) => ({
  at: new Float64Array(length + 1),
  local: new Float64Array(length + 1),
  place: new Int32Array(length + 1),
  lots: new Float64Array(length),
  flags: new Uint8Array(length),
});

/**
 * Appends the file's events `times` times to a stored tape, each repetition shifted by the file's duration; in constant
 * memory.
 */
export function storeEventFile(path: string, tape: TapeWriter, times = 1): void {
  let [first, last, shift] = [NaN, NaN, 0];
  for (let time = 0; time < times; time++) {
    eachRecord(path, (_total, count, ats, fields) => {
      for (let i = 0; i < count; i++) {
        const field = 6 * i;
        last = ats[3 * i]!;
        if (Number.isNaN(first)) first = last;
        const at = (last + shift) / 1000;
        const local = (last + shift + fields[field + 2]!) / 1000;
        const flags = fields[field + 5]!;
        const side = (flags & FLAG.sell) === 0 ? SIDE.buy : SIDE.sell;
        const tick = price(fields[field + 3]!);
        const lots = amount(fields[field + 4]!);
        if ((flags & FLAG.trade) === 0) tape.level(at, local, side, tick, lots);
        else tape.trade(at, local, side, tick, lots);
      }
    });
    shift += last - first + 1;
  }
}

/**
 * Calls with batches of records: the total number, the batch size, and the times and fields, three and six per record.
 */
function eachRecord(
  path: string,
  call: (total: number, count: number, times: Float64Array, fields: Int32Array) => void,
): void {
  const file = openRegularFile(path);
  try {
    const { size } = fstatSync(file);
    if (size === 0 || size % RECORD !== 0)
      throw new Error(`${path}: ${size} bytes are not whole ${RECORD}-byte records`);
    const total = size / RECORD;
    const buffer = new ArrayBuffer(CHUNK * RECORD);
    const bytes = new Uint8Array(buffer);
    const times = new Float64Array(buffer);
    const fields = new Int32Array(buffer);
    let before = -Infinity;
    for (let row = 0; row < total; row += CHUNK) {
      const count = Math.min(CHUNK, total - row);
      fill(file, bytes.subarray(0, count * RECORD), row * RECORD, path);
      for (let i = 0; i < count; i++) {
        const time = times[3 * i]!;
        if (!(time >= before && fields[6 * i + 4]! >= 0 && fields[6 * i + 5]! >>> 2 === 0)) {
          throw new Error(`${path}: record ${row + i} is out of time, negative, or of an unknown kind`);
        }
        before = time;
      }
      call(total, count, times, fields);
    }
  } finally {
    closeSync(file);
  }
}

function fill(file: number, into: Uint8Array, position: number, path: string): void {
  for (let done = 0; done < into.length;) {
    const read = readSync(file, into, done, into.length - done, position + done);
    if (read === 0) throw new Error(`${path}: became shorter while it was read`);
    done += read;
  }
}
