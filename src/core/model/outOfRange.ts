/** Computations that throw RangeError for input from outside. */

/** Returns the result of a computation; `null` if it throws RangeError. Other errors are thrown. */
export function nullIfOutOfRange<T>(compute: () => T): T | null {
  try {
    return compute();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
