/** Money at the eight decimals that the exchange keeps: every rounding of the embedded exchange, with its direction in the name. */
import { money } from '../../core/index.ts';
import type { Money } from '../../core/index.ts';
import type { Switches } from '../switches/switches.ts';

/** 10^-8 in units of Money. */
export const SMALLEST = 10n ** 10n;
const RATE_ONE = 10n ** 8n;

/** Toward zero: the floor of sums of 0 and more. */
export const floor8 = (sum: Money): Money => money(sum - (sum % SMALLEST));
/** Toward plus infinity, whatever the sign; what has eight decimals already stays. */
export const ceil8 = (sum: Money): Money => money(sum + ((SMALLEST - (sum % SMALLEST)) % SMALLEST));

/** Fee on a received sum (not negative) at a rate in parts of 10^-8, in the currency received; half up by public-facts 16.2. */
export function feeOn(received: Money, rate: bigint, rounding: Switches['feeRounding']): Money {
  const scaled = received * rate;
  const unit = RATE_ONE * SMALLEST;
  if (rounding === 'down') return money((scaled / unit) * SMALLEST);
  const add = rounding === 'up' ? unit - 1n : unit / 2n;
  return money(((scaled + add) / unit) * SMALLEST);
}
