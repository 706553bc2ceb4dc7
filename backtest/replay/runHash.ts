/**
 * Hash of a run's facts. The facts are hashed in batches, because a call of the hash function takes as long as a
 * decision of the bot. Facts are hashed as numbers, because decimal text would take twice as long.
 */
import { createHash } from 'node:crypto';

/** Batch size, in 8-byte numbers. */
const AT_ONCE = 1 << 11;
const LETTERS = 4;

export class RunHash {
  readonly #hash = createHash('sha256');
  readonly #numbers = new Float64Array(AT_ONCE);
  /** View of `#numbers` as 16-bit characters, four per number. */
  readonly #letters = new Uint16Array(this.#numbers.buffer);
  #count = 0;

  number(fact: number): void {
    // Adding 0 turns -0 into 0, so that zero has one encoding.
    this.#numbers[this.#next()] = fact + 0;
  }

  /** Adds a text, preceded by its length so that its end is unambiguous. */
  text(fact: string): void {
    this.number(fact.length);
    for (let from = 0; from < fact.length; from += LETTERS) {
      const at = this.#next();
      this.#numbers[at] = 0;
      const length = Math.min(LETTERS, fact.length - from);
      for (let i = 0; i < length; i++) this.#letters[LETTERS * at + i] = fact.charCodeAt(from + i);
    }
  }

  /** Returns the final hash in hex; no fact can be added afterwards. */
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
