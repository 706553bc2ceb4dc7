/** Nonces for signed requests: always increasing, even if the clock goes back. */
import type { Clock, NonceSource, Random } from '../../../core/index.ts';

const SALT = 1_000_000n;
const LOWEST = 10n ** 18n;
const HIGHEST = 10n ** 19n - 1n;

/**
 * Creates v2 nonces of 19 digits: 13 digits of epoch milliseconds and 6 digits of salt (public facts 2.3). The exchange
 * accepts v2 nonces in any order of arrival. `above` is the highest nonce of an earlier run. Throws a RangeError if the
 * clock is past the year 2286.
 */
export function nonceV2(clock: Clock, random: Random, above = 0n): NonceSource {
  let last = above;
  return {
    ordered: false,
    last: () => last,
    next: () => {
      const wanted = wholeMillis(clock) * SALT + BigInt(random.integer(100_000, 999_999));
      const nonce = largest(wanted, last + 1n, LOWEST);
      if (nonce > HIGHEST)
        throw new RangeError(`nonce ${nonce} has more than 19 digits; check the clock of this machine`);
      last = nonce;
      return nonce.toString();
    },
  };
}

const wholeMillis = (clock: Clock): bigint => BigInt(Math.floor(clock.now()));
const largest = (...of: readonly bigint[]): bigint => of.reduce((a, b) => (b > a ? b : a));
