/** Typed arrays that grow. */

/** Returns a copy of an array with `length` elements; the additional elements are 0. */
export function enlarged<T extends Uint8Array | Int32Array | Float64Array>(from: T, length: number): T {
  const to = new (from.constructor as new (length: number) => T)(length);
  to.set(from);
  return to;
}
