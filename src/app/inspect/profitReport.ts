/** `puntas report`: profit of the bot's book by day, from the ledger, as text or data. */
import {
  DAY_MS,
  counted,
  CAUSES,
  causesFrom,
  money,
  pairOf,
  sumOfCauses,
  textOfMoney,
  type Causes,
  type LedgerEntry,
  type Millis,
  type Money,
  type ProfitSinceOpening,
} from '../../core/index.ts';
import { isBroughtForward } from '../../live/state/ledgerEntries.ts';
import type { LedgerFile } from '../../live/state/ledgerFile.ts';
import { wrapped } from '../../messages/wrapped.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { partsText, profitPartsText, profitSentence, signedCents } from '../../messages/shownProfit.ts';
import { columns } from '../../pages/columns.ts';
import {
  bookedTrade,
  sortedByTime,
  isOpeningEntry,
  isOfBook,
  earnedBy,
  profitBy,
  type BookNames,
  type EarnedSums,
} from './ledgerProfit.ts';
import { printedProfit, unknownProfit, type ProfitNow } from './profitNow.ts';
import { dayStart, timeText } from '../../messages/timeText.ts';

export type ProfitDay = EarnedSums & {
  /** Start of the day, UTC. */
  readonly from: Millis;
  readonly net: Money;
  /** Ledger balance of the base currency at the end of the day. */
  readonly inventory: Money;
  /** Ledger balance of the quote currency at the end of the day. */
  readonly cash: Money;
  /** All changes of the day by currency and cause, including changes outside the profit. */
  readonly booked: ReadonlyMap<string, Causes>;
  /** Reason why the day is incomplete; `null` for a complete day. */
  readonly cut: 'begins' | 'older entries are one sum' | 'so far' | null;
};

export type ProfitReport = BookNames & {
  /** Time at which the ledger was read. */
  readonly at: Millis;
  /** Time of the ledger's first entry. */
  readonly knownFrom: Millis;
  /** Whether the first entry is the sum of older entries, whose days are unknown. */
  readonly isFolded: boolean;
  /** Every UTC day from the first to the last, including days without a fill. */
  readonly days: readonly ProfitDay[];
  readonly total: Pick<ProfitDay, 'fills' | 'volume' | 'trading' | 'fees' | 'hedging' | 'net'>;
  /** Kinds of ledger entries outside the profit, with the number of entries of each kind. */
  readonly leftOut: readonly { readonly what: string; readonly count: number }[];
  /** Latest known profit since the opening, and profit of the last run; `null` if not recorded. */
  readonly profit: ProfitNow | null;
};

/** Requested days, inclusive, as starts of UTC days. */
export type DaysAsked = { readonly from?: Millis; readonly to?: Millis };

/**
 * Computes a profit report. `book` is used if the state does not name its book.
 * @throws UsageError if there is nothing to report.
 */
export function profitReport(
  file: LedgerFile,
  asked: DaysAsked,
  now: Millis,
  book?: string,
  current: ProfitNow | null = file.profit && { booked: file.profit, run: null, unknown: null },
): ProfitReport {
  const name = file.book ?? book;
  const entries = sortedByTime(file.entries);
  const [first] = entries;
  if (name === undefined || first === undefined)
    throw new UsageError('the ledger has no entries yet; the bot writes the first entry when it has read its balances');
  // The time can be ahead of the machine's clock, because a bot may run accelerated.
  const at = Math.max(now, entries.at(-1)!.at, current?.booked.at ?? -Infinity);
  const [major, minor] = pairOf(name);
  const names = { book: name, major, minor };
  const moments = [...file.hours, ...(current === null ? [] : [current.booked])];
  const all = profitDays({ entries, names, moments }, at, isBroughtForward(first));
  const { from = -Infinity, to = Infinity } = asked;
  const days = all.filter(day => day.from >= from && day.from <= to);
  if (days.length === 0)
    throw new UsageError(
      `the requested period is outside the ledger, which covers ${dayText(all[0]!.from)} to ${dayText(all.at(-1)!.from)} (UTC)`,
    );
  const shown = entries.filter(entry => entry.at >= days[0]!.from && entry.at < days.at(-1)!.from + DAY_MS);
  return {
    ...{ ...names, at, days, knownFrom: first.at, isFolded: isBroughtForward(first), profit: current },
    total: {
      fills: days.reduce((sum, { fills }) => sum + fills, 0),
      ...{ volume: partSum(days, 'volume'), trading: partSum(days, 'trading'), fees: partSum(days, 'fees') },
      ...{ hedging: partSum(days, 'hedging'), net: partSum(days, 'net') },
    },
    leftOut: leftOutOf(shown, names),
  };
}

