/** Fewest items of a list with which something still fails. */

/**
 * Leaves out all items, then halves, then smaller parts, down to single ones, for as long as `tryWith` fails without
 * them. `tryWith` returns null when nothing fails, or the items that the failure had, which may be fewer.
 */
export async function fewest<T>(
  all: readonly T[],
  tryWith: (fewer: readonly T[]) => Promise<readonly T[] | null>,
): Promise<readonly T[]> {
  let items = all;
  for (let size = items.length; size >= 1; size = size === 1 ? 0 : Math.ceil(Math.min(size, items.length) / 2)) {
    for (let from = 0; from < items.length;) {
      const left = await tryWith([...items.slice(0, from), ...items.slice(from + size)]);
      if (left) items = left;
      else from += size;
    }
  }
  return items;
}
