/** Check of an execution's fee against the account's known rates. */
import type { OwnTrade } from '../ports/port.ts';
import { listedUnit, moneyOf } from '../model/units.ts';

/** Maximum number of decimals to which exchanges round a fee. */
const FEE_DECIMALS_MAX = 8;
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
  if (difference <= listedUnit(trade.feeAmount, FEE_DECIMALS_MAX) + base / RATE_ONE + 1n) return null;
  return Number((fee * RATE_ONE) / base);
}
