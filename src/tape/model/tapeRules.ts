/** Book rules with which the embedded exchange trades a recorded market. */
import {
  instrumentOf,
  LOT,
  money,
  moneyOf,
  textOfMoney,
  type BookRules,
  type DecimalText,
  type Instrument,
} from '../../core/index.ts';

/** Returns rules with the recording's tick and with bounds that are wide enough for any recorded market. */
export function tapeRules(
  book: string,
  tickSize: DecimalText,
  lot?: DecimalText,
): { rules: BookRules; instrument: Instrument } {
  const rules: BookRules = {
    book,
    tickSize,
    minimumAmount: '0.000001',
    maximumAmount: largestAmount(lot),
    minimumPrice: tickSize,
    maximumPrice: '10000000',
    minimumValue: '1',
    maximumValue: '200000000',
  };
  return { rules, instrument: instrumentOf(rules, lot) };
}

/** Returns the maximum amount of an order. Coarser lots allow larger amounts. */
const largestAmount = (lot: DecimalText = LOT): DecimalText =>
  moneyOf(lot) > moneyOf(LOT) ? textOfMoney(money(moneyOf(lot) * 10n ** 15n)) : '100000';
