/**
 * Charts of a week and of the time since the opening, and the results of each configuration. All of it is from the
 * state file and the log of reloads, so it does not need recordings.
 */
import type { ConfigResult, LongHistory, LongRange } from '../../../console/index.ts';
import {
  DAY_MS,
  HOUR_MS,
  counted,
  approximately,
  ClusteredMean,
  hourOf,
  money,
  NO_PROFIT,
  normalQuantile,
  studentQuantile,
  textOfMoney,
  type LedgerEntry,
  type Millis,
  type Money,
  type ProfitSinceOpening,
} from '../../../core/index.ts';
import { isBroughtForward } from '../../../live/state/ledgerEntries.ts';
import type { LedgerFile } from '../../../live/state/ledgerFile.ts';
import { timeText } from '../../../messages/timeText.ts';
import { bookedTrade, earnedBy, isOfBook, sortedByTime, type BookNames } from '../../inspect/ledgerProfit.ts';
import { CHANGES_MAX, shownChange, type NotedChange } from './configHistory.ts';
import { wholePeriods } from './journalProfit.ts';

const WEEK_MS = 7 * DAY_MS;
/** Maximum number of points of a chart. A longer time has longer steps. */
export const POINTS_MAX = 800;
/** Intervals between points, in ms, from which the shortest possible is chosen. After the last, they double. */
const STEPS_MS = [HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS, 8 * HOUR_MS, DAY_MS];
/** Maximum number of results; the oldest are omitted. */
export const RESULTS_MAX = 50;
/** Minimum effective number of days, or else of hours, from which an interval is computed. */
const CLUSTERS_MIN = 8;
/**
 * Time between two stored profits above which the bot was stopped. The last event of an hour may be some minutes before
 * the hour's end.
 */
const STOP_MS = HOUR_MS + 300_000;
/** Quantile of the normal distribution for both ends of a 95% interval. */
const TWO_SIDED = normalQuantile(0.975);

/** Data from which the long history is made. */
export type LongSource = {
  /** Current run; `null` if unknown. */
  readonly run: number | null;
  /** Time of the request, by the bot's clock. */
  readonly at: Millis;
  readonly names: BookNames;
  /** All entries of the account; hours and profit are those of the book. */
  readonly ledger: Pick<LedgerFile, 'entries' | 'hours' | 'profit'>;
  /** Symbols of the account's other books. */
  readonly otherBooks: readonly string[];
  /** Newest profit since the opening; `null` if unknown. */
  readonly current: ProfitSinceOpening | null;
  /** Changes of the configuration, oldest first. */
  readonly changes: readonly NotedChange[];
  /** Start of the oldest run whose recording exists; `null` if there is none. */
  readonly recordedFrom: Millis | null;
};

/** Profit since the opening at a known time. */
type Stored = ProfitSinceOpening & { readonly at: Millis };
type Trade = { readonly at: Millis; readonly base: Money; readonly quote: Money };

/** Sums at the end of an hour. Parts are `null` where an older Puntas stored no mid price. */
type HourSums = {
  readonly from: Millis;
  readonly price: Money | null;
  readonly net: Money;
  readonly spread: Money | null;
  readonly inventory: Money | null;
  readonly fees: Money;
  readonly hedging: Money;
};

/** Series from which both charts are made, each in order of time. */
type Series = {
  readonly hours: readonly HourSums[];
  /** Held base currency, here and on other exchanges, after each change. */
  readonly holdings: readonly { readonly at: Millis; readonly sum: Money }[];
  /** Trades of the bot's orders. */
  readonly trades: readonly Trade[];
  /** Number of trades that name no order of the bot: of manual orders, or booked by an older Puntas. */
  readonly unowned: number;
  /** Time from which single entries are known. */
  readonly entriesFrom: Millis;
};

/** Returns the long history; `null` if the ledger has no entry yet. */
export function longHistory(source: LongSource): LongHistory | null {
  const { run, names, ledger, changes } = source;
  const entries = sortedByTime(ledger.entries);
  const [first] = entries;
  if (first === undefined) return null;
  const moments = momentsOf(source);
  const at = Math.max(source.at, entries.at(-1)!.at, moments.at(-1)?.at ?? -Infinity);
  const opened = Math.min(moments[0]?.since ?? Infinity, moments[0]?.at ?? Infinity, first.at);
  const series = ledgerSeries(entries, names, hourSums(ledger.entries, names, moments));
  const isOpeningKnown = moments.length === 0 ? !isBroughtForward(first) : moments[0]!.since !== null;
  const openingRange = longRange(opened, at, series);
  const shown = changes.filter(change => change.at > opened && change.at <= at);
  return {
    ...{ run, at, isOpeningKnown, changes: shown.map(shownChange) },
    week: longRange(Math.max(opened, at - WEEK_MS), at, series),
    opening: isOpeningKnown ? withOpening(openingRange, opened, series) : openingRange,
    results: resultsOf(shown, moments, series, opened),
    missing: [
      ...(isOpeningKnown
        ? []
        : ['The time of the opening is not stored; charts and results start at the first stored figure.']),
      ...missingOf(source, moments, first, opened, series.unowned),
    ],
  };
}

