/** Set of the last few thousand keys, for detecting recent duplicates. */

const REMEMBERED = 4_096;

export class RecentKeys {
  #recent = new Set<string>();
  #older = new Set<string>();

  /** Whether the set has the key. Adds the key if it is new. */
  has(one: string): boolean {
    if (this.#recent.has(one) || this.#older.has(one)) return true;
    this.#recent.add(one);
    if (this.#recent.size >= REMEMBERED) {
      this.#older = this.#recent;
      this.#recent = new Set();
    }
    return false;
  }
}