const partSum = (days: readonly ProfitDay[], part: 'volume' | 'trading' | 'fees' | 'hedging' | 'net'): Money =>
  money(days.reduce((sum, day) => sum + day[part], 0n));

type DaySources = {
  readonly entries: readonly LedgerEntry[];
  readonly names: BookNames;
  readonly moments: readonly ProfitSinceOpening[];
};

/**
 * Returns the profit of each day. Days are valued at the mid price, starting with the first day whose end was recorded.
 * Earlier days (of an older Puntas) are valued at the last fill.
 */
function profitDays({ entries, names, moments }: DaySources, at: Millis, isFolded: boolean): readonly ProfitDay[] {
  const sums = earnedBy('day', profitBy('day', entries, names, Infinity), moments, Infinity);
  const byDay = new Map<Millis, LedgerEntry[]>();
  for (const entry of entries) {
    const from = dayStart(entry.at);
    const own = byDay.get(from);
    if (own === undefined) byDay.set(from, [entry]);
    else own.push(entry);
  }
  const days: ProfitDay[] = [];
  const held = new Map<string, bigint>();
  const first = dayStart(entries[0]!.at);
  const today = dayStart(at);
  let mark: EarnedSums['mark'] = null;
  let marked: EarnedSums['marked'] = null;
  for (let from = first; from <= today; from += DAY_MS) {
    const booked = causesFrom(byDay.get(from) ?? []);
    for (const [currency, causes] of booked) held.set(currency, (held.get(currency) ?? 0n) + sumOfCauses(causes));
    const day: EarnedSums = sums.get(from) ?? { ...NOTHING, mark, marked };
    ({ mark, marked } = day);
    days.push({
      ...{ ...day, from, booked, net: money(day.trading + day.fees + day.hedging) },
      inventory: money(held.get(names.major) ?? 0n),
      cash: money(held.get(names.minor) ?? 0n),
      cut: from >= today ? 'so far' : from > first ? null : isFolded ? 'older entries are one sum' : 'begins',
    });
  }
  return days;
}

const ZERO = money(0n);
const NOTHING = {
  ...{ fills: 0, volume: ZERO, trading: ZERO, fees: ZERO, hedging: ZERO },
  ...{ spread: null, inventoryGain: null },
};

/** Counts ledger entries that are not part of the book's profit. */
function leftOutOf(entries: readonly LedgerEntry[], names: BookNames): ProfitReport['leftOut'] {
  const counts = new Map<string, number>();
  const count = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const isOurs = (currency: string): boolean => currency === names.major || currency === names.minor;
  for (const entry of entries) {
    if (isOpeningEntry(entry)) continue;
    const moved = entry.changes.filter(({ amount }) => amount !== 0n);
    if (isOfBook(entry, names)) {
      for (const { cause, currency } of moved)
        if (!isOurs(currency)) count(`${cause === 'fees' ? 'fees' : cause} in ${currency}`);
    } else if (bookedTrade(entry) !== null) count('trades in other books');
    else for (const { cause, currency } of moved) count(`${cause} of ${currency}`);
  }
  return [...counts].map(([what, times]) => ({ what, count: times }));
}