/** Returns the stored profits in order of time: at the ends of hours, at the last checkpoint, and now. */
function momentsOf({ ledger: { hours, profit }, current }: LongSource): readonly Stored[] {
  const isStored = (each: ProfitSinceOpening | null): each is Stored => each !== null && each.at !== null;
  const moments: Stored[] = [];
  for (const each of [...hours, profit, current])
    if (isStored(each) && each.at > (moments.at(-1)?.at ?? -Infinity)) moments.push(each);
  return moments;
}

function ledgerSeries(entries: readonly LedgerEntry[], names: BookNames, hours: readonly HourSums[]): Series {
  const trades: Trade[] = [];
  const holdings: { at: Millis; sum: Money }[] = [];
  let [held, unowned] = [0n, 0];
  for (const entry of entries) {
    const { at, changes } = entry;
    const before = held;
    for (const { currency, amount } of changes)
      if (currency === names.major || currency.startsWith(`${names.major}@`)) held += amount;
    if (held !== before || holdings.length === 0) holdings.push({ at, sum: money(held) });
    if (!isOfBook(entry, names)) continue;
    const trade = bookedTrade(entry);
    if (trade === null) continue;
    if (trade.clientOrderId === null) {
      unowned++;
      continue;
    }
    const of = (currency: string) =>
      changes.reduce((sum, one) => (one.cause === 'trades' && one.currency === currency ? sum + one.amount : sum), 0n);
    trades.push({ at, base: money(of(names.major)), quote: money(of(names.minor)) });
  }
  const entriesFrom = isBroughtForward(entries[0]!) ? entries[0]!.at : -Infinity;
  return { hours, holdings, trades, unowned, entriesFrom };
}

/** Returns the sums at the end of each hour that has an entry or a stored profit. */
function hourSums(entries: readonly LedgerEntry[], names: BookNames, moments: readonly Stored[]): readonly HourSums[] {
  const byFills = wholePeriods(entries, names).hours;
  let [net, spread, inventory, fees, hedging] = [0n, 0n, 0n, 0n, 0n];
  return [...earnedBy('hour', byFills, moments, Infinity)].map(([from, sums]) => {
    net += sums.trading + sums.fees + sums.hedging;
    fees += sums.fees;
    hedging += sums.hedging;
    spread += sums.spread ?? 0n;
    inventory += sums.inventoryGain ?? 0n;
    return {
      ...{ from, price: sums.mark?.price ?? null, net: money(net), fees: money(fees), hedging: money(hedging) },
      spread: sums.spread === null ? null : money(spread),
      inventory: sums.inventoryGain === null ? null : money(inventory),
    };
  });
}

/** Returns the points of a time, with steps that start at whole hours or days UTC. */
function longRange(from: Millis, to: Millis, { hours, holdings, trades, entriesFrom }: Series): LongRange {
  const stepMs = stepFor(to - from);
  const points: (number | null)[][] = [];
  let [hour, holding, trade] = [0, 0, 0];
  for (let start = Math.floor(from / stepMs) * stepMs; start <= to; start += stepMs) {
    const end = Math.min(start + stepMs, to);
    while (hour < hours.length && hours[hour]!.from < start + stepMs) hour++;
    while (holding < holdings.length && holdings[holding]!.at <= end) holding++;
    const fills = { bought: { count: 0, base: 0n, quote: 0n }, sold: { count: 0, base: 0n, quote: 0n } };
    for (; trade < trades.length && trades[trade]!.at <= end; trade++) {
      const { at, base, quote } = trades[trade]!;
      if (at < start) continue;
      const side = base > 0n ? fills.bought : fills.sold;
      side.count++;
      side.base += base;
      side.quote += quote;
    }
    const sums = hours[hour - 1];
    const held = holdings[holding - 1];
    const { bought, sold } = fills;
    const isKnown = start >= entriesFrom;
    const price = ({ count, base, quote }: typeof bought) =>
      count === 0 || base === 0n ? null : -approximately(money(quote)) / approximately(money(base));
    points.push([
      ...[end, plotNumber(sums?.price), plotNumber(held?.sum)],
      ...[sums?.net, sums?.spread, sums?.inventory, sums?.fees, sums?.hedging].map(plotNumber),
      ...(isKnown ? [bought.count, price(bought), sold.count, price(sold)] : [null, null, null, null]),
    ]);
    if (end === to) break;
  }
  return { stepMs, points };
}

