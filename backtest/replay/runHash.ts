/** The hash of a run, fed with the texts of what happens in it: many of them at a time, because each call of the hash costs as much as a decision. */
import { createHash } from 'node:crypto';

const AT_ONCE = 1 << 14;

export class RunHash {
  readonly #hash = createHash('sha256');
  #text = '';

  /** Texts one after another are one text. */
  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= AT_ONCE) this.#flush();
  }

  /** Of everything added; nothing can be added after it. In hex digits. */
  digest(): string {
    this.#flush();
    return this.#hash.digest('hex');
  }

  #flush(): void {
    this.#hash.update(this.#text);
    this.#text = '';
  }
}
