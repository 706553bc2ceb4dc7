/** Check of an execution's fee against the account's known rates. */
import type { OwnTrade } from '../ports/port.ts';
import { moneyOf, type DecimalText } from '../model/units.ts';

/** Largest and smallest number of decimals to which exchanges round a listed fee. */
const [MOST_DECIMALS, FEWEST_DECIMALS] = [8, 5];
const RATE_ONE = 10n ** 8n;

/**
 * Returns the charged rate, in 10^-8, if it differs from the expected rate by more than rounding. Returns `null`
 * otherwise, or for a fee in a third currency, which reveals no rate.
 */
export function differentChargedRate(
  trade: Pick<OwnTrade, 'major' | 'minor' | 'feeAmount' | 'feeCurrency' | 'maker'>,
  pair: { readonly major: string; readonly minor: string },
  rates: { readonly makerRate: number; readonly takerRate: number },
): number | null {
  const currency = trade.feeCurrency.toLowerCase();
  const base = currency === pair.major ? moneyOf(trade.major) : currency === pair.minor ? moneyOf(trade.minor) : 0n;
  if (base === 0n) return null;
  const fee = moneyOf(trade.feeAmount) as bigint;
  const expected = ((base as bigint) * BigInt(trade.maker ? rates.makerRate : rates.takerRate)) / RATE_ONE;
  const difference = fee > expected ? fee - expected : expected - fee;
  // The known rates are rounded up to 10^-8, so the expected fee may be too high by up to 10^-8 of the traded amount.
  if (difference <= roundingOf(trade.feeAmount) + base / RATE_ONE + 1n) return null;
  return Number((fee * RATE_ONE) / base);
}

/** Returns the maximum rounding of a listed fee: one unit of its last decimal, in 10^-18. */
function roundingOf(feeAmount: DecimalText): bigint {
  const decimals = feeAmount.split('.')[1]?.length ?? 0;
  return 10n ** BigInt(18 - Math.min(Math.max(decimals, FEWEST_DECIMALS), MOST_DECIMALS));
}
