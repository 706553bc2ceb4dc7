/** Minimum of an order in a book, for a hedge at its worst accepted price. */
import { moneyOfValue, type Instrument, type Money } from '../core/index.ts';

/** Whether an order of `amount`, in complete lots, is below the minimum amount of the book. */
export const isBelowAmountMinimum = ({ lotMoney, amountMin }: Instrument, amount: Money): boolean =>
  lotsOf(lotMoney, amount) < BigInt(amountMin);

/**
 * Whether an order of `amount`, in complete lots, is below a minimum of the book. `mid` is the mid price of the bot's
 * book. `unit` is the value of one unit of the instrument's quote currency, in the quote currency of the bot's book.
 * `bps` is the distance of the worst accepted price from `mid`.
 */
export function isBelowOrderMinimum(
  instrument: Instrument,
  amount: Money,
  mid: Money,
  unit: Money,
  bps: number,
): boolean {
  if (isBelowAmountMinimum(instrument, amount)) return true;
  const size = lotsOf(instrument.lotMoney, amount) * instrument.lotMoney;
  const worth = (((size * mid) / unit) * BigInt(Math.floor(10_000 - bps))) / 10_000n;
  return worth < moneyOfValue(instrument, instrument.valueMin);
}

const lotsOf = (lotMoney: bigint, amount: Money): bigint => (amount < 0n ? -amount : amount) / lotMoney;
