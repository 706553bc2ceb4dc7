/** Everything that happens in a run, as lines: hashed always, printed or kept on demand. */
import { createHash } from 'node:crypto';

export class Trace {
  readonly #hash = createHash('sha256');
  readonly #time: () => number;
  readonly #print: ((line: string) => void) | null;
  #lines = 0;

  constructor(time: () => number, print: ((line: string) => void) | null) {
    this.#time = time;
    this.#print = print;
  }

  get lines(): number {
    return this.#lines;
  }

  add(text: string): void {
    const line = `${this.#time().toFixed(3)} ${text}\n`;
    this.#lines++;
    this.#hash.update(line);
    this.#print?.(line);
  }

  /** To be called once, at the end. */
  digest(): string {
    return this.#hash.digest('hex');
  }
}
