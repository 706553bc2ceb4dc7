/**
 * First-in, first-out queue with a cheap `shift`. A Map is slower: removing its first entry visits all entries deleted
 * before.
 */
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  oldest(): T | undefined {
    return this.#items[this.#head];
  }

  newest(): T | undefined {
    return this.size === 0 ? undefined : this.#items[this.#items.length - 1];
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head++];
    // Removed items are freed once they are half of the array, so each item is copied about once.
    if (2 * this.#head > this.#items.length + 32) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }

  /** Returns the items, oldest first. */
  values(): T[] {
    return this.#items.slice(this.#head);
  }
}
