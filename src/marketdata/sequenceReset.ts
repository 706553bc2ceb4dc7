/**
 * Detects that the exchange has restarted the sequence numbers of its book. A few outdated answers do not count as a
 * restart.
 */
import type { Millis } from '../core/index.ts';

/**
 * The sequence numbers have restarted only if all reads for this long were below the number of the current book.
 * Delayed and cached answers do not persist that long.
 */
const RESET_AFTER_MS = 60_000;
const READS_MIN = 5;

export class SequenceReset {
  #low: { readonly since: Millis; last: bigint; reads: number } | null = null;

  /**
   * Records the sequence number of a read book; `shown` is the number of the current book. Returns true if, for at
   * least a minute, all reads had numbers below `shown` that never decreased and that increased at least five times.
   */
  recordRead(sequence: bigint, shown: bigint, now: Millis): boolean {
    if (sequence >= shown) {
      this.#low = null;
      return false;
    }
    if (this.#low === null || sequence < this.#low.last) this.#low = { since: now, last: sequence, reads: 0 };
    const low = this.#low;
    if (sequence > low.last) low.reads++;
    low.last = sequence;
    if (!(now - low.since >= RESET_AFTER_MS && low.reads >= READS_MIN)) return false;
    this.#low = null;
    return true;
  }
}
