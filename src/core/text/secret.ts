/** Text that must not reach a log: it prints as [redacted] and only `reveal` returns it. */
import { inspect } from 'node:util';
import type { SecretText } from '../ports/venue.ts';

const HIDDEN = '[redacted]';

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

  [inspect.custom](): string {
    return HIDDEN;
  }
}
