/** Nonces that never repeat across restarts: an upper bound is on disk before any nonce below it is sent. */
import type { NonceSource } from '../../core/index.ts';
import type { Journal } from './journal.ts';

/** Nonces per millisecond: a 19-digit nonce is epoch milliseconds followed by six digits. */
const PER_MS = 1_000_000n;
/**
 * Number of nonces in a reserved block, enough for 70 s. The next block is reserved when `SPARE` nonces remain, about
 * once per minute. On a full disk, requests use the spare nonces.
 */
const BLOCK = 70_000n * PER_MS;
const SPARE = 10_000n * PER_MS;
/**
 * Number of nonces in a block while the nonces are ahead of the clock. A run starts above the nonces that earlier runs
 * reserved; if each run reserved a full `BLOCK`, quick restarts would move the nonces further and further ahead.
 */
const FEW = PER_MS;

/** Returns a nonce source with a durable bound. Throws if the disk accepts no write at the start. */
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
  // The first block is reserved immediately, so that every run has its own block.
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
        // If the disk is full, cancels are still sent, with the remaining nonces of the reserved block.
      }
      // After a failed reservation, the remaining nonces of the block are used one by one. A nonce beyond the durable
      // bound follows only after half a million requests.
      used = wanted.nonce > mark && used < mark ? used + 1n : wanted.nonce;
      return String(used);
    },
  };
}
