/** Rounding of money to the exchange's eight decimals; each function is named after its direction. */
import { money, type Money } from '../../core/index.ts';
import type { Switches } from '../switches/switches.ts';

/** Smallest amount, 10^-8, in units of Money. */
export const SMALLEST = 10n ** 10n;
const RATE_ONE = 10n ** 8n;

/** Rounds toward zero, which is down for sums of 0 or more. */
export const floor8 = (sum: Money): Money => money(sum - (sum % SMALLEST));
/** Rounds up at the eighth decimal, also for negative amounts. */
export const ceil8 = (sum: Money): Money => money(sum + ((SMALLEST - (sum % SMALLEST)) % SMALLEST));

/**
 * Returns the fee on a received sum (0 or more), in the received currency. `rate` is in parts of 10^-8. `half up` is
 * the rounding that public-facts 16.2 documents.
 */
export function feeOn(received: Money, rate: bigint, rounding: Switches['feeRounding']): Money {
  const scaled = received * rate;
  const unit = RATE_ONE * SMALLEST;
  if (rounding === 'down') return money((scaled / unit) * SMALLEST);
  const add = rounding === 'up' ? unit - 1n : unit / 2n;
  return money(((scaled + add) / unit) * SMALLEST);
}
