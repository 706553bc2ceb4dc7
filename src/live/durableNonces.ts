/** Nonces that never repeat across restarts: a mark above everything that may be sent is on disk before it is sent. */
import type { Journal } from './journal.ts';

type Source = { next(): string; last(): bigint; readonly ordered: boolean };

/** One write to disk a minute: a minute of 19-digit nonces (milliseconds and six digits of salt). */
const BLOCK = 60_000n * 1_000_000n;
/** Ahead of the clock, where an earlier run's block left off, each request takes one. A whole block each time would run away from the clock over quick restarts. */
const FEW = 1_000n;

export function durableNonces(source: Source, journal: Pick<Journal, 'nonceMark' | 'reserveNonces'>): Source {
  let mark = journal.nonceMark;
  return {
    ordered: source.ordered,
    last: () => source.last(),
    next: () => {
      const before = source.last();
      const nonce = source.next();
      if (BigInt(nonce) > mark) {
        const reserved = BigInt(nonce) + (BigInt(nonce) === before + 1n ? FEW : BLOCK);
        try {
          journal.reserveNonces(reserved);
          mark = reserved;
        } catch {
          // Cancels must leave also when the disk is full, and orders are held back by their own intents. A nonce is made of the time: only
          // a clock set back before the next start could repeat one that is not on disk, and the exchange refuses a repeat.
        }
      }
      return nonce;
    },
  };
}
