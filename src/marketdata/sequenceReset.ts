/** Tells an exchange that has begun to count its books anew from one that answers with an old book now and then. */
import type { Millis } from '../core/index.ts';

/** An answer that was held on its way, or in a cache, is not so much older than the last one for so long. */
const ANEW_AFTER_MS = 60_000;
const READS_MIN = 5;

export class SequenceReset {
  #low: { readonly since: Millis; last: bigint; reads: number } | null = null;

  /** A book was read. True when every read of the last minute was below `shown`, and they have grown meanwhile. */
  saw(sequence: bigint, shown: bigint, now: Millis): boolean {
    if (sequence >= shown) {
      this.#low = null;
      return false;
    }
    if (this.#low === null || sequence < this.#low.last) this.#low = { since: now, last: sequence, reads: 0 };
    const low = this.#low;
    if (sequence > low.last) low.reads++;
    low.last = sequence;
    if (!(now - low.since >= ANEW_AFTER_MS && low.reads >= READS_MIN)) return false;
    this.#low = null;
    return true;
  }
}
