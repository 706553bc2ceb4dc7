/** Lookup of whether a time is in a gap of a recording. The times must not decrease. */
import type { Millis } from '../../src/core/index.ts';
import type { Gap } from '../../src/tape/index.ts';

export class GapIterator {
  readonly #gaps: readonly Gap[];
  #next = 0;

  constructor(gaps: readonly Gap[]) {
    this.#gaps = gaps;
  }

  isIn(at: Millis): boolean {
    const gaps = this.#gaps;
    while (this.#next < gaps.length && gaps[this.#next]!.to <= at) this.#next++;
    return this.#next < gaps.length && gaps[this.#next]!.from < at;
  }
}
