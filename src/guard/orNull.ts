/** Returns the result of `work`; `null` if it throws. */
export function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
