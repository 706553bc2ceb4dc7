/** Nonces of Kraken: whole numbers that must arrive in increasing order, so only one signed request may be pending. */
import type { Clock, NonceSource } from '../../../core/index.ts';

const PER_MS = 1_000_000n;

/**
 * Creates nonces of 19 digits: epoch milliseconds followed by six digits. Each is above the previous one and above
 * `above`, also if the clock goes back.
 *
 * The exchange accepts unsigned 64-bit numbers that increase. A key can have a nonce window, within which earlier nonces
 * are accepted too; the bot does not rely on it. Source: docs.kraken.com/api/docs/guides/spot-rest-auth.
 */
export function risingNonces(clock: Clock, above = 0n): NonceSource {
  let last = above;
  return {
    ordered: true,
    last: () => last,
    next: () => {
      const wanted = BigInt(Math.floor(clock.now())) * PER_MS;
      last = wanted > last ? wanted : last + 1n;
      return last.toString();
    },
  };
}
