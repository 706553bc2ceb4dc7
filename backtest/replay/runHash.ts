/** The hash of a run, fed with the facts of what happens in it: many of them at a time, because each call of the hash costs as much as a decision, and as numbers, because decimal text of them costs as much again. */
import { createHash } from 'node:crypto';

/** Numbers of eight bytes. */
const AT_ONCE = 1 << 11;
const LETTERS = 4;

export class RunHash {
  readonly #hash = createHash('sha256');
  readonly #numbers = new Float64Array(AT_ONCE);
  /** The same memory as letters: so many in the place of a number. */
  readonly #letters = new Uint16Array(this.#numbers.buffer);
  #count = 0;

  number(fact: number): void {
    // Zero has one spelling: adding it takes the sign off a negative one.
    this.#numbers[this.#next()] = fact + 0;
  }

  /** Its length comes first: where it ends is never in doubt. */
  text(fact: string): void {
    this.number(fact.length);
    for (let from = 0; from < fact.length; from += LETTERS) {
      const at = this.#next();
      this.#numbers[at] = 0;
      const length = Math.min(LETTERS, fact.length - from);
      for (let i = 0; i < length; i++) this.#letters[LETTERS * at + i] = fact.charCodeAt(from + i);
    }
  }

  /** Of everything added; nothing can be added after it. In hex digits. */
  digest(): string {
    this.#flush();
    return this.#hash.digest('hex');
  }

  #next(): number {
    if (this.#count === AT_ONCE) this.#flush();
    return this.#count++;
  }

  #flush(): void {
    this.#hash.update(new Uint8Array(this.#numbers.buffer, 0, this.#count * Float64Array.BYTES_PER_ELEMENT));
    this.#count = 0;
  }
}
