/** Reads recordings of fixed 24-byte little-endian records: time (f64, us), receive delay (i32, us), tick, lots, flags (i32 each). */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { windowOf } from './rows.ts';
import type { MarketRows } from './rows.ts';

const RECORD = 24;
const CHUNK = 32_768;

/** Throws an Error of one line when the file is no such recording: torn, empty, or not in time. Times stay in microseconds. */
export function readEventFile(path: string): MarketRows {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size === 0 || size % RECORD !== 0)
      throw new Error(`${path}: ${size} bytes are not whole ${RECORD}-byte records`);
    const length = size / RECORD;
    const at = new Float64Array(length + 1);
    const local = new Float64Array(length + 1);
    const place = new Int32Array(length + 1);
    const lots = new Float64Array(length);
    const flags = new Uint8Array(length);
    const buffer = new ArrayBuffer(CHUNK * RECORD);
    const bytes = new Uint8Array(buffer);
    const times = new Float64Array(buffer);
    const fields = new Int32Array(buffer);
    let before = -Infinity;
    let heard = -Infinity;
    for (let row = 0; row < length;) {
      const count = Math.min(CHUNK, length - row);
      fill(file, bytes.subarray(0, count * RECORD), row * RECORD, path);
      for (let i = 0; i < count; i++, row++) {
        const time = times[3 * i]!;
        const field = 6 * i;
        if (!(time >= before && fields[field + 4]! >= 0 && fields[field + 5]! >>> 2 === 0)) {
          throw new Error(`${path}: record ${row} is out of time, negative, or of an unknown kind`);
        }
        before = time;
        heard = Math.max(heard, time, time + fields[field + 2]!);
        at[row] = time;
        local[row] = heard;
        place[row] = fields[field + 3]!;
        lots[row] = fields[field + 4]!;
        flags[row] = fields[field + 5]!;
      }
    }
    at[length] = Infinity;
    local[length] = Infinity;
    const { base, places } = windowOf(place.subarray(0, length), flags);
    for (let row = 0; row < length; row++) place[row] = Math.min(Math.max(place[row]! - base, 0), places - 1);
    return { length, base, places, at, local, place, lots, flags, orders: null };
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
