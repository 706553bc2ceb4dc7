/** Results of a run per hour and per day, as text for JSON. */
import { DAY_MS, money, sumOfProfits, textOfMoney, type Profit } from '../../src/core/index.ts';
import type { Hour } from '../collect/hours.ts';

/** Money as exact decimal text; the parts add up to the total. */
export type Parts = Readonly<Record<'spread' | 'inventory' | 'fees' | 'hedging' | 'total', string>>;

/** Results of a period; the values of all periods add up to the values of the run. */
export type Period = {
  /** Start of the period, in ISO 8601. Hours and days are in UTC; the first and the last may be partial. */
  readonly from: string;
  readonly seconds: number;
  readonly pnl: Parts;
  readonly fills: number;
  /** Traded value, in the quote currency. */
  readonly volume: string;
  /** Share of samples with both sides quoted; `null` without samples. */
  readonly both: number | null;
};

/** Converts a profit to exact decimal text. */
export const partsOf = ({ spread, inventory, fees, hedging, total }: Profit): Parts => ({
  spread: textOfMoney(spread),
  inventory: textOfMoney(inventory),
  fees: textOfMoney(fees),
  hedging: textOfMoney(hedging),
  total: textOfMoney(total),
});

const hourDay = ({ from }: Hour): number => Math.floor(from / DAY_MS);

/** Merges the hours of each UTC day. */
export function daysOf(hours: readonly Hour[]): readonly Hour[] {
  const days: Hour[] = [];
  for (const hour of hours) {
    const last = days.at(-1);
    if (last === undefined || hourDay(last) !== hourDay(hour)) days.push(hour);
    else
      days[days.length - 1] = {
        from: last.from,
        to: hour.to,
        profit: sumOfProfits(last.profit, hour.profit),
        fills: last.fills + hour.fills,
        value: money(last.value + hour.value),
        looks: last.looks + hour.looks,
        bothLooks: last.bothLooks + hour.bothLooks,
      };
  }
  return days;
}

/** Converts hours to periods, in their order. */
export const periodsOf = (hours: readonly Hour[]): readonly Period[] =>
  hours.map(({ from, to, profit, fills, value, looks, bothLooks }) => ({
    from: new Date(from).toISOString(),
    seconds: (to - from) / 1000,
    pnl: partsOf(profit),
    fills,
    volume: textOfMoney(value),
    both: looks > 0 ? Number((bothLooks / looks).toFixed(4)) : null,
  }));