/** Returns the range with a first point at the opening, at which the profit is zero. */
function withOpening({ stepMs, points }: LongRange, opened: Millis, { holdings, entriesFrom }: Series): LongRange {
  const isKnown = opened >= entriesFrom;
  const held = isKnown && (holdings[0]?.at ?? Infinity) <= opened ? plotNumber(holdings[0]?.sum) : null;
  const fills = isKnown ? [0, null, 0, null] : [null, null, null, null];
  const first = [opened, null, held, 0, 0, 0, 0, 0, ...fills];
  return { stepMs, points: points[0]?.[0] === opened ? points : [first, ...points] };
}

const plotNumber = (sum: Money | null | undefined): number | null =>
  sum === null || sum === undefined ? null : approximately(sum);

/** Returns the shortest step with which a time has at most `POINTS_MAX` points. */
function stepFor(ms: Millis): Millis {
  const fits = (stepMs: Millis) => ms / stepMs + 3 <= POINTS_MAX;
  let stepMs = STEPS_MS.find(fits) ?? DAY_MS;
  while (!fits(stepMs)) stepMs *= 2;
  return stepMs;
}

/** Result with its standard error, with which the next result is compared. */
type Measured = { readonly result: ConfigResult; readonly error: number | null; readonly freedom: number };

/** Returns the results of each configuration, oldest first. */
function resultsOf(
  changes: readonly NotedChange[],
  moments: readonly Stored[],
  { trades, entriesFrom }: Series,
  opened: Millis,
): readonly ConfigResult[] {
  const starts = [null, ...changes].slice(-RESULTS_MAX);
  let before: Measured | null = null;
  return starts.map((change, i) => {
    const next = starts[i + 1] ?? null;
    const measured = measuredPart(change, next, moments, opened);
    const result = configResult(change, next, measured, { trades, entriesFrom, opened }, before);
    before = result;
    return result.result;
  });
}

/**
 * Returns the stored profits from a change to the next one, oldest first. Without a profit that was stored at a change,
 * the part starts, or ends, at the nearest end of an hour within it.
 */
function measuredPart(
  change: NotedChange | null,
  next: NotedChange | null,
  moments: readonly Stored[],
  opened: Millis,
): readonly Stored[] {
  const [from, to] = [change?.at ?? opened, next?.at ?? Infinity];
  const start = change === null ? openingOf(moments) : storedAt(change);
  const end = next === null ? null : storedAt(next);
  const inside = moments.filter(
    ({ at }) => at > Math.max(from, start?.at ?? -Infinity) && at < Math.min(to, end?.at ?? Infinity),
  );
  return [...(start === null ? [] : [start]), ...inside, ...(end === null ? [] : [end])];
}

/** Returns the profit that was stored at a change; `null` if there was none. */
const storedAt = ({ profit }: NotedChange): Stored | null =>
  profit === null || profit.at === null ? null : { ...profit, at: profit.at };

/**
 * Returns the profit at the opening, which is zero; `null` if the time of the opening, or the profit in the hours after
 * it, was not stored.
 */
function openingOf([first]: readonly Stored[]): Stored | null {
  const since = first?.since ?? null;
  if (first === undefined || since === null || first.at - since > 2 * HOUR_MS) return null;
  return { since, at: since, twiceMid: null, profit: NO_PROFIT };
}

function configResult(
  change: NotedChange | null,
  next: NotedChange | null,
  measured: readonly Stored[],
  { trades, entriesFrom, opened }: Pick<Series, 'trades' | 'entriesFrom'> & { readonly opened: Millis },
  before: Measured | null,
): Measured {
  const [first, last] = [measured[0], measured.at(-1)];
  const named = { change: change && shownChange(change), from: change?.at ?? opened, to: next?.at ?? null };
  if (first === undefined || last === undefined || first === last)
    return { result: { ...named, ...UNMEASURED }, error: null, freedom: 0 };
  const net = money(last.profit.total - first.profit.total);
  const own = first.at >= entriesFrom ? trades.filter(({ at }) => at > first.at && at <= last.at) : null;
  const volume = own === null ? null : money(own.reduce((sum, { quote }) => sum + (quote < 0n ? -quote : quote), 0n));
  const { hours, perHour, stopped, error, freedom } = hourlyRate(measured);
  const half = error === null ? null : studentQuantile(TWO_SIDED, freedom) * error;
  const result: ConfigResult = {
    ...named,
    ...{
      hours,
      net: textOfMoney(net),
      stopped: textOfMoney(stopped),
      fills: own === null ? null : own.length,
      volume: volume === null ? null : textOfMoney(volume),
      perHour,
    },
    interval: perHour === null || half === null ? null : { low: perHour - half, high: perHour + half },
    perVolumeBps:
      volume === null || volume === 0n ? null : (10_000 * approximately(money(net - stopped))) / approximately(volume),
    difference: null,
  };
  const now = { result, error, freedom };
  return { ...now, result: { ...result, difference: differenceOf(before, now) } };
}

