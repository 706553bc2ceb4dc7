/** Whether the same thing was seen lately: the last few thousand are remembered, and no more. */

const REMEMBERED = 4_096;

export class Remembered {
  #recent = new Set<string>();
  #older = new Set<string>();

  /** True when it is known already; from here on it is. */
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
