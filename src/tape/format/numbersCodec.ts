/**
 * Encoding of a column of integers. A constant column is written once. Other columns become small numbers in planes of
 * one byte per number. Planes are deflated if deflating saves enough space.
 */
import { deflateRawSync } from 'node:zlib';

/**
 * Coding of a column. `same`: every value is `base`. `plain`: a value is base + scale × u. `step`: a value is the
 * previous value plus scale × the zigzag of u; the value before the first is `base`. `double`: the eight bytes of each
 * number. The bytes of u are in one plane each, least significant first.
 */
export const CODING = { same: 0, plain: 1, step: 2, double: 3 } as const;
type Coding = (typeof CODING)[keyof typeof CODING];

export type PackedNumbers = {
  readonly coding: Coding;
  readonly base: number;
  readonly scale: number;
  readonly planes: readonly Plane[];
};
export type Plane = { readonly bytes: Uint8Array; readonly deflates: boolean; readonly cost: number };

/** Returns the smallest encoding of the first `length` integers. */
export function packNumbers(values: Float64Array, length: number): PackedNumbers {
  const first = length === 0 ? 0 : values[0]!;
  let low = first;
  let high = first;
  let stepMax = 0;
  for (let i = 1; i < length; i++) {
    const value = values[i]!;
    if (value < low) low = value;
    if (value > high) high = value;
    const step = Math.abs(value - values[i - 1]!);
    if (step > stepMax) stepMax = step;
  }
  if (low === high) return { coding: CODING.same, base: first, scale: 1, planes: [] };
  // Each bound ensures that the differences and zigzags of a coding are exact.
  const candidates: PackedNumbers[] = [];
  if (high - low <= Number.MAX_SAFE_INTEGER) candidates.push(packedByScale(values, length, low, high));
  if (stepMax < 2 ** 51) candidates.push(steps(values, length));
  if (candidates.length === 0) return doubles(values, length);
  return candidates.reduce((best, one) => (costOf(one) < costOf(best) ? one : best));
}

const costOf = ({ planes }: PackedNumbers): number => planes.reduce((sum, { cost }) => sum + cost, 0);

function packedByScale(values: Float64Array, length: number, low: number, high: number): PackedNumbers {
  let scale = 0;
  for (let i = 0; i < length && scale !== 1; i++) scale = greatestDivisor(values[i]! - low, scale);
  const units = new Float64Array(length);
  for (let i = 0; i < length; i++) units[i] = (values[i]! - low) / scale;
  return { coding: CODING.plain, base: low, scale, planes: planesOf(units, (high - low) / scale) };
}

function steps(values: Float64Array, length: number): PackedNumbers {
  let scale = 0;
  for (let i = 1; i < length && scale !== 1; i++) scale = greatestDivisor(Math.abs(values[i]! - values[i - 1]!), scale);
  const units = new Float64Array(length);
  let high = 0;
  for (let i = 1; i < length; i++) {
    const step = (values[i]! - values[i - 1]!) / scale;
    const unit = step < 0 ? -2 * step - 1 : 2 * step;
    units[i] = unit;
    if (unit > high) high = unit;
  }
  return { coding: CODING.step, base: values[0]!, scale, planes: planesOf(units, high) };
}

function doubles(values: Float64Array, length: number): PackedNumbers {
  const view = new DataView(new ArrayBuffer(8 * length));
  for (let i = 0; i < length; i++) view.setFloat64(8 * i, values[i]!, true);
  const planes = Array.from({ length: 8 }, (_, plane) => {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i++) bytes[i] = view.getUint8(8 * i + plane);
    return planeOf(bytes);
  });
  return { coding: CODING.double, base: 0, scale: 1, planes };
}

/** Returns the greatest common divisor of two non-negative integers; n for 0 and n. */
function greatestDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

function planesOf(units: Float64Array, high: number): Plane[] {
  const planes: Plane[] = [];
  for (let place = 0; high >= 256 ** place; place++) {
    const bytes = new Uint8Array(units.length);
    // The lower 32 bits are extracted by shifts, which are faster than divisions.
    if (place < 4) for (let i = 0; i < units.length; i++) bytes[i] = (units[i]! >>> 0) >>> (8 * place);
    else for (let i = 0; i < units.length; i++) bytes[i] = Math.floor(units[i]! / 256 ** place) % 256;
    planes.push(planeOf(bytes));
  }
  return planes;
}

