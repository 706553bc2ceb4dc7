/** Nonces that must arrive in order, as older endpoints of the exchange want them. */
import type { Clock, NonceSource } from '../../../src/core/index.ts';

/**
 * Creates v1 nonces: strictly increasing milliseconds. Announced as rejected since November 2025; only for older API
 * endpoints.
 */
export function nonceV1(clock: Clock, above = 0n): NonceSource {
  let last = above;
  return {
    ordered: true,
    last: () => last,
    next: () => {
      const now = BigInt(Math.floor(clock.now()));
      last = now > last ? now : last + 1n;
      return last.toString();
    },
  };
}
