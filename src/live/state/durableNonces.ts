/** Nonces that never repeat across restarts: an upper bound is on disk before any nonce below it is sent. */
import type { Clock, Millis, NonceSource, VenueCredentials } from '../../core/index.ts';
import type { NonceStore } from './journal.ts';

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

/**
 * Returns the time from which nonces made from the clock are above `mark`, the bound of a store; `null` if they are
 * above `mark` already. `isCertain`: whether a nonce above those of the present time was certainly sent. A bound may be
 * up to one `BLOCK` above the sent nonces.
 */
export function aheadUntil(mark: bigint, now: Millis): { readonly until: Millis; readonly isCertain: boolean } | null {
  const present = BigInt(Math.floor(now)) * PER_MS;
  return mark <= present ? null : { until: Number(mark / PER_MS) + 1, isCertain: mark - BLOCK > present };
}

/** Returns the client settings that keep nonces above all earlier nonces of the store. */
export const storedNonces = (store: NonceStore, clock: Clock): Pick<VenueCredentials, 'nonceAbove' | 'durable'> => ({
  nonceAbove: store.nonceMark,
  durable: source => durableNonces(source, store, work => void clock.after(0, work)),
});

/**
 * Returns a nonce source with a durable bound. Throws if the disk accepts no write at the start. `later` calls a
 * function after the current request was sent, so that the request does not wait for the disk while nonces are left.
 */
export function durableNonces(source: NonceSource, store: NonceStore, later: (work: () => void) => void): NonceSource {
  let mark = store.nonceMark;
  let isDue = false;
  const draw = (): { readonly nonce: bigint; readonly isAhead: boolean } => {
    const before = source.last();
    const nonce = BigInt(source.next());
    return { nonce, isAhead: nonce === before + 1n };
  };
  const reserve = ({ nonce, isAhead }: ReturnType<typeof draw>): void => {
    const reserved = nonce + (isAhead ? FEW : BLOCK);
    // The bound never decreases. A later nonce may already have raised the bound further.
    if (reserved <= mark) return;
    store.reserveNonces(reserved);
    mark = reserved;
  };
  // If the disk is full, cancels are still sent, with the remaining nonces of the reserved block.
  const tryToReserve = (drawn: ReturnType<typeof draw>): void => {
    try {
      reserve(drawn);
    } catch {
      return;
    }
  };
  const reserveWhenDue = (drawn: ReturnType<typeof draw>): void => {
    if (drawn.nonce > mark) return tryToReserve(drawn);
    if (isDue || drawn.nonce + (drawn.isAhead ? FEW / 2n : SPARE) <= mark) return;
    isDue = true;
    later(() => {
      isDue = false;
      tryToReserve(drawn);
    });
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
      reserveWhenDue(wanted);
      // After a failed reservation, the remaining nonces of the block are used one by one, so a nonce beyond the
      // durable bound follows only after half a million requests.
      used = wanted.nonce > mark && used < mark ? used + 1n : wanted.nonce;
      return String(used);
    },
  };
}
