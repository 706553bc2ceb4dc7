/** A queue that forgets its oldest cheaply. (Taking the first entry of a Map again and again walks over all that were deleted before it.) */
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
    // What is gone is let go of once it is half of the array, so that each item is moved about once.
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

  /** Oldest first. */
  values(): T[] {
    return this.#items.slice(this.#head);
  }
}
