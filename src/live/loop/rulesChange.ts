/** Differences between two reads of a book's rules and fees, in one line for the operator. */
import { money, textOfMoney, type Instrument, type Price } from '../../core/index.ts';
import type { Rules } from '../rules.ts';

/** Returns the differences as text; `null` if the rules are equal. Rates are in units of 10^-8. */
export function rulesChange(from: Rules, to: Rules): string | null {
  const changes: string[] = [];
  const tell = (name: string, before: string, now: string): void => {
    if (before !== now) changes.push(`${name} ${before} -> ${now}`);
  };
  tell('tick', from.instrument.tick, to.instrument.tick);
  tell('lot', from.instrument.lot, to.instrument.lot);
  for (const [name, text] of BOUNDS) tell(name, text(from.instrument), text(to.instrument));
  tell('maker fee', feePercent(from.makerRate), feePercent(to.makerRate));
  tell('taker fee', feePercent(from.takerRate), feePercent(to.takerRate));
  return changes.length === 0 ? null : `${to.instrument.symbol}: ${changes.join(', ')}`;
}

const lots = (i: Instrument, amount: number): string => decimal(BigInt(amount) * i.lotMoney);
const value = (i: Instrument, tickLots: bigint): string => decimal(tickLots * i.tickLotMoney);
const decimal = (sum: bigint): string => textOfMoney(money(sum));
const BOUNDS: readonly (readonly [string, (of: Instrument) => string])[] = [
  ['smallest price', i => priceText(i, i.priceMin)],
  ['largest price', i => priceText(i, i.priceMax)],
  ['smallest amount', i => lots(i, i.amountMin)],
  ['largest amount', i => lots(i, i.amountMax)],
  ['smallest value', i => value(i, i.valueMin)],
  ['largest value', i => value(i, i.valueMax)],
];
/** Formats a price with as many digits as it needs, because the tick may differ. */
const priceText = (i: Instrument, price: Price): string => decimal(BigInt(price) * i.tickMoney);
/** Returns a rate, in units of 10^-8, as a percentage. */
export const feePercent = (rate: number): string => `${(rate / 1e6).toFixed(4)}%`;
