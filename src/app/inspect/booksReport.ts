/**
 * `puntas report` of a state directory, with or without a running bot. With several books: the report of each book, and
 * their sums by quote currency.
 */
import { counted, money, textOfMoney, type Clock, type Millis, type Money, type Profit } from '../../core/index.ts';
import { partsText, signedCents } from '../../messages/shownProfit.ts';
import { wrapped } from '../../messages/wrapped.ts';
import {
  dayText,
  daysText,
  profitReport,
  reportJson,
  reportText,
  roundedMoney,
  volumeDecimals,
  type DaysAsked,
  type ProfitDay,
  type ProfitReport,
} from './profitReport.ts';
import { ledgerAt } from './exportLedger.ts';
import { lastMoment, profitAt, profitsOfOthers, type ProfitNow } from './profitNow.ts';

/**
 * Reads a copy of the state and returns the report of each book: the first, then the others, also those that the bot no
 * longer quotes. `book` is used if the state does not name its book; `onInput` receives the time of each replayed
 * input. Rejects with `UsageError` if there is nothing to report.
 */
export async function ledgerReports(
  stateDir: string,
  asked: DaysAsked,
  clock: Clock,
  book?: string,
  onInput?: (at: Millis) => void,
): Promise<readonly ProfitReport[]> {
  const file = await ledgerAt(stateDir, clock);
  const moment = lastMoment(stateDir, onInput);
  const now = clock.now();
  return [
    profitReport(file, asked, now, book, profitAt(moment, file)),
    ...profitsOfOthers(moment, file).map(other => {
      const hours = file.otherBooks?.find(stored => stored.book === other.book)?.hours ?? [];
      return profitReport({ ...file, book: other.book, hours }, asked, now, undefined, other.profit);
    }),
  ];
}

type Sums = ProfitReport['total'];

/** Sums of all books with one quote currency. */
export type ProfitsTogether = {
  readonly currency: string;
  readonly books: readonly string[];
  readonly total: Sums;
  /** Sums of each day, oldest first. */
  readonly days: readonly (Sums & { readonly from: Millis })[];
  /** Profit since the opening; `null` if that of a book is unknown or was never stored. */
  readonly profit: Profit | null;
};

const PARTS = ['volume', 'trading', 'fees', 'hedging', 'net'] as const;

/** Adds the reports of all books by quote currency, in the order of the books. All sums are exact. */
export const profitsTogether = (reports: readonly ProfitReport[]): readonly ProfitsTogether[] =>
  [...new Set(reports.map(({ minor }) => minor))].map(currency => {
    const own = reports.filter(({ minor }) => minor === currency);
    const days = new Map<Millis, Sums[]>();
    for (const day of own.flatMap(report => report.days)) days.set(day.from, [...(days.get(day.from) ?? []), day]);
    return {
      ...{ currency, books: own.map(({ book }) => book), total: sumOfSums(own.map(({ total }) => total)) },
      days: [...days].sort(([a], [b]) => a - b).map(([from, sums]) => ({ from, ...sumOfSums(sums) })),
      profit: profitTogether(own.map(({ profit }) => profit)),
    };
  });

function sumOfSums(all: readonly Sums[]): Sums {
  const sum = (part: (typeof PARTS)[number]): Money => money(all.reduce((of, each) => of + each[part], 0n));
  return {
    fills: all.reduce((of, { fills }) => of + fills, 0),
    ...{ volume: sum('volume'), trading: sum('trading'), fees: sum('fees'), hedging: sum('hedging'), net: sum('net') },
  };
}

/** Adds the profits since the opening; `null` if one is unknown or was never stored. */
export function profitTogether(all: readonly (ProfitNow | null)[]): Profit | null {
  const known = all.flatMap(each => (each === null || each.unknown !== null ? [] : [each.booked.profit]));
  if (known.length < all.length) return null;
  const sum = (part: keyof Profit): Money => money(known.reduce((of, each) => of + each[part], 0n));
  return {
    ...{ spread: sum('spread'), inventory: sum('inventory'), fees: sum('fees') },
    ...{ hedging: sum('hedging'), total: sum('total') },
  };
}

const textsOfSums = (sums: Sums) => ({
  fills: sums.fills,
  ...Object.fromEntries(PARTS.map(part => [part, textOfMoney(sums[part])])),
});

/**
 * Returns the reports as one JSON object: that of the first book, with those of the other books in `others`, and the
 * sums by quote currency in `together`.
 */
export function booksReportJson(reports: readonly ProfitReport[]): object {
  const [first, ...others] = reports;
  if (others.length === 0) return reportJson(first!);
  return {
    ...reportJson(first!),
    others: others.map(reportJson),
    together: Object.fromEntries(
      profitsTogether(reports).map(({ currency, books, total, days, profit }) => [
        currency,
        {
          ...{ books, total: textsOfSums(total) },
          days: days.map(({ from, ...sums }) => ({ day: dayText(from), ...textsOfSums(sums) })),
          profit: profit && partsText(profit),
        },
      ]),
    ),
  };
}

/** Maximum width of the notes, in characters. */
const WIDTH = 80;

/** Returns the report of each book as text, and one paragraph with the sums of each quote currency. */
export function booksReportText(reports: readonly ProfitReport[]): readonly string[] {
  const [first, ...others] = reports;
  if (others.length === 0) return reportText(first!);
  return [
    ...reports.flatMap(report => [...reportText(report), '']),
    `All books, ${daysText(longest(reports))}, by quote currency`,
    ...profitsTogether(reports).flatMap(sums => ['', ...wrapped(togetherText(sums), WIDTH)]),
  ];
}

const longest = (reports: readonly ProfitReport[]): readonly ProfitDay[] =>
  reports.reduce<readonly ProfitDay[]>((most, { days }) => (days.length > most.length ? days : most), []);

/** Returns the sums of one quote currency as a sentence, rounded as in the tables of days. */
export function togetherText({ currency, books, total, profit }: ProfitsTogether): string {
  const decimals = volumeDecimals(total.volume);
  const sum = (of: Money) => roundedMoney(of, decimals);
  const hedging = total.hedging === 0n ? '' : `, hedging ${sum(total.hedging)}`;
  const sinceOpening =
    profit === null
      ? 'the profit since the opening is unknown'
      : `profit since the opening ${signedCents(profit.total)}`;
  return `${currency} (${books.join(', ')}): ${counted(total.fills, 'fill')}, volume ${sum(total.volume)}, trading ${sum(total.trading)}, fees ${sum(total.fees)}${hedging}, net ${sum(total.net)}; ${sinceOpening}.`;
}
