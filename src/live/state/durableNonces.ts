/** Nonces that never repeat across restarts: a mark above everything that may be sent is on disk before it is sent. */
import type { NonceSource } from '../../core/index.ts';
import type { Journal } from './journal.ts';

/** Of 19-digit nonces (milliseconds and six digits of salt). */
const PER_MS = 1_000_000n;
/** A new block while so much of the old one is left: enough to count on in through any time with a full disk. About one write a minute. */
const BLOCK = 70_000n * PER_MS;
const SPARE = 10_000n * PER_MS;
/** Ahead of the clock, where an earlier run's block left off. A whole block each time would run away from the clock over quick restarts. */
const FEW = PER_MS;

/** Throws when the disk takes nothing at the start. */
export function durableNonces(source: NonceSource, journal: Pick<Journal, 'nonceMark' | 'reserveNonces'>): NonceSource {
  let mark = journal.nonceMark;
  const draw = (): { readonly nonce: bigint; readonly isAhead: boolean } => {
    const before = source.last();
    const nonce = BigInt(source.next());
    return { nonce, isAhead: nonce === before + 1n };
  };
  const reserve = ({ nonce, isAhead }: ReturnType<typeof draw>): void => {
    if (nonce + (isAhead ? FEW / 2n : SPARE) <= mark) return;
    const reserved = nonce + (isAhead ? FEW : BLOCK);
    journal.reserveNonces(reserved);
    mark = reserved;
  };
  // Drawn now, so that no run goes on without a block of its own.
  const first = draw();
  reserve(first);
  let used = first.nonce - 1n;
  return {
    ordered: source.ordered,
    last: () => used,
    next: () => {
      if (used < first.nonce) return String((used = first.nonce));
      const wanted = draw();
      try {
        reserve(wanted);
      } catch {
        // A full disk: cancels must leave all the same, and have the rest of the block.
      }
      // Only when all of that is used up, half a million requests later, one leaves that is not on disk.
      used = wanted.nonce > mark && used < mark ? used + 1n : wanted.nonce;
      return String(used);
    },
  };
}
