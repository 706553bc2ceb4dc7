/** What differs between the rules and fees of a book as they were read twice, in one line for a person. */
import { money, textOfMoney } from '../../core/index.ts';
import type { Instrument, Price } from '../../core/index.ts';
import type { Rules } from '../rules.ts';

/** Null when nothing does. Rates are parts of 10^-8. */
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

/** True when ticks or lots of the one are not those of the other: every price and amount counted in them means something else now. */
export const isOtherGrid = (from: Instrument, to: Instrument): boolean => from.tick !== to.tick || from.lot !== to.lot;

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
/** Without the tick's decimals, which may be what changed. */
const priceText = (i: Instrument, price: Price): string => decimal(BigInt(price) * i.tickMoney);
/** A rate, in parts of 10^-8, for people. */
export const feePercent = (rate: number): string => `${(rate / 1e6).toFixed(4)} %`;
