/** Cost of an executed hedge on another exchange, from its trades. */
import { pairOf } from '../model/bookName.ts';
import type { OwnTrade } from '../ports/port.ts';
import { approximately, money, moneyOf, multiplyMoneyFloor, textOfMoney, type Money } from '../model/units.ts';

export type PaidCost = {
  /** Sum of the trades in the base currency, without fees; negative for a purchase. */
  readonly sold: Money;
  /** Cost in the quote currency of the bot's book, rounded up; negative for a gain. */
  readonly cost: Money;
  /** Cost relative to the value of the traded amount at the mid price; `null` if that value is 0. */
  readonly bps: number | null;
  /**
   * Fees in currencies other than the two of the traded book, as text; `null` if there are none. `cost` does not
   * include these fees.
   */
  readonly otherFees: string | null;
};

/**
 * Returns the cost of trades on another exchange, with their fees, against the mid price of the bot's book at the
 * decision; `null` without trades. `rate` is the value of one unit of the other book's quote currency, in the quote
 * currency of the bot's book.
 */
export function paidCost(trades: readonly OwnTrade[], rate: Money, mid: Money): PaidCost | null {
  if (trades.length === 0) return null;
  let [base, cash, traded, sold] = [0n, 0n, 0n, 0n];
  const others = new Map<string, bigint>();
  for (const { book, side, major, minor, feeAmount, feeCurrency } of trades) {
    const [majorThere, minorThere] = pairOf(book);
    const sign = side === 'buy' ? 1n : -1n;
    const fee = moneyOf(feeAmount);
    const amount = absolute(moneyOf(major));
    base += sign * amount;
    cash -= sign * absolute(moneyOf(minor));
    traded += amount;
    sold -= sign * amount;
    if (feeCurrency === majorThere) base -= fee;
    else if (feeCurrency === minorThere) cash -= fee;
    else if (fee !== 0n) others.set(feeCurrency, (others.get(feeCurrency) ?? 0n) + fee);
  }
  const cost = money(-(multiplyMoneyFloor(money(base), mid) + multiplyMoneyFloor(money(cash), rate)));
  const value = approximately(multiplyMoneyFloor(money(traded), mid));
  return {
    sold: money(sold),
    cost,
    bps: value > 0 ? (approximately(cost) / value) * 10_000 : null,
    otherFees:
      others.size === 0 ? null : [...others].map(([name, sum]) => `${textOfMoney(money(sum))} ${name}`).join(', '),
  };
}

const absolute = (sum: bigint): bigint => (sum < 0n ? -sum : sum);
