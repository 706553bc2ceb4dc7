/** A map that keeps its newest entries and drops older entries. */

/** Adds an entry, and drops the oldest entries beyond `max`. */
export function keepNewest<T>(map: Map<string, T>, id: string, entry: T, max: number): void {
  map.set(id, entry);
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}
