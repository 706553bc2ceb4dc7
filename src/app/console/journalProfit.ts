/** Profit by hour and day UTC as the console shows it. */
import { approximately } from '../../core/index.ts';
import type { LedgerEntry, Millis, Money, Profit } from '../../core/index.ts';
import type { ShownHour } from '../../console/index.ts';
import { profitBy } from '../inspect/ledgerProfit.ts';
import type { BookNames, ProfitSums } from '../inspect/ledgerProfit.ts';

type Periods = { readonly hours: Sums; readonly days: Sums };
type Sums = ReadonlyMap<Millis, Readonly<ProfitSums>>;
type Parts = ReadonlyMap<Millis, Pick<Profit, 'spread' | 'inventory'>>;

/** Oldest first, those without an entry left out; entries after `until` count for nothing. `parts`: what is known of hours beside the ledger. */
export function profitByTime(
  entries: readonly LedgerEntry[],
  names: BookNames,
  until: Millis,
  parts: Parts,
): { readonly hours: readonly ShownHour[]; readonly days: readonly ShownHour[] } {
  // Of all of it the sums are made once: there may be fifty thousand entries, and a view a second.
  const isWhole = (entries.at(-1)?.at ?? -Infinity) <= until;
  const { hours, days } = (isWhole ? WHOLE.get(entries) : undefined) ?? {
    hours: profitBy('hour', entries, names, until),
    days: profitBy('day', entries, names, until),
  };
  if (isWhole) WHOLE.set(entries, { hours, days });
  return { hours: rowsOf(hours, parts), days: rowsOf(days, new Map()) };
}

const WHOLE = new WeakMap<readonly LedgerEntry[], Periods>();

const rowsOf = (of: Sums, parts: Parts): readonly ShownHour[] =>
  [...of].map(([from, { fills, volume, trading, fees, hedging }]) => {
    const own = parts.get(from);
    return {
      from,
      fills,
      volume: rounded(volume),
      trading: rounded(trading),
      fees: rounded(fees),
      hedging: rounded(hedging),
      net: rounded((trading + fees + hedging) as Money),
      spread: own ? rounded(own.spread) : null,
      inventory: own ? rounded(own.inventory) : null,
    };
  });

const rounded = (sum: Money): string => approximately(sum).toFixed(2);
