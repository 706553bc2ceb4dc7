/**
 * Sequence numbers for an exchange that does not number its books: microseconds of the monotonic clock, so that polled
 * books and those of the stream can be compared.
 */
import type { Clock } from '../../../core/index.ts';

/** Returns a function whose numbers increase with time and with each call. */
export function timedSequence(clock: Clock): () => bigint {
  let last = -1n;
  return () => {
    const now = BigInt(Math.floor(clock.elapsed() * 1_000));
    last = now > last ? now : last + 1n;
    return last;
  };
}