/** Returns the report as one JSON object with exact sums. */
export function reportJson(report: ProfitReport): object {
  const { book, major, minor, at, knownFrom, isFolded, days, total, leftOut, profit } = report;
  const printed = printedProfit(profit, minor);
  return {
    ...{ book, major, minor, timezone: 'UTC', at: timeText(at), knownFrom: timeText(knownFrom), folded: isFolded },
    marked: days.at(-1)!.marked,
    total: { fills: total.fills, ...textsOf(total) },
    days: days.map(day => ({
      ...{ day: dayText(day.from), cut: day.cut, fills: day.fills, ...textsOf(day) },
      ...{ inventory: textOfMoney(day.inventory), cash: textOfMoney(day.cash) },
      marked: day.marked,
      mark: day.mark && { price: textOfMoney(day.mark.price), at: timeText(day.mark.at) },
      booked: Object.fromEntries([...day.booked].map(([currency, causes]) => [currency, causesText(causes)])),
    })),
    leftOut,
    profit: printed,
    ...(profit === null || profit.unknown === null ? {} : { profitUnknown: profit.unknown }),
    counted: printed && {
      spread: printed.spread,
      inventory: printed.inventory,
      fees: printed.fees,
      hedging: printed.hedging,
      total: printed.total,
    },
  };
}

const textsOf = ({ volume, trading, fees, hedging, net }: ProfitReport['total']) => ({
  ...{ volume: textOfMoney(volume), trading: textOfMoney(trading), fees: textOfMoney(fees) },
  ...{ hedging: textOfMoney(hedging), net: textOfMoney(net) },
});

const causesText = (causes: Causes) =>
  Object.fromEntries(CAUSES.flatMap(cause => (causes[cause] === 0n ? [] : [[cause, textOfMoney(causes[cause])]])));

/** Formats the UTC day of a time, such as `2026-11-23`. */
export const dayText = (at: Millis): string => timeText(at).slice(0, 10);

const secondOf = (at: Millis): string => `${timeText(at).slice(0, 19).replace('T', ' ')} UTC`;
/** Formats a UTC time to the minute, such as `2026-11-23 14:05`. */
export const minuteOf = (at: Millis): string => timeText(at).slice(0, 16).replace('T', ' ');

const WIDTH = 80;

/** Returns the report as a table with notes, at most 80 columns wide if the digits fit. */
export function reportText(report: ProfitReport): readonly string[] {
  const { book, major, minor, days } = report;
  return [
    `${book}, ${daysText(days)}, UTC days, in ${minor}`,
    '',
    ...fitted(report),
    '',
    ...[`Column ${major}: holdings at the end of each day.`, ...notesOf(report)].flatMap(note => wrapped(note, WIDTH)),
  ];
}

/** Formats the days as `2026-11-21 to 2026-11-23`, or as a single day. */
export function daysText(days: readonly ProfitDay[]): string {
  const [first, last] = [days[0]!.from, days.at(-1)!.from];
  return first === last ? dayText(first) : `${dayText(first)} to ${dayText(last)}`;
}

/** Returns notes on the reliability of the report, for terminal and page. */
export function notesOf(report: ProfitReport): readonly string[] {
  const { minor, at, days, isFolded, knownFrom, leftOut, profit } = report;
  const last = days.at(-1)!;
  return [
    ...(profit === null ? [] : [profitNote(profit, minor)]),
    last.mark === null
      ? 'There was no trade, so inventory has no price.'
      : last.marked === 'middle'
        ? `Inventory is valued at the mid price at the end of each day; the latest price is ${textOfMoney(last.mark.price)} ${minor}, at ${minuteOf(last.mark.at)}.${byFillsNote(days)}`
        : `Inventory is valued at the price of the last fill, ${textOfMoney(last.mark.price)} ${minor} at ${minuteOf(last.mark.at)}. Later price changes are included only from the next fill.`,
    last.marked === 'middle'
      ? 'Trading is the profit of quotes and inventory. Hedging is the profit of conversions and taker orders.'
      : 'Trading is the profit of inventory and of all trades, including taker orders. Hedging is the profit of conversions.',
    ...(last.cut === 'so far' ? [`The last day has not ended; its figures are as of ${minuteOf(at)}.`] : []),
    isFolded
      ? `The ledger has only the sum of the entries before ${minuteOf(knownFrom)}, so earlier days are unknown.`
      : `The ledger starts at ${minuteOf(knownFrom)}.`,
    ...(leftOut.length === 0
      ? []
      : [
          `Ledger entries that the profit does not include: ${leftOut.map(({ what, count }) => `${what} (${count})`).join(', ')}.`,
        ]),
  ];
}

