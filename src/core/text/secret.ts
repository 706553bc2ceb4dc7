/** Text that must not reach a log: it prints as [redacted] and only `reveal` returns it. */
import type { SecretText } from '../ports/venue.ts';

const HIDDEN = '[redacted]';
/** `inspect.custom` of node:util, without its types: strategy files use the types of this folder without those of Node. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

export class Secret implements SecretText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the unhidden text, for the signer. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [INSPECT](): string {
    return HIDDEN;
  }
}
