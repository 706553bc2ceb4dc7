/** Profit by UTC hour and day for the console's page. */
import {
  approximately,
  type LedgerEntry,
  type Millis,
  type Money,
  type ProfitSinceOpening,
} from '../../../core/index.ts';
import type { ShownHour } from '../../../console/index.ts';
import { earnedBy, profitBy, type BookNames, type EarnedSums, type ProfitSums } from '../../inspect/ledgerProfit.ts';

type Periods = { readonly hours: Sums; readonly days: Sums };
type Sums = ReadonlyMap<Millis, Readonly<ProfitSums>>;

/**
 * Returns the profit of each hour and day, oldest first, computed by `earnedBy`. `moments` has the profit since the
 * opening of the ledger, at the end of each hour, in order of time. Entries and moments after `until` are ignored.
 */
export function profitByTime(
  entries: readonly LedgerEntry[],
  names: BookNames,
  until: Millis,
  moments: readonly ProfitSinceOpening[],
): { readonly hours: readonly ShownHour[]; readonly days: readonly ShownHour[] } {
  const isWhole = (entries.at(-1)?.at ?? -Infinity) <= until;
  const { hours, days } = isWhole ? wholePeriods(entries, names) : periodsOf(entries, names, until);
  return {
    hours: rowsOf(earnedBy('hour', hours, moments, until)),
    days: rowsOf(earnedBy('day', days, moments, until)),
  };
}

/**
 * Returns the sums by hour and day over all entries of a ledger, valued at the last fill. They are cached by `entries`,
 * because there may be fifty thousand of them, and a view is computed every second.
 */
export function wholePeriods(entries: readonly LedgerEntry[], names: BookNames): Periods {
  const ofBooks = WHOLE.get(entries) ?? new Map<string, Periods>();
  WHOLE.set(entries, ofBooks);
  const periods = ofBooks.get(names.book) ?? periodsOf(entries, names, Infinity);
  ofBooks.set(names.book, periods);
  return periods;
}

/** Sums of each book, by the entries and the symbol. */
const WHOLE = new WeakMap<readonly LedgerEntry[], Map<string, Periods>>();

const periodsOf = (entries: readonly LedgerEntry[], names: BookNames, until: Millis): Periods => ({
  hours: profitBy('hour', entries, names, until),
  days: profitBy('day', entries, names, until),
});

const rowsOf = (of: ReadonlyMap<Millis, EarnedSums>): readonly ShownHour[] =>
  [...of].map(([from, { fills, volume, trading, fees, hedging, spread, inventoryGain }]) => ({
    from,
    fills,
    volume: twoDecimals(volume),
    trading: twoDecimals(trading),
    fees: twoDecimals(fees),
    hedging: twoDecimals(hedging),
    net: twoDecimals((trading + fees + hedging) as Money),
    spread: spread === null ? null : twoDecimals(spread),
    inventory: inventoryGain === null ? null : twoDecimals(inventoryGain),
  }));

const twoDecimals = (sum: Money): string => approximately(sum).toFixed(2);