function profitNote({ booked, run, unknown }: ProfitNow, minor: string): string {
  if (unknown !== null) return `${unknownProfit(unknown)}. The daily figures include only booked entries.`;
  return `Profit at ${booked.at === null ? 'the last checkpoint' : secondOf(booked.at)}: ${profitSentence(booked, run, minor)}.`;
}

/** Returns a note about days that an older Puntas recorded without mid prices; empty if there are none. */
function byFillsNote(days: readonly ProfitDay[]): string {
  const last = days.findLast(({ marked }) => marked === 'last fill');
  return last === undefined
    ? ''
    : ` Days up to ${dayText(last.from)} were recorded by an older version of Puntas and are valued at the price of the last fill.`;
}

/** Maximum number of days of a brief report. */
const BRIEF_DAYS = 7;

/** Returns the profit and the last days, newest first, as lines for a narrow screen. */
export function briefReport({ days, minor, profit }: ProfitReport): string {
  return [
    ...(profit === null ? [] : [briefProfit(profit, minor)]),
    ...days
      .slice(-BRIEF_DAYS)
      .toReversed()
      .map(
        ({ from, cut, net, fills }) =>
          `${dayText(from)}${cut === null ? '' : ` (${CUT_TEXT[cut]})`}: net ${signedCents(net)} ${minor}, ${counted(fills, 'fill')}`,
      ),
  ].join('\n');
}

const CUT_TEXT: Readonly<Record<NonNullable<ProfitDay['cut']>, string>> = {
  begins: 'ledger opened',
  'older entries are one sum': 'incomplete',
  'so far': 'so far',
};

function briefProfit({ booked, run, unknown }: ProfitNow, minor: string): string {
  if (unknown !== null) return unknownProfit(unknown);
  return `Profit ${profitSentence(booked, run, minor, profitPartsText(partsText(booked.profit)))}`;
}

/** Returns the table of days, with as many decimals of the sums as fit into `WIDTH`. */
function fitted(report: ProfitReport): readonly string[] {
  for (let decimals = volumeDecimals(report.total.volume); ; decimals--) {
    const rows = tableOf(report, decimals);
    if (decimals <= 0 || rows.every(row => row.length <= WIDTH)) return rows;
  }
}

/**
 * Returns the number of decimals that suits a volume: two for zero and for 100 or more, otherwise eight, as for a quote
 * currency like BTC.
 */
export const volumeDecimals = (volume: Money): number => (volume === 0n || volume >= 100n * 10n ** 18n ? 2 : 8);

function tableOf({ days, total, major }: ProfitReport, decimals: number): readonly string[] {
  const hasHedging = days.some(({ hedging }) => hedging !== 0n);
  const sum = (of: Money) => roundedMoney(of, decimals);
  const row = (name: string, { fills, volume, trading, fees, hedging, net }: ProfitReport['total'], held: string) => [
    ...[name, String(fills), roundedMoney(volume, decimals > 2 ? decimals - 2 : 0), sum(trading), sum(fees)],
    ...(hasHedging ? [sum(hedging)] : []),
    ...[sum(net), held],
  ];
  const rows = [
    ['day', 'fills', 'volume', 'trading', 'fees', ...(hasHedging ? ['hedging'] : []), 'net', major],
    ...days.map(day => row(dayText(day.from), day, roundedMoney(day.inventory, 6))),
    row('total', total, ''),
  ];
  return columns(rows);
}

/** Rounds exactly to `decimals` places, half away from zero. */
export function roundedMoney(sum: Money, decimals: number): string {
  const unit = 10n ** BigInt(18 - decimals);
  const size = ((sum < 0n ? -sum : sum) + unit / 2n) / unit;
  return textOfMoney(money((sum < 0n ? -size : size) * unit), decimals);
}