/**
 * Minimum size of a plane to deflate, in bytes. Deflating a shorter plane is not worthwhile, because its block is soon
 * rewritten as part of a longer block.
 */
const DEFLATE_MIN = 512;
/**
 * Maximum deflated size, as a share of the original size. A plane that shrinks less is stored undeflated, because
 * inflating is the slowest part of decoding.
 */
const DEFLATED_SHARE_MAX = 0.8;

/**
 * Returns a plane with `bytes`, which are not copied or deflated yet. `deflates`: whether deflating is worthwhile.
 * `cost`: the resulting size.
 */
export function planeOf(bytes: Uint8Array): Plane {
  const deflated = bytes.length < DEFLATE_MIN ? Infinity : deflateRawSync(bytes, { level: 1 }).length;
  const deflates = deflated < DEFLATED_SHARE_MAX * bytes.length;
  return { bytes, deflates, cost: deflates ? deflated : bytes.length };
}

/** Decodes `length` numbers from their planes into `to`. */
export function unpackNumbers(
  to: Float64Array,
  length: number,
  { coding, base, scale }: Pick<PackedNumbers, 'coding' | 'base' | 'scale'>,
  planes: readonly Uint8Array[],
): void {
  if (coding === CODING.same) to.fill(base, 0, length);
  else if (coding === CODING.double) unpackDoubles(to, length, planes);
  else if (planes.length <= 4) unpackSmall(to, length, base, scale, coding === CODING.step, planes);
  else unpackLarge(to, length, base, scale, coding === CODING.step, planes);
}

const NOTHING = new Uint8Array(0);

/**
 * Decodes numbers of up to 32 bits. There is one loop for each number of planes, because readers spend most of their
 * time here.
 */
function unpackSmall(
  to: Float64Array,
  length: number,
  base: number,
  scale: number,
  step: boolean,
  planes: readonly Uint8Array[],
): void {
  const [a = NOTHING, b = NOTHING, c = NOTHING, d = NOTHING] = planes;
  let before = base;
  if (step) {
    if (planes.length === 1) {
      for (let i = 0; i < length; i++) {
        const unit = a[i]!;
        to[i] = before += ((unit >>> 1) ^ -(unit & 1)) * scale;
      }
    } else if (planes.length === 2) {
      for (let i = 0; i < length; i++) {
        const unit = a[i]! | (b[i]! << 8);
        to[i] = before += ((unit >>> 1) ^ -(unit & 1)) * scale;
      }
    } else {
      for (let i = 0; i < length; i++) {
        const unit = a[i]! | (b[i]! << 8) | (c[i]! << 16) | (planes.length === 4 ? d[i]! << 24 : 0);
        to[i] = before += ((unit >>> 1) ^ -(unit & 1)) * scale;
      }
    }
  } else if (planes.length === 1) for (let i = 0; i < length; i++) to[i] = base + a[i]! * scale;
  else if (planes.length === 2) for (let i = 0; i < length; i++) to[i] = base + (a[i]! | (b[i]! << 8)) * scale;
  else if (planes.length === 3) {
    for (let i = 0; i < length; i++) to[i] = base + (a[i]! | (b[i]! << 8) | (c[i]! << 16)) * scale;
  } else {
    for (let i = 0; i < length; i++) {
      to[i] = base + ((a[i]! | (b[i]! << 8) | (c[i]! << 16) | (d[i]! << 24)) >>> 0) * scale;
    }
  }
}

function unpackLarge(
  to: Float64Array,
  length: number,
  base: number,
  scale: number,
  step: boolean,
  planes: readonly Uint8Array[],
): void {
  to.fill(0, 0, length);
  let weight = 1;
  for (const plane of planes) {
    for (let i = 0; i < length; i++) to[i] = to[i]! + plane[i]! * weight;
    weight *= 256;
  }
  let before = base;
  for (let i = 0; i < length; i++) {
    const unit = to[i]!;
    if (!step) to[i] = base + unit * scale;
    else to[i] = before += (unit % 2 === 0 ? unit / 2 : -(unit + 1) / 2) * scale;
  }
}

function unpackDoubles(to: Float64Array, length: number, planes: readonly Uint8Array[]): void {
  const view = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < length; i++) {
    planes.forEach((plane, byte) => view.setUint8(byte, plane[i]!));
    to[i] = view.getFloat64(0, true);
  }
}