const UNMEASURED = {
  ...{
    hours: null,
    net: null,
    stopped: null,
    fills: null,
    volume: null,
    perHour: null,
    interval: null,
    perVolumeBps: null,
  },
  difference: null,
};

/**
 * Returns the hours with a stored profit, the profit per hour, and its standard error. Days count as independent, or
 * hours if there are too few days. Between two stored profits, at most an hour counts, because the bot was otherwise
 * stopped. `stopped` is the gain of inventory over such stops, which the rate does not contain.
 */
function hourlyRate(measured: readonly Stored[]) {
  const [byHour, byDay] = [new ClusteredMean(), new ClusteredMean()];
  let [hours, stopped] = [0, 0n];
  for (let i = 1; i < measured.length; i++) {
    const [before, after] = [measured[i - 1]!, measured[i]!];
    const own = Math.min(after.at - before.at, HOUR_MS) / HOUR_MS;
    const held = after.at - before.at > STOP_MS ? after.profit.inventory - before.profit.inventory : 0n;
    const gain = approximately(money(after.profit.total - before.profit.total - held));
    hours += own;
    stopped += held;
    if (own <= 0) continue;
    byHour.add(gain / own, own, Math.floor((after.at - 1) / HOUR_MS));
    byDay.add(gain / own, own, Math.floor((after.at - 1) / DAY_MS));
  }
  const mean = byDay.effective() >= CLUSTERS_MIN ? byDay : byHour;
  const clusters = mean.effective();
  const error = clusters >= CLUSTERS_MIN ? mean.error() : null;
  return { hours, perHour: hours > 0 ? mean.mean() : null, stopped: money(stopped), error, freedom: clusters - 1 };
}

function differenceOf(before: Measured | null, now: Measured): ConfigResult['difference'] {
  const [earlier, later] = [before?.result.perHour ?? null, now.result.perHour];
  if (before === null || earlier === null || later === null || before.error === null || now.error === null) return null;
  const value = later - earlier;
  const half = studentQuantile(TWO_SIDED, Math.min(before.freedom, now.freedom)) * Math.hypot(before.error, now.error);
  return { value, low: value - half, high: value + half };
}

/** Returns sentences about what is not stored. */
function missingOf(
  { recordedFrom, current, names, otherBooks, changes }: LongSource,
  moments: readonly Stored[],
  first: LedgerEntry,
  opened: Millis,
  unowned: number,
): readonly string[] {
  const minute = (at: Millis) => timeText(at).slice(0, 16).replace('T', ' ');
  const [oldest] = moments;
  const isLate = oldest === undefined || hourOf(oldest.at) > hourOf(opened);
  return [
    ...(changes.length >= CHANGES_MAX ? [`Only the newest ${CHANGES_MAX} changes are known.`] : []),
    ...(changes.length >= RESULTS_MAX ? [`Only the newest ${RESULTS_MAX} results are listed.`] : []),
    ...(otherBooks.length > 0 ? [`All of this is for ${names.book}, without ${otherBooks.join(', ')}.`] : []),
    ...(unowned > 0
      ? [
          `Fills and volume do not count ${counted(unowned, 'trade')} without a known order of the bot, such as manual trades.`,
        ]
      : []),
    ...(isBroughtForward(first)
      ? [`The ledger has one sum of all entries before ${minute(first.at)}: earlier fills and holdings are unknown.`]
      : []),
    ...(oldest === undefined
      ? ['No profit is stored yet.']
      : isLate
        ? [`Profit by hour is stored from ${minute(oldest.at)}; before, it is valued at the last fill.`]
        : []),
    ...(recordedFrom !== null && hourOf(recordedFrom) > hourOf(opened)
      ? [`Recordings before ${minute(recordedFrom)} were removed: earlier changes are those in the log of reloads.`]
      : []),
    ...(current === null
      ? [`The current profit of ${names.book} is unknown; the charts end at the last stored one.`]
      : []),
  ];
}
