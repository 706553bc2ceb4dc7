/** A run hour by hour and day by day, as text for JSON. */
import { money, sumOfProfits, textOfMoney } from '../../src/core/index.ts';
import type { Profit } from '../../src/core/index.ts';
import type { Hour } from '../collect/hours.ts';

/** Money as exact decimal text; the parts add up to the total. */
export type Parts = Readonly<Record<'spread' | 'inventory' | 'fees' | 'hedging' | 'total', string>>;

/** What a stretch of time brought; all stretches together brought what the run did. */
export type Period = {
  /** ISO 8601; hours and days are those of UTC, the first and the last may be cut. */
  readonly from: string;
  readonly seconds: number;
  readonly pnl: Parts;
  readonly fills: number;
  /** Traded, in the minor currency. */
  readonly volume: string;
  /** Share of looks with both sides quoted; null of none. */
  readonly both: number | null;
};

/** To the last digit. */
export const partsOf = ({ spread, inventory, fees, hedging, total }: Profit): Parts => ({
  spread: textOfMoney(spread),
  inventory: textOfMoney(inventory),
  fees: textOfMoney(fees),
  hedging: textOfMoney(hedging),
  total: textOfMoney(total),
});

const DAY_MS = 86_400_000;
const hourDay = ({ from }: Hour): number => Math.floor(from / DAY_MS);

/** Hours of one day of UTC together. */
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

/** In the order of `hours`. */
export const periodsOf = (hours: readonly Hour[]): readonly Period[] =>
  hours.map(({ from, to, profit, fills, value, looks, bothLooks }) => ({
    from: new Date(from).toISOString(),
    seconds: (to - from) / 1000,
    pnl: partsOf(profit),
    fills,
    volume: textOfMoney(value),
    both: looks > 0 ? Number((bothLooks / looks).toFixed(4)) : null,
  }));
